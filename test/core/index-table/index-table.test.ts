import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rootHandle, rowFlags } from "../../../packages/core/src/index-table/row-table.ts";
import { IndexTable } from "../../../packages/core/src/index-table/index-table.ts";
import {
  childrenOfHandle,
  pathToRow,
  tipRows,
} from "../../../packages/core/src/index-table/tree-walk.ts";
import { cycleRows, treeView } from "../../../packages/core/src/projections/tree.ts";

interface Node {
  readonly id: string;
  readonly parent: string | null;
  readonly damaged: boolean;
}

function indexOf(nodes: readonly Node[]): IndexTable {
  const index = new IndexTable();
  addTo(index, nodes);
  return index;
}

function addTo(index: IndexTable, nodes: readonly Node[]): void {
  const before = index.count;
  for (const { id, parent } of nodes) {
    index.add({
      offset: index.count * 100,
      length: 99,
      handle: index.ids.add(id),
      parentHandle: parent === null ? rootHandle : index.ids.add(parent),
      kind: index.kinds.add({ type: "message", role: "user", customType: undefined }),
      time: index.count,
      flags: rowFlags.provisional,
    });
  }
  for (const [at, { damaged }] of nodes.entries()) if (damaged) index.markDamaged(before + at);
}

/**
 * The plain meaning: the last readable record of an id is its node, damaged ones are seen through.
 */
class Reference {
  readonly #nodes: readonly Node[];
  readonly #rowOf = new Map<string, number>();

  constructor(nodes: readonly Node[]) {
    this.#nodes = nodes;
    for (const [row, node] of nodes.entries()) {
      const earlier = nodes[this.#rowOf.get(node.id) ?? -1];
      const hidesReadable = node.damaged && earlier?.damaged === false;
      if (!hidesReadable) this.#rowOf.set(node.id, row);
    }
  }

  isNode(row: number): boolean {
    const node = this.#nodes[row];
    return node !== undefined && !node.damaged && this.#rowOf.get(node.id) === row;
  }

  parentRow(row: number): number {
    const parent = this.#nodes[row]?.parent ?? null;
    return parent === null ? -1 : (this.#rowOf.get(parent) ?? -1);
  }

  path(row: number): number[] {
    const path: number[] = [];
    const seen = new Set<number>();
    for (let at = row; at >= 0 && !seen.has(at); at = this.parentRow(at)) {
      seen.add(at);
      if (this.#nodes[at]?.damaged !== true) path.push(at);
    }
    return path.reverse();
  }

  /** The next readable row above, or -1. */
  shownParent(row: number): number {
    const seen = new Set<number>();
    for (let at = this.parentRow(row); at >= 0 && !seen.has(at); at = this.parentRow(at)) {
      seen.add(at);
      if (this.#nodes[at]?.damaged !== true) return at === row ? -1 : at;
    }
    return -1;
  }

  children(row: number): number[] {
    return this.rows().filter((other) => this.isNode(other) && this.shownParent(other) === row);
  }

  tips(): number[] {
    return this.rows().filter((row) => this.isNode(row) && this.children(row).length === 0);
  }

  rows(): number[] {
    return this.#nodes.map((_, row) => row);
  }
}

const ids = fc.constantFrom("00000001", "00000002", "deadbeef", "x", "long-identifier-é", "", "y");

/** Random logs in which ids repeat, parents come later or never, and lines are damaged. */
const logs = fc.array(
  fc.record({ id: ids, parent: fc.option(ids, { nil: null }), damaged: fc.boolean() }),
  { maxLength: 12 },
);

/** Random logs without cycles: parents are earlier in the alphabet. */
const acyclicLogs = logs.map((nodes) =>
  nodes.map((node) => ({
    ...node,
    parent: node.parent !== null && node.parent < node.id ? node.parent : null,
  })),
);

describe("the index of a tree", () => {
  it("has the paths, children and tips of a naive reading of the log", () => {
    fc.assert(
      fc.property(acyclicLogs, fc.nat(12), (nodes, read) => {
        // Damage is found after all entries, or before the last ones come.
        const index = indexOf(nodes.slice(0, read));
        addTo(index, nodes.slice(read));
        const reference = new Reference(nodes);
        for (const row of reference.rows()) {
          expect(index.isNode(row)).toBe(reference.isNode(row));
          if (!reference.isNode(row)) continue;
          expect([...pathToRow(index, row).rows]).toEqual(reference.path(row));
          const handle = index.rows.handle(row);
          expect(childrenOfHandle(index, handle)).toEqual(reference.children(row));
        }
        expect(tipRows(index)).toEqual(reference.tips());
      }),
      { numRuns: 2000 },
    );
  });

  it("walks every input to an end, cycles and repeated ids included (Verifies: P18)", () => {
    fc.assert(
      fc.property(logs, (nodes) => {
        const index = indexOf(nodes);
        const reference = new Reference(nodes);
        const reached = new Set<string>();
        const tree = treeView(index);
        const open = [...tree.roots];
        for (let id = open.pop(); id !== undefined; id = open.pop()) {
          if (reached.has(id)) continue;
          reached.add(id);
          open.push(...tree.children(id));
        }
        const nodeIds = reference.rows().filter((row) => reference.isNode(row));
        expect(reached.size).toBe(nodeIds.length);
        for (const row of reference.rows()) {
          if (index.isNode(row))
            expect([...pathToRow(index, row).rows]).toEqual(reference.path(row));
        }
        expect(tree.size).toBe(nodeIds.length);
      }),
      { numRuns: 2000 },
    );
  });

  it("searches a gap once when a cycle leads there repeatedly (Verifies: P18)", () => {
    const count = 20_000;
    const gap = Array.from({ length: count }, (_, i) => ({ id: `d${i}`, parent: "gone" }));
    const index = indexOf([
      { id: "start", parent: `d${count - 1}`, damaged: false },
      ...gap.map((node) => ({ ...node, damaged: true })),
    ]);
    let looks = 0;
    const is = index.rows.is.bind(index.rows);
    const counted = (row: number, flag: number): boolean => ((looks += 1), is(row, flag));
    Object.defineProperty(index.rows, "is", { value: counted });
    const found = pathToRow(index, 0, true);
    expect([[...found.rows], found.cyclic]).toEqual([[0], true]);
    expect(looks).toBeLessThan(10 * count);
  });

  it("walks a chain of 1,000,000 entries and a fan-out of 100,000 children (Verifies: P18)", () => {
    const bytesBefore = process.memoryUsage().arrayBuffers;
    const index = new IndexTable();
    const kind = index.kinds.add({ type: "message", role: "user", customType: undefined });
    let parentHandle: number = rootHandle;
    for (let i = 0; i < 1_000_000; i += 1) {
      const handle = index.ids.add(i.toString(16).padStart(8, "0"));
      index.add({ offset: i, length: 1, handle, parentHandle, kind, time: i, flags: 0 });
      parentHandle = handle;
    }
    expect(pathToRow(index, 999_999).rows.length).toBe(1_000_000);
    for (let i = 0; i < 100_000; i += 1) {
      const handle = index.ids.add(`leaf-${i}`);
      index.add({ offset: i, length: 1, handle, parentHandle, kind, time: i, flags: 0 });
    }
    expect(childrenOfHandle(index, parentHandle)).toHaveLength(100_000);
    expect(tipRows(index)).toHaveLength(100_000);
    expect(cycleRows(index)).toEqual([]);
    const bytes = process.memoryUsage().arrayBuffers - bytesBefore;
    expect(bytes / index.count).toBeLessThan(120);
  });
});
