/**
 * Divergence: an entry that was appended below a leaf while other writers had continued from that
 * leaf, unknown to its own. The tree then has two branches that nobody chose. Such an entry carries
 * a mark, since the file alone does not tell it from a branch made on purpose. Pure.
 */

/** What an appended entry is not below. */
export interface Divergence {
  /** Entries of other writers below the same parent that the session had not read. */
  readonly entryCount: number;
  /** The last entry of the log at that moment. */
  readonly tailId: string;
}

/** The last key of a diverged entry; its value is the id of the tail at that moment. */
export const divergenceKey = "branchlog.diverged";

/** The tail from which a stored entry diverged, or undefined. */
export function divergedFrom(entry: object): string | undefined {
  const tailId: unknown = Object.hasOwn(entry, divergenceKey)
    ? Reflect.get(entry, divergenceKey)
    : undefined;
  return typeof tailId === "string" ? tailId : undefined;
}

/** `2 entries of other writers, up to b2, are on another branch below its parent`. */
export function divergenceText({ entryCount, tailId }: Divergence): string {
  const entries = entryCount === 1 ? "1 entry" : `${entryCount} entries`;
  const verb = entryCount === 1 ? "is" : "are";
  return `${entries} of other writers, up to ${tailId}, ${verb} on another branch below its parent`;
}
