/**
 * The lanes of a tree whose nodes are rows in the order of a file: the first child continues in the
 * lane of its parent, every other one in the lowest lane that is free from its parent's row to its
 * own. A parent below its child is joined by a line from it. A row is added in O(1), and if it
 * starts a branch in O(blocks of rows since its parent). Pure.
 */
import type { RowLanes } from "./api.ts";

/** More branches than that at one row share the last lane: they are drawn over each other. */
export const lanesMax = 32;

const noRow = -1;
const allLanes = 0xffff_ffff;

/** Of rows whose lanes are known together: long lines are not followed row by row. */
const blockRows = 512;

export class Lanes {
  #parents: Int32Array = new Int32Array(1024);
  #lanes: Uint8Array = new Uint8Array(1024);
  /** A bit for each lane whose line passes the row without being the entry's own. */
  #passing: Uint32Array = new Uint32Array(1024);
  /** Row of the first child. */
  #firstChild: Int32Array = new Int32Array(1024);
  /** Lanes of the other children, by row. */
  readonly #forks = new Map<number, number[]>();
  /** By row: lanes of lines to a parent below, and of lines from children above. */
  readonly #descents = new Map<number, number[]>();
  readonly #joins = new Map<number, number[]>();
  /** Parents below, by child, and children above that wait for them, by the row of the parent. */
  readonly #below = new Map<number, number>();
  readonly #waiting = new Map<number, number[]>();
  /** By block: lanes that pass all of its rows, and all that any row has. */
  #blockPassing: Uint32Array = new Uint32Array(2);
  #blockTaken: Uint32Array = new Uint32Array(2);
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

