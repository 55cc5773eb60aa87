/**
 * pi's session directories: one per working directory, in the agent directory. Names are ambiguous
 * (`/a/b-c` and `/a-b/c` share one); only the header holds the working directory.
 */
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import {
  directoryFailed,
  makeDurableDirectory,
  nodeFileSystem,
  expandPath,
  resolvePath,
} from "@branchlog/core/files";
import type { FileSystem } from "@branchlog/core/types";

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

/** On Windows, case does not matter. */
export function isSamePath(left: string, right: string): boolean {
  return comparisonKey(left) === comparisonKey(right);
}

function comparisonKey(path: string): string {
  const resolved = resolve(path);
  return process.platform === "win32" ? resolved.toLowerCase() : resolved;
}
