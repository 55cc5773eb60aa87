/** Which entries of a path a model sees, by example and against a naive reading of pi's rules. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SessionEntry } from "@branchlog/core";
import { selectContext } from "../../../packages/core/src/projections/context.ts";
import type { PathView } from "../../../packages/core/src/projections/projection.ts";
import { arbitraryTree } from "./arbitrary-tree.ts";
import { countingView, pathTo, pathToLast } from "./naive-tree.ts";
import { assistant, compaction, message, stored, user } from "./sample-entries.ts";

const idsOf = (view: PathView): string[] => Array.from(selectContext(view), (i) => view.id(i));

describe("the selection of a context", () => {
  it("is the whole path without a compaction, entries that say nothing included", () => {
    const label = stored("label", "2", "1", { targetId: "1", label: "here" });
    expect(idsOf(pathToLast([user("1", null, "one"), label]))).toEqual(["1", "2"]);
  });

  it("is nothing on an empty path", () => {
    expect(idsOf(pathTo([], "nowhere"))).toEqual([]);
  });

  it("leaves system messages out of what is kept, not out of what comes after", () => {
    const system = (id: string, parentId: string): SessionEntry =>
      message(id, parentId, { role: "system", content: "rules", timestamp: 1 });
    const entries = [
      user("1", null, "one"),
      system("2", "1"),
      user("3", "2", "three"),
      compaction("4", "3", "summary", "1"),
      system("5", "4"),
    ];
    expect(idsOf(pathToLast(entries))).toEqual(["4", "1", "3", "5"]);
  });

  it("leaves out a reset, also one that is the root", () => {
    const reset = stored("reset_boundary", "1", null, {});
    expect(idsOf(pathToLast([reset, user("2", "1", "two")]))).toEqual(["2"]);
  });

  it("keeps what only has the role of a system message", () => {
    const entries = [
      stored("model_change", "1", null, { model: "p/m", role: "system" }),
      compaction("2", "1", "summary", "1"),
    ];
    expect(idsOf(pathToLast(entries))).toEqual(["2", "1"]);
  });

  it("follows the first kept entry where a replayed one is named, too", () => {
    const both = { firstKeptEntryId: "1", providerReplayThroughEntryId: "2" };
    const entries = [
      user("1", null, "one"),
      assistant("2", "1", "two"),
      stored("compaction", "3", "2", { summary: "summary", tokensBefore: 1, ...both }),
    ];
    expect(idsOf(pathToLast(entries))).toEqual(["3", "1", "2"]);
  });

  it("keeps nothing if the boundary itself is a system message that is not followed", () => {
    const system = message("1", null, { role: "system", content: "rules", timestamp: 1 });
    expect(idsOf(pathToLast([system, compaction("2", "1", "summary", "1")]))).toEqual(["2"]);
  });

  it.each([
    ["is the id of the compaction itself", "4"],
    ["names no entry", "nowhere"],
    ["names an entry of another branch", "3"],
    ["names an entry after the compaction", "5"],
    ["is null", null],
    ["is absent", undefined],
    ["is a number", 1],
  ])("keeps nothing if the boundary %s", (_, firstKeptEntryId) => {
    const entries = [
      user("1", null, "one"),
      assistant("2", "1", "two"),
      user("3", "1", "on another branch"),
      stored("compaction", "4", "2", { summary: "summary", firstKeptEntryId, tokensBefore: 1 }),
      user("5", "4", "five"),
    ];
    expect(idsOf(pathToLast(entries))).toEqual(["4", "5"]);
  });

  it.each([
    ["what follows the replayed entries", "2", ["4", "3", "5"]],
    ["nothing, if all of it was replayed", "3", ["4", "5"]],
    ["nothing, if the replayed entry is elsewhere", "nowhere", ["4", "5"]],
    ["nothing, if the replayed entry comes later", "5", ["4", "5"]],
    ["nothing without a replayed entry", undefined, ["4", "5"]],
  ])("keeps %s where omp names no first kept entry", (_, providerReplayThroughEntryId, ids) => {
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

  it("keeps an older compaction inside the range as an entry", () => {
    const entries = [
      user("1", null, "one"),
      compaction("2", "1", "older", "1"),
      user("3", "2", "three"),
      compaction("4", "3", "newer", "1"),
    ];
    expect(idsOf(pathToLast(entries))).toEqual(["4", "1", "2", "3"]);
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
