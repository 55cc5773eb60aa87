/** Token and cost totals, overall and by model. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SessionEntry } from "@branchlog/core";
import type { UsageTotals } from "@branchlog/core/types";
import { usage } from "../../../packages/core/src/projections/usage.ts";
import { arbitraryTree } from "./arbitrary-tree.ts";
import { foldAll } from "./fold.ts";
import { stored, usageOf, user } from "./sample-entries.ts";

const spent = (provider: unknown, model: unknown, of: unknown): SessionEntry =>
  stored("message", "m", null, { message: { role: "assistant", provider, model, usage: of } });

describe("the usage of a session", () => {
  it("counts usage of answers and tools, not of user messages", () => {
    const by = (role: string): SessionEntry =>
      stored("message", "m", null, { message: { role, usage: usageOf(1, 2) } });
    expect(foldAll(usage, [by("user")]).total.requests).toBe(0);
    const { total, unattributed } = foldAll(usage, [by("assistant"), by("toolResult")]);
    expect([total.requests, unattributed.requests]).toEqual([2, 2]);
  });

  it("adds up tokens and dollars by provider and model", () => {
    const cached = { ...usageOf(1, 2, 0.5), cacheRead: 3, cacheWrite: 4 };
    const entries = [
      spent("openai", "gpt", usageOf(10, 5, 1)),
      spent("anthropic", "claude", cached),
      stored("usage", "u", null, {
        kind: "cache_warming",
        provider: "anthropic",
        model: "claude",
        usage: cached,
      }),
    ];
    const { total, byModel, unattributed } = foldAll(usage, entries);
    expect(byModel.get("anthropic")?.get("claude")).toEqual({
      requests: 2,
      input: 2,
      output: 4,
      cacheRead: 6,
      cacheWrite: 8,
      totalTokens: 20,
      cost: 1,
    });
    expect(byModel.get("openai")?.get("gpt")).toMatchObject({ requests: 1, totalTokens: 15 });
    expect(total).toMatchObject({ requests: 3, totalTokens: 35, cost: 2 });
    expect(unattributed.requests).toBe(0);
  });

  it("separates usage without a model, or of a tool", () => {
    const own = usageOf(1, 1, 1);
    const entries = [
      stored("compaction", "c", null, { usage: own }),
      stored("branch_summary", "b", null, { usage: own }),
      stored("message", "t", null, {
        message: { role: "toolResult", provider: "p", model: "m", usage: own },
      }),
      spent(undefined, "claude", own),
      spent(5, "claude", own),
      spent("anthropic", 5, own),
    ];
    const { total, byModel, unattributed } = foldAll(usage, entries);
    expect(unattributed).toEqual(total);
    expect(unattributed).toMatchObject({ requests: 6, totalTokens: 12, cost: 6 });
    expect(byModel.size).toBe(0);
  });

  it("counts missing values and non-numbers as 0", () => {
    const entries = [
      spent("p", "m", { input: 1, output: null, cacheRead: "9", cost: null }),
      spent("p", "m", { input: 2 }),
      spent("p", "m", null),
      spent("p", "m", undefined),
      spent("p", "m", "many"),
      stored("message", "n", null, { message: null }),
      user("1", null, "one"),
    ];
    expect(foldAll(usage, entries).total).toMatchObject({ requests: 2, totalTokens: 3, cost: 0 });
  });

  it("does not count a usage without tokens and cost as a request", () => {
    const entries = [
      spent("p", "m", usageOf(0, 0)),
      spent("p", "m", usageOf(0, 0, 0.5)),
      spent("p", "m", usageOf(0, 1)),
    ];
    expect(foldAll(usage, entries).total).toMatchObject({ requests: 2, totalTokens: 1, cost: 0.5 });
  });

  it("has as total the sum by model and without one, on random sessions", () => {
    fc.assert(
      fc.property(arbitraryTree, (entries) => {
        const { total, byModel, unattributed } = foldAll(usage, entries);
        const parts = [...byModel.values()].flatMap((models) => [...models.values()]);
        const sum = (key: keyof UsageTotals): number =>
          [...parts, unattributed].reduce((all, part) => all + part[key], 0);
        expect(sum("requests")).toBe(total.requests);
        expect(sum("totalTokens")).toBe(total.totalTokens);
        expect(sum("cost")).toBeCloseTo(total.cost);
      }),
    );
  });
});
