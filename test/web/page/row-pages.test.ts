/** Pages of rows that are held, and jumps between branch points. */
import { describe, expect, it } from "vitest";
import { nextBranch, previousBranch } from "../../../packages/web/src/page/model/branch-jumps.ts";
import { PageCache, rowsPerPage } from "../../../packages/web/src/page/model/page-cache.ts";
import { rowKind } from "../../../packages/web/src/page/model/row-kind.ts";
import type { Row } from "../../../packages/web/src/api.ts";

function page(first: number): readonly Row[] {
  return Array.from({ length: rowsPerPage }, (_, index) => ({
    row: first * rowsPerPage + index,
    id: `id-${index}`,
    type: "message",
    role: "user",
    timeMs: 0,
    label: null,
    text: "",
    tools: [],
    isLeaf: false,
    isOnPath: true,
    isError: false,
    isDamaged: false,
    lanes: { lane: 0, up: true, down: true, forks: [], passing: [] },
  }));
}

describe("PageCache", () => {
  it("returns a row when its page is held", () => {
    const cache = new PageCache<Row>(3);
    cache.put(2, page(2));
    expect(cache.rowAt(2 * rowsPerPage + 7)?.row).toBe(2 * rowsPerPage + 7);
    expect(cache.rowAt(0)).toBeUndefined();
  });

  it("drops the least recently used page", () => {
    const cache = new PageCache<Row>(2);
    cache.put(0, page(0));
    cache.put(1, page(1));
    cache.missing(0, 1);
    cache.put(2, page(2));
    expect(cache.rowAt(0)).toBeDefined();
    expect(cache.rowAt(rowsPerPage)).toBeUndefined();
  });

  it("keeps stale pages and asks for them again", () => {
    const cache = new PageCache<Row>(5);
    cache.put(0, page(0));
    expect(cache.missing(0, rowsPerPage + 1)).toEqual([1]);
    cache.markStale();
    expect(cache.missing(0, rowsPerPage)).toEqual([0]);
    expect(cache.rowAt(0)).toBeDefined();
    cache.clear();
    expect(cache.rowAt(0)).toBeUndefined();
  });
});

it("branch jumps find the nearest branch point on each side", () => {
  expect([previousBranch([3, 9, 20], 9), nextBranch([3, 9, 20], 9)]).toEqual([3, 20]);
  expect([previousBranch([3], 3), nextBranch([3], 3)]).toEqual([undefined, undefined]);
});

describe("rowKind", () => {
  const plain = { isDamaged: false, isError: false, role: null, type: "message" };
  it.each([
    [{ isDamaged: true, isError: true }, "damage", "damaged"],
    [{ isError: true, role: "toolResult" }, "error", "error"],
    [{ type: "compaction" }, "compaction", "compaction"],
    [{ type: "branch_summary" }, "summary", "branch summary"],
    [{ role: "user" }, "user", "user"],
    [{ role: "assistant" }, "assistant", "assistant"],
    [{ role: "toolResult" }, "tool", "result"],
    [{ type: "model_change" }, "note", "model change"],
  ] as const)("of %j is %s", (given, mark, word) => {
    expect(rowKind({ ...plain, ...given })).toEqual({ mark, word });
  });
});
