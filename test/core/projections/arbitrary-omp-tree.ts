/** Random small trees as omp writes them: with replays of providers, resets, and its own words. */
import * as fc from "fast-check";
import type { SessionEntry } from "@branchlog/core";
import { arbitraryTree } from "./arbitrary-tree.ts";
import { stored } from "./sample-entries.ts";

/** At least one entry, ids `e0`, `e1`, …; parents are before their children. */
export const arbitraryOmpTree: fc.Arbitrary<SessionEntry[]> = fc
  .tuple(arbitraryTree, fc.array(fc.nat({ max: 5 }), { minLength: 30, maxLength: 30 }))
  .map(([entries, choices]) => entries.map((entry, i) => inOmp(entry, choices[i] ?? 0)));

/** The entry as omp may have it, and in some cases another one in its place. */
function inOmp(entry: SessionEntry, choice: number): SessionEntry {
  const { type, id, parentId } = entry;
  switch (type) {
    case "compaction": {
      const { firstKeptEntryId: other, ...rest } = entry;
      if (choice < 2) return entry;
      const replay = { firstKeptEntryId: "", providerReplayThroughEntryId: other };
      return stored("compaction", id, parentId, { ...rest, ...replay, fromExtension: true });
    }
    case "thinking_level_change":
      return stored("reset_boundary", id, parentId, {});
    case "model_change":
      return stored(type, id, parentId, { model: `openai/m${choice}`, role: "default" });
    case "session_info":
      return stored("title_change", id, parentId, { title: `t${choice}`, source: "user" });
    default:
      return entry;
  }
}
