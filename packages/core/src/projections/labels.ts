/**
 * The labels of a session: bookmarks on entries, over the whole log and not one branch. For each
 * target the latest wins. Targets are not checked: a label may name an entry that does not exist.
 */
import type { Projection } from "./projection.ts";

/** A bookmark that is in force. */
export interface Label {
  readonly label: string;
  /** The timestamp of the entry that set it, as stored. */
  readonly timestamp: string;
}

/** Labels by the id of their target, in the order in which the targets were first labelled. */
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
 * Folds `label` entries. A label that is absent, null or empty clears that of its target; one
 * that is not a string is ignored.
 * `apply` changes the map that it is given and returns it: O(1) per label entry; take a `snapshot`
 * of what must not change.
 */
export const labels: Projection<Labels> = fold;
