/** The settings of a path, by example, against a forward scan, and by the bodies that they cost. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SessionEntry } from "@branchlog/core";
import type { PathSettings } from "@branchlog/core/types";
import { arrayPathView } from "../../../packages/core/src/projections/projection.ts";
import {
  settingsAfter,
  settingsOfPath,
  settingsStateOfPath,
} from "../../../packages/core/src/projections/settings.ts";
import { arbitraryOmpTree } from "./arbitrary-omp-tree.ts";
import { arbitraryStoredEntries } from "./arbitrary-stored.ts";
import { arbitraryTree } from "./arbitrary-tree.ts";
import { countingView, pathTo } from "./naive-tree.ts";
import { assistant, stored, user } from "./sample-entries.ts";

const level = (thinkingLevel: unknown): SessionEntry =>
  stored("thinking_level_change", "l", null, { thinkingLevel });
const model = (provider: unknown, modelId: unknown): SessionEntry =>
  stored("model_change", "m", null, { provider, modelId });

describe("the settings of a path", () => {
  it("have thinking off when omp turns it off", () => {
    const view = arrayPathView([level("low"), level(null)]);
    expect(settingsOfPath(view).thinkingLevel).toBe("off");
  });

  it("keep the selected model in omp, but not in pi, when another one answers", () => {
    const chosen = stored("model_change", "1", null, { model: "openai/gpt" });
    const ofRole = stored("model_change", "2", null, { model: "openai/small", role: "smol" });
    const answered = assistant("3", null, "x");
    const modelOf = (...entries: SessionEntry[]): unknown =>
      settingsOfPath(arrayPathView(entries)).model;
    expect(modelOf(chosen, ofRole, answered)).toEqual({ provider: "openai", modelId: "gpt" });
    expect(modelOf(chosen, model("openai", "gpt"), answered)).toEqual(modelOf(answered));
    expect(modelOf(ofRole)).toBeNull();
  });

  it("ignore entries of other types, or with missing fields", () => {
    const fields = { message: { role: "assistant", provider: "x", model: "y" } };
    const entries = [
      level("low"),
      model("openai", "gpt"),
      level(5),
      level(undefined),
      model("openai", undefined),
      stored("custom", "1", null, { ...fields, thinkingLevel: "high", model: "a/b" }),
      stored("message", "2", null, { message: { role: "user", provider: "x", model: "y" } }),
      stored("message", "3", null, { message: { role: "assistant", provider: 1, model: "y" } }),
      stored("message", "4", null, { message: { role: "assistant", provider: "x" } }),
      stored("message", "5", null, { message: null }),
      stored("message", "6", null, {}),
    ];
    const expected = { thinkingLevel: "low", model: { provider: "openai", modelId: "gpt" } };
    expect(settingsOfPath(arrayPathView(entries))).toEqual(expected);
    expect(foldedFrom(entries)).toEqual({ ...expected, isModelChosen: false });
  });

  it("are the same object after an entry that changes none of them", () => {
    const before = settingsStateOfPath(arrayPathView([level("low"), model("openai", "gpt")]));
    for (const entry of [user("1", null, "x"), level(5), model("openai", 5), level("low")]) {
      expect(settingsAfter(before, entry)).toBe(before);
    }
    expect(settingsAfter(before, level("high"))).toEqual({ ...before, thinkingLevel: "high" });
    const chosen = stored("model_change", "2", null, { model: "openai/gpt" });
    expect(settingsAfter(before, chosen)).toEqual({ ...before, isModelChosen: true });
  });

  it("entry by entry equal those of the path as a whole, in both dialects and mixed", () => {
    const entries = fc.oneof(
      arbitraryTree,
      arbitraryOmpTree,
      arbitraryStoredEntries,
      fc.tuple(arbitraryTree, arbitraryOmpTree).map(([one, two]) => [...one, ...two, ...one]),
    );
    fc.assert(
      fc.property(entries, (path) => {
        expect(foldedFrom(path)).toEqual(settingsStateOfPath(arrayPathView(path)));
      }),
      { numRuns: 500 },
    );
  });

  it("load two bodies, however long the path is", () => {
    const early = Array.from({ length: 1000 }, () => assistant("0", null, "early"));
    const late = Array.from({ length: 10 }, () => user("1", null, "late"));
    const entries = [...early, level("high"), assistant("2", null, "x"), level("low"), ...late];
    const { view, loaded } = countingView(arrayPathView(entries));
    expect(settingsOfPath(view).thinkingLevel).toBe("low");
    expect(loaded).toEqual([1002, 1001]);
  });

  it("equal those of a naive forward scan on random trees", () => {
    fc.assert(
      fc.property(arbitraryTree, fc.nat(), (entries, pick) => {
        const view = pathTo(entries, entries[pick % entries.length]?.id ?? "");
        const path = Array.from({ length: view.length }, (_, i) => view.entry(i));
        expect(settingsOfPath(view)).toEqual(scan(path));
      }),
      { numRuns: 500 },
    );
  });
});

function foldedFrom(path: readonly SessionEntry[]) {
  return path.reduce(settingsAfter, settingsStateOfPath(arrayPathView([])));
}

function scan(path: readonly SessionEntry[]): PathSettings {
  let thinkingLevel = "off";
  let current: PathSettings["model"] = null;
  for (const entry of path) {
    if (entry.type === "thinking_level_change") thinkingLevel = entry.thinkingLevel;
    if (entry.type === "model_change") {
      current = { provider: entry.provider, modelId: entry.modelId };
    }
    if (entry.type === "message" && entry.message.role === "assistant") {
      current = { provider: entry.message.provider, modelId: entry.message.model };
    }
  }
  return { thinkingLevel, model: current };
}
