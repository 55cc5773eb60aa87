/** The versions of pi that the drop-in is compared with, and what each does otherwise. */
import { join } from "node:path";
import {
  builtFace,
  newerNode,
  newestPiPackage,
  newestPiVersion,
  oldPiPackage,
  oldPiVersion,
  piPackage,
  piVersion,
} from "../support/install.ts";
import { sessionModule } from "../support/pi-program.ts";
import { Implementation } from "./implementation.ts";
import type { Tolerated } from "./tolerated.ts";

/** See the file comment. */
export interface Reference {
  readonly version: string;
  readonly packageFolder: () => string;
  /** Whether it knows system messages, usage entries and context edits, and takes odd content. */
  readonly isNewest: boolean;
  readonly tolerated: readonly Tolerated[];
}

/** The version whose session layer our face follows. */
export const newest: Reference = {
  version: newestPiVersion,
  packageFolder: newestPiPackage,
  isNewest: true,
  tolerated: ["loses-names", "loses-header-fields", "rewrites-bytes", "splits-at-separators"],
};

/** All of them. */
export const references: readonly Reference[] = [
  newest,
  {
    version: piVersion,
    packageFolder: piPackage,
    isNewest: true,
    tolerated: [...newest.tolerated, "writes-at-answer", "has-no-entry-count"],
  },
  {
    version: oldPiVersion,
    packageFolder: oldPiPackage,
    isNewest: false,
    tolerated: [
      ...newest.tolerated,
      "writes-at-answer",
      "has-no-entry-count",
      "has-no-projection",
      "loses-labels",
      "keeps-missing-parents",
      "lists-ties-in-any-order",
      "lists-no-folder",
      "names-destination",
      "glues-entries",
      "repeats-header",
      "keeps-empty-cwd",
    ],
  },
];

/** A version of pi and the drop-in, each in a process; ours on the Node that runs this test. */
export async function bothSides(
  reference: Reference,
): Promise<readonly [theirs: Implementation, ours: Implementation]> {
  const module = join(reference.packageFolder(), sessionModule);
  return Promise.all([
    Implementation.start(module, reference.tolerated, newerNode()),
    Implementation.start(builtFace(), reference.tolerated),
  ]);
}

/**
 * When scripts start: before now, so that no lock looks old; rounded, so that times are easy to
 * read.
 */
export function startMs(): number {
  return Math.floor(Date.now() / 1000) * 1000 - 600_000;
}
