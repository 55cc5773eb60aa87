/**
 * Paths as users, settings and files write them: with a tilde, as `file:` URLs, relative, or with
 * drives of Git Bash, WSL and Cygwin. Symbolic links are not resolved.
 */
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { BranchlogError } from "../errors.ts";

const shellDrive = /^\/(?:mnt\/|cygdrive\/)?([a-z])(?:\/(.*))?$/i;

/**
 * Expands a tilde, a `file:` URL and a drive. A relative path stays relative.
 * @throws BranchlogError `ERR_INVALID_ARGUMENT` for a `file:` URL without a local path.
 */
export function expandPath(input: string): string {
  const isWindows = process.platform === "win32";
  const path = isWindows ? nativeDrivePath(input) : input;
  if (path === "~") return homedir();
  if (path.startsWith("~/") || (isWindows && path.startsWith("~\\"))) {
    return join(homedir(), path.slice(2));
  }
  return path.startsWith("file://") ? pathOfUrl(path) : path;
}

function pathOfUrl(url: string): string {
  try {
    return fileURLToPath(url);
  } catch (cause) {
    const message = `${url} is not a file on this machine. Give a path, or file:///path.`;
    throw new BranchlogError("ERR_INVALID_ARGUMENT", message, { cause });
  }
}

/**
 * Absolute, without `.`, `..` and trailing separators.
 * @throws BranchlogError `ERR_INVALID_ARGUMENT` for a `file:` URL without a local path.
 */
export function resolvePath(input: string): string {
  const path = expandPath(input);
  return isAbsolute(path) ? resolve(path) : resolve(process.cwd(), path);
}

/** `/c/work`, `/mnt/c/work` and `/cygdrive/c/work` become `C:\work`. */
export function nativeDrivePath(path: string): string {
  if (path.startsWith("//") || path.includes("\\")) return path;
  const [, drive, rest = ""] = shellDrive.exec(path) ?? [];
  return drive === undefined ? path : `${drive.toUpperCase()}:\\${rest.replaceAll("/", "\\")}`;
}
