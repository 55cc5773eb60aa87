/**
 * The sidecars of a session file: what is deleted with it, because it is derived or was left behind
 * by a crash, and what stays, because its user may want it back. Nothing is opened.
 */
import { readdirSync, unlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { checkpointPath, hashedName } from "@branchlog/core/internal";

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
