/**
 * The names that omp gives the directories of a working directory, in the past and now. Each loses
 * information, so that two working directories may share one: whose a session is, only its header
 * says. Pure.
 */
import { createHash } from "node:crypto";
import { basename, isAbsolute, relative, sep } from "node:path";

/** What the names are made from, beside the working directory itself. */
export interface DirectoryNameSources {
  /** The working directory with symbolic links resolved; the same again if it does not exist. */
  readonly realCwd: string;
  readonly home: string;
  readonly temporary: string;
}

const basenameLengthMax = 80;

/** The name under which new sessions are kept: the path, its separators replaced, in dashes. */
export function sessionDirectoryName(cwd: string): string {
  return `--${dashed(cwd.replace(/^[/\\]/, ""))}--`;
}

/** All names that sessions of a working directory may stand under, the first for new ones. */
export function sessionDirectoryNames(cwd: string, sources: DirectoryNameSources): string[] {
  const { realCwd, home, temporary } = sources;
  const inHome = pathBelow(home, realCwd);
  const inTemporary = pathBelow(temporary, realCwd);
  const names = [sessionDirectoryName(cwd), sessionDirectoryName(realCwd)];
  if (inHome !== undefined) names.push(inHome === "" ? "-" : `-${dashed(inHome)}`);
  if (inTemporary !== undefined) {
    names.push(inTemporary === "" ? "-tmp" : `-tmp-${dashed(inTemporary)}`);
  }
  names.push(hashedName(realCwd, inHome, inTemporary));
  return [...new Set(names)];
}

/** As some versions of omp named them: by place, last part and checksum. */
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

/** The way from a directory down to another; undefined if that is not below it. */
function pathBelow(directory: string, path: string): string | undefined {
  const way = relative(directory, path);
  const isOutside = way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way);
  return isOutside ? undefined : way;
}

function dashed(path: string): string {
  return path.replaceAll(/[/\\:]/g, "-");
}
