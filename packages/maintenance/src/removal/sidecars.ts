/**
 * The sidecars of a session file: what is deleted with it, because it is derived or was left behind
 * by a crash, and what stays, because its user may want it back. Nothing is opened.
 */
import { readdirSync, unlinkSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { checkpointPath, hashedName, isLiveProcess, lockStaleMs } from "@branchlog/core/internal";

/** Paths of the files beside a session. */
export interface Sidecars {
  /** Checkpoints, and files in the making. */
  readonly removed: readonly string[];
  /** Originals of migrations and repairs, what repairs took out, and directories of artifacts. */
  readonly kept: readonly string[];
}

const removedForms = /^\.(?:ckpt(?:\.[0-9a-f-]{36}\.tmp)?|[0-9a-f-]{36}\.tmp)$/;
const keptForms = /^\.(?:v[12]-original|before-repair|salvage)(?:-\d+)?$/;

/** The sidecars of a session file. Throws what reading its directory throws. */
export function sidecarsOf(path: string, checkpointDir: string | undefined): Sidecars {
  const [directory, name] = [dirname(path), basename(path)];
  const removed: string[] =
    checkpointDir === undefined ? [] : [checkpointPath(path, checkpointDir)];
  const kept: string[] = [];
  const artifacts = name.replace(/\.jsonl$/, "");
  const stems = [name, hashedName(name), hashedName(`${name}.ckpt`)];
  for (const place of readdirSync(directory, { withFileTypes: true })) {
    const stem = stems.find((beginning) => place.name.startsWith(beginning)) ?? place.name;
    const ending = place.name.slice(stem.length);
    if (place.isFile() && removedForms.test(ending)) removed.push(join(directory, place.name));
    const isArtifacts = place.isDirectory() && place.name === artifacts && artifacts !== name;
    if (isArtifacts || keptForms.test(ending)) kept.push(join(directory, place.name));
  }
  return { removed, kept };
}

/** Removes files that may be gone already; returns those that were there. Throws nothing. */
export function removeFiles(paths: readonly string[]): string[] {
  return paths.filter((path) => {
    try {
      unlinkSync(path);
      return true;
    } catch {
      // It was gone, or stays: nothing reads it without its session.
      return false;
    }
  });
}

/**
 * The lock that omp holds on a session file, or undefined. One of a process that is gone does not
 * count, unless it was written a moment ago: the process may run in another container.
 */
export function heldByOmp(path: string, nowMs: number): string | undefined {
  const [directory, name] = [dirname(path), basename(path)];
  const locks = [join(directory, `.${name}.lock`), `${path}.lock`];
  return locks.find((lock) => isHeld(lock, nowMs));
}

function isHeld(lock: string, nowMs: number): boolean {
  try {
    const stats = statSync(lock);
    if (!stats.isFile()) return false;
    if (nowMs - stats.mtimeMs < lockStaleMs) return true;
    const pid = /^\d+/.exec(readFileSync(lock, "latin1"))?.[0];
    return pid !== undefined && isLiveProcess(Number(pid));
  } catch {
    // It is gone, or says nothing.
    return false;
  }
}
