/**
 * Where pi keeps its sessions: the agent directory, in it one directory per working directory. The
 * name of that directory is made from the path and loses information, `/a/b-c` and `/a-b/c` share
 * one; whose a session is, only its header says (session-scope.ts).
 */
import { homedir } from "node:os";
import { join } from "node:path";
import { directoryFailed } from "../../store/creation-errors.ts";
import { makeDurableDirectory } from "../../store/durable-directory.ts";
import { nodeFileSystem } from "../../store/node-file-system.ts";
import type { FileSystem } from "../../store/ports.ts";
import { expandPath, isSamePath, resolvePath } from "./local-path.ts";

/** `PI_CODING_AGENT_DIR` with its tilde expanded, else `~/.pi/agent`. Read anew on each call. */
export function getAgentDir(): string {
  const configured = process.env["PI_CODING_AGENT_DIR"];
  return configured ? expandPath(configured) : join(homedir(), ".pi", "agent");
}

/** The directory whose sub-directories hold the sessions of all working directories. */
export function sessionsRoot(agentDir: string = getAgentDir()): string {
  return join(resolvePath(agentDir), "sessions");
}

/** The default directory for the sessions of `cwd`, whether it exists or not. */
export function defaultSessionDirPath(cwd: string, agentDir: string = getAgentDir()): string {
  const encoded = resolvePath(cwd)
    .replace(/^[/\\]/, "")
    .replaceAll(/[/\\:]/g, "-");
  return join(sessionsRoot(agentDir), `--${encoded}--`);
}

/**
 * The default directory for the sessions of `cwd`, created (0700) if it is missing.
 * @throws BranchlogError `ERR_CREATE_FAILED`.
 */
export function getDefaultSessionDir(cwd: string, agentDir: string = getAgentDir()): string {
  const directory = defaultSessionDirPath(cwd, agentDir);
  makeSessionDirectory(nodeFileSystem, directory);
  return directory;
}

/**
 * Makes a directory for sessions, if it is missing.
 * @throws BranchlogError `ERR_CREATE_FAILED`.
 */
export function makeSessionDirectory(fs: FileSystem, directory: string): void {
  try {
    makeDurableDirectory(fs, directory);
  } catch (error) {
    throw directoryFailed(directory, error);
  }
}

/** The given directory, its tilde expanded, else the default one. Creates nothing. */
export function resolveSessionDir(cwd: string, sessionDir?: string): string {
  return sessionDir ? expandPath(sessionDir) : defaultSessionDirPath(cwd);
}

/** Whether `directory` is where the sessions of `cwd` are kept by default. */
export function isDefaultSessionDir(directory: string, cwd: string): boolean {
  return isSamePath(directory, defaultSessionDirPath(cwd));
}
