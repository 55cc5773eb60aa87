/** Which entries of a path a model sees, by example and against a naive reading of pi's rules. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SessionEntry } from "@branchlog/core";
import { selectContext } from "../../../packages/core/src/projections/context.ts";
import type { PathView } from "../../../packages/core/src/projections/projection.ts";
import { arbitraryTree } from "./arbitrary-tree.ts";
import { countingView, pathTo, pathToLast } from "./naive-tree.ts";
import { assistant, compaction, stored, user } from "./sample-entries.ts";

const idsOf = (view: PathView): string[] => Array.from(selectContext(view), (i) => view.id(i));

describe("the selection of a context", () => {
  it("omits a reset, also at the root", () => {
    const reset = stored("reset_boundary", "1", null, {});
    expect(idsOf(pathToLast([reset, user("2", "1", "two")]))).toEqual(["2"]);
  });

  it("keeps an entry that only has the role of a system message", () => {
    const entries = [
      stored("model_change", "1", null, { model: "p/m", role: "system" }),
      compaction("2", "1", "summary", "1"),
    ];
    expect(idsOf(pathToLast(entries))).toEqual(["2", "1"]);
  });

  it("uses the first kept entry when a replayed one is also named", () => {
    const both = { firstKeptEntryId: "1", providerReplayThroughEntryId: "2" };
    const entries = [
      user("1", null, "one"),
      assistant("2", "1", "two"),
      stored("compaction", "3", "2", { summary: "summary", tokensBefore: 1, ...both }),
    ];
    expect(idsOf(pathToLast(entries))).toEqual(["3", "1", "2"]);
  });

  it("keeps no entries if the boundary is a number", () => {
    const summed = { summary: "summary", firstKeptEntryId: 1, tokensBefore: 1 };
    const entries = [user("1", null, "one"), stored("compaction", "2", "1", summed)];
    expect(idsOf(pathToLast(entries))).toEqual(["2"]);
  });

  it.each([
    ["what follows the replayed entries", "2", ["4", "3", "5"]],
    ["nothing, if all of it was replayed", "3", ["4", "5"]],
    ["nothing, if the replayed entry is elsewhere", "nowhere", ["4", "5"]],
    ["nothing, if the replayed entry comes later", "5", ["4", "5"]],
    ["nothing without a replayed entry", undefined, ["4", "5"]],
  ])("keeps %s when omp names no first kept entry", (_, providerReplayThroughEntryId, ids) => {
    const summed = { summary: "summary", firstKeptEntryId: "", tokensBefore: 1 };
    const entries = [
      user("1", null, "one"),
      assistant("2", "1", "two"),
      user("3", "2", "three"),
      stored("compaction", "4", "3", { ...summed, providerReplayThroughEntryId }),
      user("5", "4", "five"),
    ];
    expect(idsOf(pathToLast(entries))).toEqual(ids);
  });

  it("loads no body but that of the last compaction", () => {
    const entries = [
      user("1", null, "one"),
      compaction("2", "1", "older", "1"),
      compaction("3", "2", "newer", "1"),
      user("4", "3", "four"),
    ];
    const { view, loaded } = countingView(pathToLast(entries));
    selectContext(view);
    expect(loaded).toEqual([2]);
  });

  it("equals a naive reading of pi's rules on random trees", () => {
    fc.assert(
      fc.property(arbitraryTree, fc.nat(), (entries, pick) => {
        const leaf = entries[pick % entries.length]?.id ?? "";
        const view = pathTo(entries, leaf);
        const path = Array.from({ length: view.length }, (_, i) => view.entry(i));
        expect(idsOf(view)).toEqual(naiveSelection(path).map((entry) => entry.id));
      }),
      { numRuns: 500 },
    );
  });
});

/** Straight from the description: no compaction, the path; else summary, kept, after. */
function naiveSelection(path: readonly SessionEntry[]): SessionEntry[] {
  const last = path.findLast((entry) => entry.type === "compaction");
  if (last?.type !== "compaction") return [...path];
  const before = path.slice(0, path.indexOf(last));
  const after = path.slice(path.indexOf(last) + 1);
  const from = before.findIndex((entry) => entry.id === last.firstKeptEntryId);
  const kept = from === -1 ? [] : before.slice(from);
  const isSystem = (entry: SessionEntry): boolean =>
    entry.type === "message" && entry.message.role === "system";
  return [last, ...kept.filter((entry) => !isSystem(entry)), ...after];
}
