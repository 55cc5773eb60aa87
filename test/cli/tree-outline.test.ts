import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { TreeView } from "@branchlog/core";
import { outline, childrenOf, treeOrder, walkTree } from "../../packages/cli/src/tree-outline.ts";
import type { OutlineOptions, OutlineRow } from "../../packages/cli/src/tree-outline.ts";
import { runs } from "../support/fault-seed.ts";
import { branchlog, fixture } from "./command-run.ts";

/** A tree of nodes "0", "1", …; `parents[i]` is the parent of node i, -1 for a root. */
function viewOf(parents: readonly number[]): TreeView {
  const children = parents.map((): string[] => []);
  const roots: string[] = [];
  for (const [node, parent] of parents.entries()) {
    (parent < 0 ? roots : (children[parent] ?? roots)).push(String(node));
  }
  return {
    roots,
    size: parents.length,
    kinds: () => [{ type: "message", count: parents.length }],
    children: (id) => children[Number(id)] ?? [],
    node: (id) => {
      const parent = parents[Number(id)] ?? -1;
      const parentId = parent < 0 ? null : String(parent);
      return { id, parentId, type: "message", time: 0, revision: Number(id) + 1 };
    },
  };
}

const anyParents = fc
  .array(fc.nat(), { minLength: 1, maxLength: 60 })
  .map((picks) => picks.map((pick, i) => (pick % (i + 1)) - 1));

const nothingNotable: OutlineOptions = {
  isNotable: () => false,
  leaf: -1,
  levelMax: Number.POSITIVE_INFINITY,
};

function rowsOf(parents: readonly number[], options = nothingNotable): OutlineRow[] {
  return [...outline(treeOrder(viewOf(parents)), options)];
}

/** Nodes that the rows account for. */
function counted(rows: readonly OutlineRow[]): number {
  return rows.reduce((sum, row) => sum + (row.kind === "node" ? 1 : row.nodes), 0);
}

describe("the order of a tree", () => {
  it("has every node once, parents before children, children in file order", () => {
    fc.assert(
      fc.property(anyParents, (parents) => {
        const order = treeOrder(viewOf(parents));
        expect(order.ids.map(Number).toSorted((a, b) => a - b)).toEqual(parents.map((_, i) => i));
        for (const [node, id] of order.ids.entries()) {
          const children = [...childrenOf(order, node)].map((child) => order.ids[child]);
          expect(children).toEqual(viewOf(parents).children(id));
        }
      }),
    );
  });

  it("ends on a cycle, entered only at its root", () => {
    // 0 → 1 → 2 → 0: node 0 counts as a root though it is a child of node 2.
    const view = {
      ...viewOf([-1, 0, 1]),
      children: (id: string) => [String((Number(id) + 1) % 3)],
    };
    expect([...walkTree(view)]).toEqual([
      { id: "0", parent: -1, children: ["1"] },
      { id: "1", parent: 0, children: ["2"] },
      { id: "2", parent: 1, children: [] },
    ]);
  });
});

/** More than a stack of calls takes. */
const many = runs(100_000, 1_000_000);

describe("the outline of a tree", () => {
  it("accounts for every node exactly once", () => {
    fc.assert(
      fc.property(anyParents, fc.nat(60), fc.nat(3), (parents, leaf, levelMax) => {
        const options = { ...nothingNotable, leaf: leaf % parents.length, levelMax };
        expect(counted(rowsOf(parents, options))).toBe(parents.length);
        const all = { ...options, isNotable: () => true, levelMax: Number.POSITIVE_INFINITY };
        expect(rowsOf(parents, all).every(({ kind }) => kind === "node")).toBe(true);
      }),
    );
  });

  it("is indented no deeper than the logarithm of the nodes, and one for the leaf", () => {
    fc.assert(
      fc.property(anyParents, fc.integer({ min: -1, max: 59 }), (parents, leaf) => {
        const options = { ...nothingNotable, leaf: leaf < parents.length ? leaf : -1 };
        const levels = rowsOf(parents, options).map(({ level }) => level);
        expect(Math.max(...levels)).toBeLessThanOrEqual(Math.log2(parents.length) + 1);
      }),
    );
  });

  it("keeps the branch of the leaf in place and shows the leaf", () => {
    //  0 ┬ 1 ─ 2 ─ 3
    //    └ 4
    const rows = rowsOf([-1, 0, 1, 2, 0], { ...nothingNotable, leaf: 4 });
    expect(rows).toMatchObject([
      { kind: "node", node: 0, level: 0, branches: 2 },
      { kind: "node", node: 1, level: 1, isBranch: true },
      { kind: "node", node: 2, level: 1, isBranch: false },
      { kind: "node", node: 3, level: 1, branches: 0 },
      { kind: "node", node: 4, level: 0, isBranch: false },
    ]);
  });

  it("the outline counts the nodes hidden below the deepest level", () => {
    const rows = rowsOf([-1, 0, 1, 2, 0], { ...nothingNotable, leaf: 4, levelMax: 0 });
    expect(rows).toMatchObject([
      { kind: "node", node: 0 },
      { kind: "hidden", level: 1, branches: 1, nodes: 3 },
      { kind: "node", node: 4 },
    ]);
  });

  it("holds a chain of any length on three rows. Verifies: P18", () => {
    const parents = Array.from({ length: many }, (_, i) => i - 1);
    expect(rowsOf(parents, { ...nothingNotable, leaf: many - 1 })).toMatchObject([
      { kind: "node", node: 0 },
      { kind: "run", nodes: many - 2 },
      { kind: "node", node: many - 1 },
    ]);
  });

  it("ends on any number of branches, and on a comb", () => {
    const fan = Array.from({ length: many }, (_, i) => (i === 0 ? -1 : 0));
    expect(rowsOf(fan)).toHaveLength(many);
    // Each spine node 2k has a tooth 2k + 1.
    const comb = Array.from({ length: 2 * many }, (_, i) => (i % 2 === 1 ? i - 1 : i - 2));
    comb[0] = -1;
    const rows = rowsOf(comb);
    expect(rows.reduce((deepest, { level }) => Math.max(deepest, level), 0)).toBe(1);
    expect(counted(rows)).toBe(2 * many);
  });
});

it("a tree shows thinking when an entry has nothing else", async () => {
  const { out } = await branchlog(["tree", fixture("kimi/kimi-2.1.0.jsonl")]);
  expect(out).toContain("(thinking) Thinking about it.");
});
