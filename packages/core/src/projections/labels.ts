/**
 * The labels of a session, over the whole log and not one branch. For each target the latest wins.
 * Targets are not checked: a label may name an entry that does not exist.
 */
import type { Projection } from "./projection.ts";

/** A bookmark that is in force. */
export interface Label {
  readonly label: string;
  /** Of the entry that set it, as stored. */
  readonly timestamp: string;
}

/** By the id of their target, in the order in which the targets were first labelled. */
export type Labels = ReadonlyMap<string, Label>;

const fold: Projection<Map<string, Label>> = {
  name: "labels",
  version: 1,
  types: ["label"],
  initial: () => new Map(),
  apply: (state, { entry }) => {
    if (entry.type !== "label" || typeof entry.targetId !== "string") return state;
    const { targetId, timestamp } = entry;
    const label: unknown = entry.label ?? "";
    if (label === "") state.delete(targetId);
    else if (typeof label === "string") state.set(targetId, { label, timestamp });
    return state;
  },
  snapshot: (state) => new Map(state),
};

/**
 * An absent, null or empty label clears that of its target; one that is not a string is ignored.
 * `apply` changes and returns the given map, O(1) per label entry; use `snapshot` to keep a state.
 */
export const labels: Projection<Labels> = fold;
