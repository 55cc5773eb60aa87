/**
 * The shared input under a name of its own in the scratch directory, so that a checkpoint or a
 * catalog that a subject leaves beside it goes with the run, and none of an earlier run is found.
 * Only for subjects that do not change the log: it is a hard link wherever one is possible.
 */
import { copyFileSync, linkSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { CaseInput } from "./bench-case.ts";

/** The session; its time of change (ctime) is that of the link. Throws if it is there already. */
export function ownLog({ path, scratch }: CaseInput): string {
  const own = join(scratch, "session.jsonl");
  link(path, own);
  return own;
}

/** The directory of sessions, without what earlier lists left in it. */
export function ownDirectory({ path, scratch }: CaseInput): string {
  const own = join(scratch, "sessions");
  mkdirSync(own);
  for (const file of readdirSync(path)) {
    if (file.endsWith(".jsonl")) link(join(path, file), join(own, file));
  }
  return own;
}

function link(path: string, own: string): void {
  try {
    linkSync(path, own);
  } catch {
    // On another volume, or where there are no links.
    copyFileSync(path, own);
  }
}
