/**
 * The name of a session: that of the latest `session_info` entry anywhere in the log, not of one
 * branch, so that renaming never moves anybody's leaf.
 */
import type { Projection } from "./projection.ts";

/**
 * Folds to the name without surrounding white space; undefined if never named, or cleared by one
 * that is absent, null or empty. One that is no string is ignored.
 */
export const sessionName: Projection<string | undefined> = {
  name: "name",
  version: 1,
  types: ["session_info"],
  initial: () => undefined,
  apply: (state, { entry }) => {
    if (entry.type !== "session_info") return state;
    const name: unknown = entry.name ?? "";
    return typeof name === "string" ? name.trim() || undefined : state;
  },
};
