/**
 * omp's session directories: one per working directory, under names that changed with its versions.
 * Read on each call.
 */
import { createHash } from "node:crypto";
import { existsSync, realpathSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { basename, dirname, isAbsolute, join, relative, sep } from "node:path";
import { expandPath } from "@branchlog/core/files";

/**
 * The directory of a named profile (`OMP_PROFILE`, else `PI_PROFILE`); else `PI_CODING_AGENT_DIR`
 * with its tilde expanded; else `~/.omp/agent`, with `PI_CONFIG_DIR` in place of `.omp`.
 */
export function getAgentDir(): string {
  const root = join(homedir(), set("PI_CONFIG_DIR") ?? ".omp");
  const profile = set("OMP_PROFILE") ?? set("PI_PROFILE");
  if (profile !== undefined) return join(root, "profiles", basename(profile), "agent");
  const configured = set("PI_CODING_AGENT_DIR");
  return configured === undefined ? join(root, "agent") : expandPath(configured);
}

/**
 * `sessions` in the agent directory; in `omp` below `XDG_DATA_HOME` if that exists and the agent
 * directory is the default.
 */
export function sessionsRoot(): string {
  const data = set("XDG_DATA_HOME");
  const isUsual = getAgentDir() === join(homedir(), ".omp", "agent");
  const shared = data === undefined ? undefined : join(expandPath(data), "omp");
  const isShared = isUsual && shared !== undefined && existsSync(shared);
  return join(isShared ? shared : getAgentDir(), "sessions");
}

/** Creates nothing. */
export function getDefaultSessionDir(cwd: string, agentDir?: string): string {
  const root = agentDir === undefined ? sessionsRoot() : join(expandPath(agentDir), "sessions");
  return join(root, sessionDirectoryName(cwd));
}

/** The first is for new sessions. */
export function sessionDirsOf(cwd: string): string[] {
  const names = sessionDirectoryNames(cwd, sourcesOf(cwd));
  return names.map((name) => join(sessionsRoot(), name));
}

function sourcesOf(cwd: string): DirectoryNameSources {
  return { realCwd: realPath(cwd), home: realPath(homedir()), temporary: realPath(tmpdir()) };
}

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

// Names are ambiguous; only the header of a session holds its working directory.

interface DirectoryNameSources {
  /** Symbolic links resolved; the working directory itself if it does not exist. */
  readonly realCwd: string;
  readonly home: string;
  readonly temporary: string;
}

const basenameLengthMax = 80;

function sessionDirectoryName(cwd: string): string {
  return `--${dashed(cwd.replace(/^[/\\]/, ""))}--`;
}

/** The first is for new sessions. */
export function sessionDirectoryNames(cwd: string, sources: DirectoryNameSources): string[] {
  const names = namesByScheme(cwd, sources).filter((name) => name !== undefined);
  return [...new Set(names)];
}

/** One for each way in which versions of omp named them, if it has one for this directory. */
function namesByScheme(
  cwd: string,
  { realCwd, home, temporary }: DirectoryNameSources,
): readonly (string | undefined)[] {
  const inHome = pathBelow(home, realCwd);
  const inTemporary = pathBelow(temporary, realCwd);
  return [
    sessionDirectoryName(cwd),
    sessionDirectoryName(realCwd),
    inHome === undefined ? undefined : inHome === "" ? "-" : `-${dashed(inHome)}`,
    inTemporary === undefined ? undefined : ["-tmp", dashed(inTemporary)].filter(Boolean).join("-"),
    hashedName(realCwd, inHome, inTemporary),
  ];
}

/**
 * The name of a directory of sessions once their working directory is another, by the scheme of
 * its name, also pi's; undefined if the name comes from no scheme.
 */
export function renamedSessionDirectory(
  name: string,
  from: string,
  to: string,
): string | undefined {
  const names = namesByScheme(to, sourcesOf(to));
  const at = namesByScheme(from, sourcesOf(from)).indexOf(name);
  return at === -1 ? undefined : (names[at] ?? names[0]);
}

/** As some versions of omp named them: location, last part and checksum. */
function hashedName(
  realCwd: string,
  inHome: string | undefined,
  inTemporary: string | undefined,
): string {
  const elsewhere = inTemporary === undefined ? "abs" : "tmp";
  const place = inHome === undefined ? elsewhere : "home";
  const last = basename(realCwd).replaceAll(/[^A-Za-z0-9._-]/g, "-");
  const hash = createHash("sha256").update(realCwd).digest("hex");
  return `${place}-${last.slice(-basenameLengthMax)}-${hash}`;
}

/** Undefined for a path that is not below. */
function pathBelow(directory: string, path: string): string | undefined {
  const way = relative(directory, path);
  const isOutside = way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way);
  return isOutside ? undefined : way;
}

function dashed(path: string): string {
  return path.replaceAll(/[/\\:]/g, "-");
}
