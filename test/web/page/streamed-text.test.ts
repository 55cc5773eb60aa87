/** Text that comes in pieces or asks for changes: lines, diffs, repeated work, palette. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { coalesce } from "../../../packages/web/src/page/model/coalesce.ts";
import { diffLines } from "../../../packages/web/src/page/model/diff-lines.ts";
import { LineSplitter } from "../../../packages/web/src/page/model/line-splitter.ts";
import { paletteMatches } from "../../../packages/web/src/page/model/palette-matches.ts";

it("LineSplitter returns the same lines wherever chunks end", () => {
  const chunks = fc.array(fc.string({ unit: fc.constantFrom("a", "b", "\n") }));
  fc.assert(
    fc.property(chunks, (given) => {
      const splitter = new LineSplitter();
      const lines = [...given.flatMap((chunk) => splitter.push(chunk)), ...splitter.end()];
      expect(lines).toEqual(given.join("").split("\n").filter(Boolean));
    }),
  );
});

describe("diffLines", () => {
  it("marks the lines of a unified diff", () => {
    const lines = diffLines("--- a\n+++ b\n@@ -1 +1 @@\n same\n-old\n+new");
    expect(lines?.map(({ kind }) => kind)).toEqual([
      "place",
      "place",
      "place",
      "same",
      "removed",
      "added",
    ]);
  });

  it.each(["- a list\n- of things", "a @@ b", ""])("returns null when the text is %j", (text) => {
    expect(diffLines(text)).toBeNull();
  });
});

it("coalesce runs once more after a run when it was called during it", async () => {
  let runs = 0;
  let release: () => void = () => undefined;
  const request = coalesce(async () => {
    runs += 1;
    await new Promise<void>((resolve) => {
      release = resolve;
    });
  });
  request();
  request();
  request();
  expect(runs).toBe(1);
  release();
  await Promise.resolve();
  await Promise.resolve();
  expect(runs).toBe(2);
  release();
  await Promise.resolve();
  await Promise.resolve();
  expect(runs).toBe(2);
  request();
  expect(runs).toBe(3);
});

describe("paletteMatches", () => {
  const items = ["Costs", "Go to costs", "Search"].map((title) => ({
    title,
    detail: "view",
    run: () => undefined,
  }));

  it("puts titles first that begin with the text", () => {
    const found = paletteMatches(items.toReversed(), "costs", 5);
    expect(found.map(({ title }) => title)).toEqual(["Costs", "Go to costs"]);
  });

  it("returns at most the requested number", () => {
    expect(paletteMatches(items, "", 2)).toHaveLength(2);
  });
});
