/** The files next to a session: derived files are deleted with it, other files stay. */
import { readdirSync, unlinkSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { checkpointPath, hashedName, isLiveProcess, lockStaleMs } from "@branchlog/core/files";

export interface Sidecars {
  readonly removed: readonly string[];
  /** Originals of migrations and repairs, what repairs took out, and directories of artifacts. */
  readonly kept: readonly string[];
}

const removedForms = /^\.(?:ckpt(?:\.[0-9a-f-]{36}\.tmp)?|[0-9a-f-]{36}\.tmp)$/;
const keptForms = /^\.(?:v[12]-original|before-repair|salvage)(?:-\d+)?$/;

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

export function removeFiles(paths: readonly string[]): string[] {
  return paths.filter((path) => {
    try {
      unlinkSync(path);
      return true;
    } catch {
      // It was missing, or stays: nothing reads it without its session.
      return false;
    }
  });
}

/**
 * The lock that omp holds, or undefined. A fresh lock counts even if its process is unknown here.
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
    return false;
  }
}
