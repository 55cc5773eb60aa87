/**
 * Which repository a working directory is a worktree of: by the `.git` file there, or, once it was
 * removed, by where agents make worktrees. Reads such files only.
 */
import { registeredAgents } from "@branchlog/core/rows";
import { readFileSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

/** The text of `.git` in a directory; null if that is a directory; undefined if it is missing. */
export type GitFileReader = (directory: string) => string | null | undefined;

const gitFile = /^gitdir: (.+?)(?:[\\/]\.git)?[\\/]worktrees[\\/][^\\/]+\s*$/;

/**
 * Of each of these directories the one that it stands for: itself, or the same directory of the
 * repository. Where a removed worktree has only a name, that is the only other one with that name.
 */
export function projectsOf(
  directories: Iterable<string>,
  readGitFile: GitFileReader = gitFileIn,
): ReadonlyMap<string, string> {
  const all = [...new Set(directories)];
  const projects = new Map(all.map((cwd) => [cwd, placeOf(cwd, readGitFile) ?? cwd]));
  const own = new Set([...projects.values()].filter((cwd) => named(cwd) === undefined));
  for (const [cwd, project] of projects) {
    const { name, below } = named(project) ?? {};
    const [repository, ...others] = [...own].filter((one) => basename(one) === name);
    if (repository !== undefined && others.length === 0) projects.set(cwd, `${repository}${below}`);
  }
  return projects;
}

function placeOf(cwd: string, readGitFile: GitFileReader): string | undefined {
  const byAgents = worktreesAt(cwd).map(({ of, below }) =>
    typeof of === "string" ? of + below : undefined,
  );
  return byGitFile(cwd, readGitFile) ?? byAgents.find((place) => place !== undefined);
}

function named(cwd: string): { readonly name: string; readonly below: string } | undefined {
  for (const { of, below } of worktreesAt(cwd)) {
    if (typeof of === "object") return { name: of.name, below };
  }
  return undefined;
}

function worktreesAt(cwd: string) {
  return registeredAgents().flatMap((agent) => agent.worktree?.(cwd) ?? []);
}

/** By the first `.git` at the directory or above; a submodule has such a file, too. */
function byGitFile(cwd: string, readGitFile: GitFileReader): string | undefined {
  for (let at = cwd; at !== "" && at !== dirname(at); at = dirname(at)) {
    const text = readGitFile(at);
    if (text === undefined) continue;
    const [, repository] = gitFile.exec(text ?? "") ?? [];
    return repository && resolve(at, repository) + cwd.slice(at.length);
  }
  return undefined;
}

/** Longer ones are not git's. */
const gitFileBytesMax = 4096;

function gitFileIn(directory: string): string | null | undefined {
  try {
    const path = join(directory, ".git");
    const { size } = statSync(path);
    return size > gitFileBytesMax ? null : readFileSync(path, "utf8");
  } catch (error) {
    const isDirectory = error instanceof Error && "code" in error && error.code === "EISDIR";
    return isDirectory ? null : undefined;
  }
}
