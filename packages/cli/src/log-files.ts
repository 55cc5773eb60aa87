/**
 * The files named like logs below a directory: also those that no list has, as their headers are
 * damaged. Links are followed; each directory is read once, so that cycles end.
 */
import type { Dirent } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { BranchlogError } from "@branchlog/core";

export type LogPlace =
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "unreadable"; readonly path: string; readonly error: BranchlogError };

/** In the order of their names; directories that cannot be read included. */
export async function* logFilesBelow(root: string): AsyncGenerator<LogPlace> {
  const seen = new Set<string>();
  const open = [root];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const identity = await directoryIdentity(path);
    if (identity === undefined) {
      if (path.endsWith(".jsonl")) yield { kind: "file", path };
      continue;
    }
    if (seen.has(identity)) continue;
    seen.add(identity);
    try {
      const places = await readdir(path, { withFileTypes: true });
      const names = places.filter((place) => isCandidate(place)).map(({ name }) => name);
      for (const name of names.toSorted().toReversed()) open.push(join(path, name));
    } catch (cause) {
      yield { kind: "unreadable", path, error: unreadable(path, cause) };
    }
  }
}

function isCandidate(place: Dirent): boolean {
  return place.isDirectory() || place.isSymbolicLink() || place.name.endsWith(".jsonl");
}

/** Undefined for everything but a directory, also if it cannot be reached. */
async function directoryIdentity(path: string): Promise<string | undefined> {
  try {
    const facts = await stat(path, { bigint: true });
    return facts.isDirectory() ? `${facts.dev}:${facts.ino}` : undefined;
  } catch {
    return undefined;
  }
}

function unreadable(path: string, cause: unknown): BranchlogError {
  const message = `The directory cannot be read (${String(cause)}). Check its permissions.`;
  return new BranchlogError("ERR_LOG_UNREADABLE", message, { path, cause });
}
