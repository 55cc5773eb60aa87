/** Estimated costs: by the table of prices, marked, and unknown where it lacks the model. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { estimatedCost, estimateOf, priceTable } from "@branchlog/tools";
import type { UsageTotals } from "@branchlog/core/types";
import { header, jsonl, message, user } from "../library/catalog/session-lines.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { branchlog, fixture, jsonLines, onTerminal } from "./command-run.ts";

const million = { input: 1e6, output: 1e6, cacheRead: 1e6, cacheWrite: 1e6 };

describe("the table of prices", () => {
  it("has a date and sources, and a positive price for each model", () => {
    expect(priceTable.date).toMatch(/^2026-\d\d-\d\d$/);
    expect(priceTable.sources.every((url) => url.startsWith("https://"))).toBe(true);
    for (const [model, price] of priceTable.models) {
      expect(model).not.toMatch(/-\d{8}$/);
      expect(Math.min(price.input, price.output, price.cacheRead)).toBeGreaterThan(0);
      expect(price.cacheRead).toBeLessThan(price.input);
      expect(price.cacheWrite).toBeLessThanOrEqual(price.cacheWriteHour);
    }
  });

  it.each([
    ["claude-opus-4-5-20251101", 5 + 25 + 0.5 + 6.25],
    ["claude-sonnet-4-20250514", 3 + 15 + 0.3 + 3.75],
    ["claude-opus-4-6[1m]", 5 + 25 + 0.5 + 6.25],
    ["gpt-5.1-codex", 1.25 + 10 + 0.125],
  ])("prices a million of each token of %s", (model, dollars) => {
    expect(estimatedCost(model, million)).toBeCloseTo(dollars, 10);
  });

  it.each(["claude-opus-9", "gpt-5.1-codex-mega", "", "anthropic/claude-opus-4.5", "constructor"])(
    "does not have %j, whose cost is unknown",
    (model) => {
      expect(estimatedCost(model, million)).toBeUndefined();
    },
  );

  it("law: an estimate is the sum of its parts, and stored costs do not change", () => {
    const count = fc.nat({ max: 1e9 });
    const sums = fc
      .record({ input: count, output: count, cacheRead: count, cacheWrite: count, cost: fc.nat(9) })
      .map((of): UsageTotals => {
        const totalTokens = of.input + of.output + of.cacheRead + of.cacheWrite;
        return { requests: 1, ...of, totalTokens };
      });
    const models = fc.dictionary(fc.constantFrom("claude-opus-4-5", "gpt-5", "other"), sums);
    fc.assert(
      fc.property(models, (byModel) => {
        const none = {
          requests: 0,
          input: 0,
          output: 0,
          cacheRead: 0,
          cacheWrite: 0,
          totalTokens: 0,
          cost: 0,
        };
        const all = new Map([["p", new Map(Object.entries(byModel))]]);
        const { cost, unknown } = estimateOf({ total: none, byModel: all, unattributed: none });
        const parts = Object.entries(byModel).flatMap(([model, of]) => {
          return (of.cost > 0 ? of.cost : estimatedCost(model, of)) ?? [];
        });
        expect(cost ?? 0).toBeCloseTo(
          parts.reduce((sum, one) => sum + one, 0),
          6,
        );
        const other = byModel["other"];
        const isUnknown = other !== undefined && other.cost === 0 && other.totalTokens > 0;
        expect(unknown).toEqual(isUnknown ? ["other"] : []);
      }),
    );
  });
});

describe("--estimate", () => {
  it("marks estimates in list, info and stats, and is a separate field in JSON", async () => {
    const file = fixture("transcripts/field/model-fallback.jsonl");
    const [info] = jsonLines((await branchlog(["info", file, "--estimate", "--json"])).out);
    // 6 tokens in, 350 out, 280 read and 90 written, of Claude Sonnet 4.6.
    const expected = (6 * 3 + 350 * 15 + 280 * 0.3 + 90 * 3.75) / 1e6;
    const { usage } = info as { readonly usage: { readonly estimatedCost: number } };
    expect(usage).toMatchObject({ cost: null, unknownPrices: [] });
    expect(usage.estimatedCost).toBeCloseTo(expected, 12);
    const shown = `~$${expected.toFixed(4)}`;
    expect((await onTerminal(["info", file, "--estimate"])).out).toContain(
      `estimated: ${shown} by`,
    );
    expect((await onTerminal(["stats", file, "--estimate"])).out).toContain(shown);
    expect((await onTerminal(["turns", file, "--estimate"])).out).toContain(`, ${shown}`);
    const [turns] = jsonLines((await branchlog(["turns", file, "--estimate", "--json"])).out);
    const { totals } = turns as { readonly totals: Readonly<Record<string, number>> };
    expect(totals["total_cost"]).toBeNull();
    expect(totals["total_estimated_cost"]).toBeCloseTo(expected, 12);
    const [total] = jsonLines((await branchlog(["stats", file, "--estimate", "--json"])).out);
    expect(total).toMatchObject({ cost: null, unestimated: 0 });
    expect((await onTerminal(["info", file])).out).not.toContain("estimated");
  });

  it("keeps stored costs, and reports models that are not in the table", async () => {
    const directory = temporaryDirectory();
    const spent = { input: 1000, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 1000 };
    const answer = (model: string, total: number): object =>
      message("assistant", [], { provider: "p", model, usage: { ...spent, cost: { total } } });
    const lines = [header(), user("q"), answer("gpt-5", 2), answer("claude-opus-4-5", 0)];
    writeFileSync(join(directory, "a.jsonl"), jsonl([...lines, answer("home-made", 0)]));
    const [listed] = jsonLines((await branchlog(["list", directory, "--estimate", "--json"])).out);
    expect(listed).toMatchObject({ cost: 2, estimatedCost: 2.005, unknownPrices: ["home-made"] });
    const { out } = await onTerminal(["list", directory, "--estimate"], { columns: 120 });
    expect(out).toContain("≥ ~$2.00");
    expect((await onTerminal(["stats", directory, "--estimate"])).out).toContain(
      "≥ ~$2.00, 1 of 3 requests without a price",
    );
    expect((await onTerminal(["list", directory], { columns: 120 })).out).toContain("$2.00");
  });

  it("is rejected for CSV, which has stored costs", async () => {
    const { code, err } = await branchlog(["stats", fixture("codex"), "--estimate", "--csv"]);
    expect([code, err]).toEqual([2, expect.stringContaining("only stored costs")]);
  });
});
