/**
 * An entry diverges if it was appended below a leaf that other writers had continued, unknown to
 * its session. It is marked, since the file alone does not distinguish it from an intended branch.
 * Pure.
 */

/** The entries of other writers that an appended entry is not below. */
export interface Divergence {
  /** Below the same parent, unread by the session. */
  readonly entryCount: number;
  /** The last entry of the log at that moment. */
  readonly tailId: string;
}

/** The last key of a diverged entry; its value is {@link Divergence.tailId}. */
export const divergenceKey = "branchlog.diverged";

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