  /** @param parent A row, which may come later; -1 for a root. */
  add(parent: number): void {
    const row = this.#count;
    this.reserve(row + 1);
    this.#count = row + 1;
    this.#firstChild[row] = noRow;
    this.#passing[row] = 0;
    this.#tipCount += 1;
    if (parent < 0 || parent >= row) this.#addRoot(row);
    else this.#addChild(row, parent);
    const lane = this.#lanes[row] ?? 0;
    this.#laneCount = Math.max(this.#laneCount, lane + 1);
    const block = Math.floor(row / blockRows);
    this.#blockTaken[block] = (this.#blockTaken[block] ?? 0) | (1 << lane);
    if (parent > row) this.#waiting.set(parent, [...(this.#waiting.get(parent) ?? []), row]);
    if (this.#waiting.size === 0) return;
    for (const child of this.#waiting.get(row) ?? []) this.join(child, row);
    this.#waiting.delete(row);
  }

  /** Draws a line from a child, which was added as a root, to its parent below. */
  join(child: number, parent: number): void {
    if (!this.#joins.has(parent) && !this.#hasChild(parent)) this.#tipCount -= 1;
    this.#below.set(child, parent);
    const own = this.#lanes[child] ?? 0;
    const goesOn = (this.#firstChild[child] ?? noRow) !== noRow ? 1 << own : 0;
    const taken = this.#taken(child + 1, parent) | this.#passingAt(parent) | goesOn;
    const lane = (taken & (1 << own)) === 0 ? own : lowestFree(taken);
    this.#pass(lane, child + 1, parent);
    this.#laneCount = Math.max(this.#laneCount, lane + 1);
    this.#descents.set(child, [...(this.#descents.get(child) ?? []), lane]);
    const joins = this.#joins.get(parent) ?? [];
    if (!joins.includes(lane)) this.#joins.set(parent, [...joins, lane]);
  }

  #hasChild(row: number): boolean {
    return (this.#firstChild[row] ?? noRow) !== noRow || this.#forks.has(row);
  }

  at(row: number): RowLanes {
    const lane = this.#lanes[row] ?? 0;
    const passing = this.#passingAt(row);
    const forks = this.#forks.get(row) ?? [];
    const descents = this.#descents.get(row);
    const joins = this.#joins.get(row);
    return {
      lane,
      up: (this.#parents[row] ?? noRow) !== noRow,
      down: (this.#firstChild[row] ?? noRow) !== noRow,
      forks: descents === undefined ? forks : [...forks, ...descents],
      passing: lanesOf(passing & ~(1 << lane)),
      ...(joins === undefined ? {} : { joins }),
    };
  }

  /** -1 for a root. Damaged sessions have entries that are above themselves. */
  parentOf(row: number): number {
    const above = this.#parents[row] ?? noRow;
    return above === noRow ? (this.#below.get(row) ?? noRow) : above;
  }

  /** Rows with more than one child, in order. */
  branchRows(max: number): number[] {
    return [...this.#forks.keys()].toSorted((one, other) => one - other).slice(0, max);
  }

  #addRoot(row: number): void {
    this.#parents[row] = noRow;
    // A root is not drawn over a line that may continue.
    this.#lanes[row] = row === 0 ? 0 : this.#freeLane(row, row);
  }

  #addChild(row: number, parent: number): void {
    this.#parents[row] = parent;
    const isFirst = this.#firstChild[parent] === noRow;
    const hadChild = !isFirst || this.#forks.has(parent) || this.#joins.has(parent);
    if (!hadChild) this.#tipCount -= 1;
    const own = this.#lanes[parent] ?? 0;
    const isFree = isFirst && (this.#taken(parent + 1, row) & (1 << own)) === 0;
    const lane = isFree ? own : this.#freeLane(parent + 1, row);
    this.#lanes[row] = lane;
    if (isFree) this.#firstChild[parent] = row;
    else {
      const forks = this.#forks.get(parent) ?? [];
      if (!forks.includes(lane)) forks.push(lane);
      this.#forks.set(parent, forks);
    }
    this.#pass(lane, parent + 1, row);
  }

  #passingAt(row: number): number {
    return (this.#passing[row] ?? 0) | (this.#blockPassing[Math.floor(row / blockRows)] ?? 0);
  }

  /** A line of this lane passes the rows `[from, to)`. */
  #pass(lane: number, from: number, to: number): void {
    const bit = 1 << lane;
    for (let at = from; at < to;) {
      const block = Math.floor(at / blockRows);
      this.#blockTaken[block] = (this.#blockTaken[block] ?? 0) | bit;
      if (at % blockRows === 0 && at + blockRows <= to) {
        this.#blockPassing[block] = (this.#blockPassing[block] ?? 0) | bit;
        at += blockRows;
      } else {
        this.#passing[at] = (this.#passing[at] ?? 0) | bit;
        at += 1;
      }
    }
  }

  /** Lanes with an entry or a line in the rows `[from, to)`. */
  #taken(from: number, to: number): number {
    let lanes = 0;
    for (let at = from; at < to && lanes >>> 0 !== allLanes;) {
      if (at % blockRows === 0 && at + blockRows <= to) {
        lanes |= this.#blockTaken[at / blockRows] ?? 0;
        at += blockRows;
      } else {
        lanes |= this.#passingAt(at) | (1 << (this.#lanes[at] ?? 0));
        at += 1;
      }
    }
    return lanes;
  }

  #freeLane(from: number, to: number): number {
    return lowestFree(this.#taken(Math.max(0, Math.min(from, to - 1)), to));
  }

  /** Rows that come are added faster when their number was known. */
  reserve(rows: number): void {
    if (rows <= this.#parents.length) return;
    const length = Math.max(rows, 2 * this.#parents.length);
    this.#parents = grown(new Int32Array(length), this.#parents);
    this.#lanes = grown(new Uint8Array(length), this.#lanes);
    this.#passing = grown(new Uint32Array(length), this.#passing);
    this.#firstChild = grown(new Int32Array(length), this.#firstChild);
    const blocks = Math.ceil(length / blockRows);
    this.#blockPassing = grown(new Uint32Array(blocks), this.#blockPassing);
    this.#blockTaken = grown(new Uint32Array(blocks), this.#blockTaken);
  }
}

function grown<T extends Int32Array | Uint8Array | Uint32Array>(to: T, from: T): T {
  to.set(from);
  return to;
}

/** The last one, if none is free. */
function lowestFree(taken: number): number {
  for (let lane = 0; lane < lanesMax; lane += 1) if ((taken & (1 << lane)) === 0) return lane;
  return lanesMax - 1;
}

function lanesOf(bits: number): number[] {
  const lanes: number[] = [];
  for (let lane = 0; lane < lanesMax; lane += 1) if ((bits & (1 << lane)) !== 0) lanes.push(lane);
  return lanes;
}
