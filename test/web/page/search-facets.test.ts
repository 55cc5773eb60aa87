/** How the hits of a search are narrowed down. */
import { describe, expect, it } from "vitest";
import {
  facetValues,
  facetsOf,
  toggledFacet,
} from "../../../packages/web/src/page/model/search-facets.ts";
import type { SearchHitItem } from "../../../packages/web/src/api.ts";

const nowMs = new Date(2026, 10, 26, 15).getTime();
const dayMs = 86_400_000;

function hit(given: Partial<SearchHitItem>): SearchHitItem {
  const place = { key: "k", title: "t", agent: "pi", project: "/work", entryId: "e" };
  const said = { kind: "message", role: "user", tool: null, timeMs: nowMs };
  return { ...place, ...said, before: "", match: "m", after: "", ...given };
}

const hits = [
  hit({}),
  hit({ timeMs: nowMs - 2 * dayMs, kind: "call", role: null, tool: "bash" }),
  hit({ timeMs: nowMs - 20 * dayMs, agent: "codex", kind: "call", role: null, tool: "edit" }),
  hit({ timeMs: nowMs - 2000 * dayMs, agent: "codex", role: null, kind: "result", tool: "edit" }),
];

describe("the facets of a search", () => {
  it("count the hits of each value, and omit those with a single value", () => {
    const outline = facetsOf(hits, {}, nowMs).map(({ name, choices }) => [
      name,
      choices.map(({ value, count }) => `${value} ${count}`).join(", "),
    ]);
    expect(outline).toEqual([
      ["date", "today 1, week 2, month 3"],
      ["agent", "pi 2, codex 2"],
      ["kind", "call 2, message 1, result 1"],
      ["tool", "edit 2, bash 1"],
    ]);
  });

  it("show only a chosen value, also when no hit has it", () => {
    const [agent] = facetsOf(hits.slice(2), { agent: "codex" }, nowMs);
    expect(agent).toEqual({ name: "date", choices: expect.any(Array) as unknown });
    const chosen = facetsOf([], { tool: "read" }, nowMs);
    expect(chosen).toEqual([{ name: "tool", choices: [{ value: "read", count: 0 }] }]);
  });

  it("are cleared when they are chosen again", () => {
    expect(toggledFacet({ kind: "call" }, "kind", "call")).toEqual({});
    expect(toggledFacet({ kind: "call" }, "kind", "name")).toEqual({ kind: "name" });
  });

  it("request a time in the local time zone, and all times for an unknown name", () => {
    const midnight = new Date(2026, 10, 26).getTime();
    expect(facetValues({ date: "today", kind: "call" }, nowMs)).toEqual({
      kind: "call",
      since: midnight,
    });
    expect(facetValues({ date: "week" }, nowMs)).toEqual({ since: midnight - 6 * dayMs });
    expect(facetValues({ date: "ever" }, nowMs)).toEqual({});
  });
});
