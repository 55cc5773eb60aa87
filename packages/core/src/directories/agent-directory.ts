/**
 * pi's session directories: one per working directory, in the agent directory. Names are ambiguous
 * (`/a/b-c` and `/a-b/c` share one); only the header holds the working directory.
 */
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { BranchlogError } from "../errors.ts";
import { directoryFailed, makeDurableDirectory } from "../store/atomic-file.ts";
import { nodeFileSystem } from "../store/node-file-system.ts";
import type { FileSystem } from "../store/ports.ts";

/** `PI_CODING_AGENT_DIR` with its tilde expanded, else `~/.pi/agent`. Read on each call. */
export function getAgentDir(): string {
  const configured = process.env["PI_CODING_AGENT_DIR"];
  return configured ? expandPath(configured) : join(homedir(), ".pi", "agent");
}

export function sessionsRoot(agentDir: string = getAgentDir()): string {
  return join(resolvePath(agentDir), "sessions");
}

/** The directory need not exist. */
export function defaultSessionDirPath(cwd: string, agentDir: string = getAgentDir()): string {
  const encoded = resolvePath(cwd)
    .replace(/^[/\\]/, "")
    .replaceAll(/[/\\:]/g, "-");
  return join(sessionsRoot(agentDir), `--${encoded}--`);
}

/**
 * Creates the default directory of `cwd` (0700) if missing.
 *
 * @throws BranchlogError `ERR_CREATE_FAILED`.
 */
export function getDefaultSessionDir(cwd: string, agentDir: string = getAgentDir()): string {
  const directory = defaultSessionDirPath(cwd, agentDir);
  makeSessionDirectory(nodeFileSystem, directory);
  return directory;
}

/** @throws BranchlogError `ERR_CREATE_FAILED`. */
export function makeSessionDirectory(fs: FileSystem, directory: string): void {
  try {
    makeDurableDirectory(fs, directory);
  } catch (error) {
    throw directoryFailed(directory, error);
  }
}

/** Creates nothing. */
export function resolveSessionDir(cwd: string, sessionDir?: string): string {
  return sessionDir ? expandPath(sessionDir) : defaultSessionDirPath(cwd);
}

export function isDefaultSessionDir(directory: string, cwd: string): boolean {
  return isSamePath(directory, defaultSessionDirPath(cwd));
}

// Paths as pi's users and files write them: with a tilde, as `file:` URLs, relative, or with drives
// of Git Bash, WSL and Cygwin. Symbolic links are not resolved.

const shellDrive = /^\/(?:mnt\/|cygdrive\/)?([a-z])(?:\/(.*))?$/i;

/**
 * Expands a tilde, a `file:` URL and a drive. A relative path stays relative.
 *
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
    const message = `${url} names no file of this machine. Give a path, or file:///path.`;
    throw new BranchlogError("ERR_INVALID_ARGUMENT", message, { cause });
  }
}

/**
 * Absolute, without `.`, `..` and trailing separators.
 *
 * @throws BranchlogError `ERR_INVALID_ARGUMENT` for a `file:` URL without a local path.
 */
export function resolvePath(input: string): string {
  const path = expandPath(input);
  return isAbsolute(path) ? resolve(path) : resolve(process.cwd(), path);
}

/** On Windows, case does not matter. */
export function isSamePath(left: string, right: string): boolean {
  return comparisonKey(left) === comparisonKey(right);
}

function comparisonKey(path: string): string {
  const resolved = resolve(path);
  return process.platform === "win32" ? resolved.toLowerCase() : resolved;
}

/** `/c/work`, `/mnt/c/work` and `/cygdrive/c/work` become `C:\work`. */
export function nativeDrivePath(path: string): string {
  if (path.startsWith("//") || path.includes("\\")) return path;
  const [, drive, rest = ""] = shellDrive.exec(path) ?? [];
  return drive === undefined ? path : `${drive.toUpperCase()}:\\${rest.replaceAll("/", "\\")}`;
}
