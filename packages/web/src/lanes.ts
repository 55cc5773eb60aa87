/**
 * The lanes of a tree whose nodes are rows in the order of a file: the first child goes on in the
 * lane of its parent, every other one in the lowest lane that is free from its parent's row to its
 * own. A row is added in O(1), and in O(rows since its parent) if it starts a branch. Pure.
 */
import type { RowLanes } from "./api.ts";

/** More branches than that at one row share the last lane: they are drawn over each other. */
export const lanesMax = 32;

const noRow = -1;

export class Lanes {
  #parents: Int32Array = new Int32Array(1024);
  #lanes: Uint8Array = new Uint8Array(1024);
  /** A bit for each lane whose line passes the row without being the entry's own. */
  #passing: Uint32Array = new Uint32Array(1024);
  /** Row of the first child. */
  #firstChild: Int32Array = new Int32Array(1024);
  /** Lanes of the other children, by row. */
  readonly #forks = new Map<number, number[]>();
  #count = 0;
  #laneCount = 1;
  #tipCount = 0;

  get rowCount(): number {
    return this.#count;
  }

  /** Lanes that any row needs, at least 1. */
  get laneCount(): number {
    return this.#laneCount;
  }

  /** Rows without children. */
  get tipCount(): number {
    return this.#tipCount;
  }

  /** @param parent An earlier row; any other number for a root. */
  add(parent: number): void {
    const row = this.#count;
    this.#grow(row + 1);
    this.#count = row + 1;
    this.#firstChild[row] = noRow;
    this.#passing[row] = 0;
    this.#tipCount += 1;
    if (parent < 0 || parent >= row) this.#addRoot(row);
    else this.#addChild(row, parent);
    this.#laneCount = Math.max(this.#laneCount, (this.#lanes[row] ?? 0) + 1);
  }

  at(row: number): RowLanes {
    const lane = this.#lanes[row] ?? 0;
    const passing = this.#passing[row] ?? 0;
    return {
      lane,
      up: (this.#parents[row] ?? noRow) !== noRow,
      down: (this.#firstChild[row] ?? noRow) !== noRow,
      forks: this.#forks.get(row) ?? [],
      passing: lanesOf(passing & ~(1 << lane)),
    };
  }

  /** -1 for a root. */
  parentOf(row: number): number {
    return this.#parents[row] ?? noRow;
  }

  /** Rows with more than one child, in order. */
  branchRows(max: number): number[] {
    return [...this.#forks.keys()].toSorted((one, other) => one - other).slice(0, max);
  }

  #addRoot(row: number): void {
    this.#parents[row] = noRow;
    // A root is not drawn over a line that may go on.
    this.#lanes[row] = row === 0 ? 0 : this.#freeLane(row, row);
  }

  #addChild(row: number, parent: number): void {
    this.#parents[row] = parent;
    const isFirst = this.#firstChild[parent] === noRow;
    if (isFirst && !this.#forks.has(parent)) this.#tipCount -= 1;
    const own = this.#lanes[parent] ?? 0;
    const isFree = isFirst && (this.#occupied(parent + 1, row) & (1 << own)) === 0;
    const lane = isFree ? own : this.#freeLane(parent + 1, row);
    this.#lanes[row] = lane;
    if (isFree) this.#firstChild[parent] = row;
    else {
      const forks = this.#forks.get(parent) ?? [];
      if (!forks.includes(lane)) forks.push(lane);
      this.#forks.set(parent, forks);
    }
    for (let at = parent + 1; at < row; at += 1) {
      this.#passing[at] = (this.#passing[at] ?? 0) | (1 << lane);
    }
  }

  /** Lanes with an entry or a line in the rows `[from, to)`. */
  #occupied(from: number, to: number): number {
    let lanes = 0;
    for (let at = from; at < to; at += 1) {
      lanes |= (this.#passing[at] ?? 0) | (1 << (this.#lanes[at] ?? 0));
    }
    return lanes;
  }

  #freeLane(from: number, to: number): number {
    const taken = this.#occupied(Math.max(0, Math.min(from, to - 1)), to);
    for (let lane = 0; lane < lanesMax; lane += 1) if ((taken & (1 << lane)) === 0) return lane;
    return lanesMax - 1;
  }

  #grow(rows: number): void {
    if (rows <= this.#parents.length) return;
    const length = Math.max(rows, 2 * this.#parents.length);
    this.#parents = grown(new Int32Array(length), this.#parents);
    this.#lanes = grown(new Uint8Array(length), this.#lanes);
    this.#passing = grown(new Uint32Array(length), this.#passing);
    this.#firstChild = grown(new Int32Array(length), this.#firstChild);
  }
}

function grown<T extends Int32Array | Uint8Array | Uint32Array>(to: T, from: T): T {
  to.set(from);
  return to;
}

function lanesOf(bits: number): number[] {
  const lanes: number[] = [];
  for (let lane = 0; lane < lanesMax; lane += 1) if ((bits & (1 << lane)) !== 0) lanes.push(lane);
  return lanes;
}
