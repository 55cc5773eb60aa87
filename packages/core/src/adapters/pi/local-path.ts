/**
 * Paths as users and files of pi write them: with a tilde, as `file:` URLs, relative, and on
 * Windows as Git Bash, WSL and Cygwin spell drives. Pure but for the home directory and the working
 * directory; nothing is looked up on disk, so symbolic links stay as they are.
 */
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { BranchlogError } from "../../errors.ts";

const shellDrive = /^\/(?:mnt\/|cygdrive\/)?([a-z])(?:\/(.*))?$/i;

/**
 * A path with its tilde expanded, a `file:` URL and a drive of a Windows shell turned into a path.
 * A relative path stays relative.
 * @throws BranchlogError `ERR_INVALID_ARGUMENT` for a `file:` URL that names no local path.
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
    const message = `${url} names no file of this machine. Give a path, or file:///path.`;
    throw new BranchlogError("ERR_INVALID_ARGUMENT", message, { cause });
  }
}

/**
 * The absolute path without `.`, `..` and trailing separators; a relative one starts at the working
 * directory of the process.
 * @throws BranchlogError `ERR_INVALID_ARGUMENT` for a `file:` URL that names no local path.
 */
export function resolvePath(input: string): string {
  const path = expandPath(input);
  return isAbsolute(path) ? resolve(path) : resolve(process.cwd(), path);
}

/** Whether two paths name the same place. On Windows, case does not matter. */
export function isSamePath(left: string, right: string): boolean {
  return comparisonKey(left) === comparisonKey(right);
}

function comparisonKey(path: string): string {
  const resolved = resolve(path);
  return process.platform === "win32" ? resolved.toLowerCase() : resolved;
}

/** `/c/work`, `/mnt/c/work` and `/cygdrive/c/work` as `C:\work`; any other path as it is. */
export function nativeDrivePath(path: string): string {
  if (path.startsWith("//") || path.includes("\\")) return path;
  const [, drive, rest = ""] = shellDrive.exec(path) ?? [];
  return drive === undefined ? path : `${drive.toUpperCase()}:\\${rest.replaceAll("/", "\\")}`;
}
