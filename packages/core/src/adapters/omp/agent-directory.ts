/**
 * Where omp keeps its sessions: the agent directory, in it one directory for each working
 * directory, under names that changed with its versions. Read anew on each call.
 */
import { existsSync, realpathSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { expandPath } from "../pi/local-path.ts";
import { sessionDirectoryName, sessionDirectoryNames } from "./session-directory-names.ts";

/**
 * The directory of a named profile (`OMP_PROFILE`, else `PI_PROFILE`); else `PI_CODING_AGENT_DIR`
 * with its tilde expanded; else `~/.omp/agent`, or what `PI_CONFIG_DIR` names in place of `.omp`.
 */
export function getAgentDir(): string {
  const root = join(homedir(), set("PI_CONFIG_DIR") ?? ".omp");
  const profile = set("OMP_PROFILE") ?? set("PI_PROFILE");
  if (profile !== undefined) return join(root, "profiles", basename(profile), "agent");
  const configured = set("PI_CODING_AGENT_DIR");
  return configured === undefined ? join(root, "agent") : expandPath(configured);
}

/**
 * The directory whose sub-directories hold the sessions: `sessions` in the agent directory, or in
 * `omp` below `XDG_DATA_HOME` if that exists and the agent directory is the usual one.
 */
export function sessionsRoot(): string {
  const data = set("XDG_DATA_HOME");
  const isUsual = getAgentDir() === join(homedir(), ".omp", "agent");
  const shared = data === undefined ? undefined : join(expandPath(data), "omp");
  const isShared = isUsual && shared !== undefined && existsSync(shared);
  return join(isShared ? shared : getAgentDir(), "sessions");
}

/** The directory for new sessions of `cwd`, whether it exists or not. */
export function getDefaultSessionDir(cwd: string): string {
  return join(sessionsRoot(), sessionDirectoryName(cwd));
}

/** All directories that may hold sessions of `cwd`, that for new ones first. */
export function sessionDirsOf(cwd: string): string[] {
  const sources = {
    realCwd: realPath(cwd),
    home: realPath(homedir()),
    temporary: realPath(tmpdir()),
  };
  return sessionDirectoryNames(cwd, sources).map((name) => join(sessionsRoot(), name));
}

/** Where the images of sessions are kept: beside the directories of sessions. */
export function getBlobsDir(): string {
  return join(dirname(sessionsRoot()), "blobs");
}

function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}

function set(name: string): string | undefined {
  const value = process.env[name];
  return value === undefined || value === "" ? undefined : value;
}
