/**
 * The tree of a log in memory. A parent link points at the handle of an id, not at a row: a parent
 * may come later in the file, and a record that repeats an id gets its children at once (it
 * *shadows* the earlier row, as in pi). Operations are O(1) unless their comment says otherwise.
 */
import { pause } from "@branchlog/streaming";
import type { Steps } from "@branchlog/streaming";
import { grownCapacity, grown, KindTable, RowTable, rowFlags } from "./row-table.ts";
import { IdTable } from "./id-table.ts";
import type { SavedIds } from "./id-table.ts";
import type { Kind, RowFacts, SavedRows } from "./row-table.ts";

const spareHandles = 1024;

export class IndexTable {
  readonly ids: IdTable = new IdTable();
  readonly kinds: KindTable = new KindTable();
  readonly rows: RowTable = new RowTable();
  /**
   * To check although they may have children: rows that hide another row, that lost their last
   * child, or the row that hid them.
   */
  readonly unverifiedRows: number[] = [];
  readonly #handles = new HandleTable();
  /** Rows in the tree: all but those whose ids are still bits. */
  #linkedRows = 0;
  #shadowedCount = 0;
  #damagedCount = 0;
  #structureVersion = 0;
  #strayCount = 0;
  readonly #repeatedIds = new RepeatedIds();
  readonly #onRepeatedId: (row: number, earlier: number) => void;

  constructor(onRepeatedId: (row: number, earlier: number) => void = () => undefined) {
    this.#onRepeatedId = onRepeatedId;
  }

  get count(): number {
    return this.rows.count;
  }

  /** Readable rows that a later record with the same id hides. */
  get shadowedCount(): number {
    return this.#shadowedCount;
  }

  get damagedCount(): number {
    return this.#damagedCount;
  }

  /** Unchanged by a new leaf or root: results can then be extended with the new rows. */
  get structureVersion(): number {
    return this.#structureVersion;
  }

  get strayCount(): number {
    return this.#strayCount;
  }

  add(facts: RowFacts): number {
    this.linkPendingRows();
    const row = this.rows.add(facts);
    this.#handles.growFor(this.ids.count);
    this.#linkNew(row);
    this.#linkedRows = this.rows.count;
    return row;
  }

  /**
   * For rows whose handles are still the bits of hex ids; {@link IndexTable.linkPendingRows} links
   * them.
   */
  addWords(facts: RowFacts): number {
    return this.rows.add(facts);
  }

  linkPendingRows(): void {
    const { rows } = this;
    const { count } = rows;
    if (this.#linkedRows === count) return;
    rows.resolveWords(this.ids, this.#linkedRows);
    this.#handles.growFor(this.ids.count);
    for (let row = this.#linkedRows; row < count; row += 1) this.#linkNew(row);
    this.#linkedRows = count;
  }

  *reserve(rows: number): Steps<void> {
    this.rows.reserve(rows);
    yield pause;
    this.ids.reserve(rows);
    yield pause;
    this.#handles.reserve(rows + 2);
  }

  /** Views that change with the index. */
  save(): SavedIndex {
    this.linkPendingRows();
    return {
      rows: this.rows.save(),
      ids: this.ids.save(),
      kinds: this.kinds.save(),
    };
  }

  /** Fills an empty index with saved columns, and links its rows; reports nothing. O(rows). */
  restore(saved: SavedIndex): void {
    const { rows } = this;
    rows.restore(saved.rows);
    this.ids.restore(saved.ids);
    for (const kind of saved.kinds) this.kinds.add(kind);
    this.#handles.reserve(this.ids.count + spareHandles + 1);
    const damaged = this.#handles.linkAll(saved.rows, rows, (row) => this.#link(row));
    this.#linkedRows = rows.count;
    for (const row of damaged) this.markDamaged(row);
  }

  rowOfId(id: string): number {
    const handle = this.ids.find(id);
    return handle < 0 ? -1 : this.rowOfHandle(handle);
  }

  /** -1 for an id that is only used as a parentId. */
  rowOfHandle(handle: number): number {
    return handle < 0 ? -1 : this.#handles.rowOf(handle);
  }

  idOf(row: number): string {
    return this.ids.idAt(this.rows.handle(row));
  }

  parentIdOf(row: number): string | null {
    const handle = this.rows.parentHandle(row);
    return handle < 0 ? null : this.ids.idAt(handle);
  }

  kindOf(row: number): Kind {
    return this.kinds.at(this.rows.kind(row));
  }

  isNode(row: number): boolean {
    return !this.rows.is(row, rowFlags.damaged) && !this.rows.is(row, rowFlags.shadowed);
  }

  hasChildren(row: number): boolean {
    return this.#handles.shownChildren(this.rows.handle(row)) > 0;
  }

  /** The first linked child of a handle (or of `rootHandle`); raw: see {@link isNode}. */
  firstChildOf(handle: number): number {
    return this.#handles.firstChild(Math.max(handle, -1));
  }

  /**
   * The latest readable row of its id is shown again, or else the last of all. O(1), or O(rows of
   * its id).
   */
  markDamaged(row: number): void {
    if (this.rows.is(row, rowFlags.damaged)) return;
    this.rows.mark(row, rowFlags.damaged, rowFlags.provisional);
    this.#damagedCount += 1;
    this.#structureVersion += 1;
    if (this.rows.is(row, rowFlags.shadowed)) {
      this.#shadowedCount -= 1;
      return;
    }
    const hidden = this.#repeatedIds.readableBefore(row, (one) =>
      this.rows.is(one, rowFlags.damaged),
    );
    const last = this.#repeatedIds.lastOf(row);
    if (hidden >= 0) this.#bringBack(hidden, row);
    else {
      if (!this.hasChildren(row)) this.#hide(this.#linkHandle(row));
      if (last !== row) this.#handOn(row, last);
    }
  }

  #linkHandle(row: number): number {
    const parent = this.rows.parentHandle(row);
    return parent === this.rows.handle(row) || parent < 0 ? -1 : parent;
  }

  #linkNew(row: number): void {
    const earlier = this.#link(row);
    if (earlier >= 0) this.#onRepeatedId(row, earlier);
  }

  #link(row: number): number {
    const handle = this.rows.handle(row);
    const earlier = this.#handles.rowOf(handle);
    if (earlier >= 0 || this.#handles.firstChild(handle) >= 0) this.#structureVersion += 1;
    this.#handles.setRow(handle, row);
    const parent = this.rows.parentHandle(row);
    if (parent >= 0 && this.#handles.rowOf(parent) < 0) this.#strayCount += 1;
    this.#handles.linkLast(this.rows, this.#linkHandle(row), row);
    if (earlier >= 0) this.#shadow(earlier, row);
    this.#show(this.#linkHandle(row));
    return earlier;
  }

  #shadow(row: number, by: number): void {
    this.#repeatedIds.hide(row, by);
    this.unverifiedRows.push(by);
    const wasShown = this.isNode(row) || this.hasChildren(row);
    this.rows.mark(row, rowFlags.shadowed);
    if (!this.rows.is(row, rowFlags.damaged)) this.#shadowedCount += 1;
    if (wasShown) this.#hide(this.#linkHandle(row));
  }

  #bringBack(hidden: number, instead: number): void {
    this.#repeatedIds.bringBack(hidden, instead);
    this.#shadowedCount -= 1;
    this.#hold(hidden, instead);
    this.unverifiedRows.push(hidden);
    this.#show(this.#linkHandle(hidden));
    this.#hide(this.#linkHandle(instead));
  }

  #handOn(row: number, last: number): void {
    this.#hold(last, row);
    if (!this.hasChildren(row)) return;
    this.#show(this.#linkHandle(last));
    this.#hide(this.#linkHandle(row));
  }

  #hold(row: number, instead: number): void {
    this.rows.mark(row, 0, rowFlags.shadowed);
    this.rows.mark(instead, rowFlags.shadowed);
    this.#handles.setRow(this.rows.handle(row), row);
  }

  /** Counts one more shown child; a damaged parent that gains its first becomes shown. */
  #show(handle: number): void {
    for (let at = handle; at >= 0;) {
      const shown = this.#handles.show(at, 1);
      const parent = this.rowOfHandle(at);
      if (shown > 1 || parent < 0 || !this.rows.is(parent, rowFlags.damaged)) return;
      at = this.#linkHandle(parent);
    }
  }

  /** Counts one shown child less; a damaged parent that loses its last becomes hidden. */
  #hide(handle: number): void {
    for (let at = handle; at >= 0;) {
      const shown = this.#handles.show(at, -1);
      const parent = this.rowOfHandle(at);
      if (shown > 0 || parent < 0) return;
      if (!this.rows.is(parent, rowFlags.damaged)) {
        this.unverifiedRows.push(parent);
        return;
      }
      at = this.#linkHandle(parent);
    }
  }
}

/** Derived from the order of rows, and from which of them are damaged. */
const derivedFlags = rowFlags.damaged | rowFlags.shadowed;

/**
 * By id handle, with -1 for the root. Rows are stored as row + 1, so that a new column, all zeros,
 * needs no filling.
 */
class HandleTable {
  #rowOf: Int32Array = new Int32Array(16);
  #firstChild: Int32Array = new Int32Array(16);
  #lastChild: Int32Array = new Int32Array(16);
  /** Children that are shown: neither shadowed nor damaged without shown children. */
  #shownChildren: Int32Array = new Int32Array(16);

  rowOf(handle: number): number {
    return (this.#rowOf[handle + 1] ?? 0) - 1;
  }

  setRow(handle: number, row: number): void {
    this.#rowOf[handle + 1] = row + 1;
  }

  firstChild(handle: number): number {
    return (this.#firstChild[handle + 1] ?? 0) - 1;
  }

  shownChildren(handle: number): number {
    return this.#shownChildren[handle + 1] ?? 0;
  }

  show(handle: number, more: number): number {
    return (this.#shownChildren[handle + 1] = this.shownChildren(handle) + more);
  }

  linkLast(rows: RowTable, handle: number, row: number): void {
    const last = (this.#lastChild[handle + 1] ?? 0) - 1;
    if (last < 0) this.#firstChild[handle + 1] = row + 1;
    else rows.setNextSibling(last, row);
    this.#lastChild[handle + 1] = row + 1;
  }

  /**
   * As if no row were damaged or hidden; rows that repeat an id are left to `linkRepeated`. Returns
   * the damaged ones. One loop over bare columns: opening a large log waits for it.
   */
  linkAll(saved: SavedRows, rows: RowTable, linkRepeated: (row: number) => void): number[] {
    const { count, handle, parentHandle, flags } = saved;
    const [rowOf, firstChild] = [this.#rowOf, this.#firstChild];
    const [lastChild, shownChildren] = [this.#lastChild, this.#shownChildren];
    const damaged: number[] = [];
    for (let row = 0; row < count; row += 1) {
      const marks = flags[row] ?? 0;
      if ((marks & derivedFlags) !== 0) {
        if ((marks & rowFlags.damaged) !== 0) damaged.push(row);
        flags[row] = marks & ~derivedFlags;
      }
      const at = (handle[row] ?? 0) + 1;
      if (rowOf[at] !== 0) {
        linkRepeated(row);
        continue;
      }
      rowOf[at] = row + 1;
      const parentAt = (parentHandle[row] ?? 0) + 1;
      const under = parentAt <= 0 || parentAt === at ? 0 : parentAt;
      const last = lastChild[under] ?? 0;
      if (last === 0) firstChild[under] = row + 1;
      else rows.setNextSibling(last - 1, row);
      lastChild[under] = row + 1;
      if (under > 0) shownChildren[under] = (shownChildren[under] ?? 0) + 1;
    }
    return damaged;
  }

  growFor(handles: number): void {
    const { length } = this.#rowOf;
    if (handles + 1 > length) this.reserve(grownCapacity(length, handles + 1));
  }

  reserve(capacity: number): void {
    if (capacity <= this.#rowOf.length) return;
    this.#rowOf = grown(Int32Array, this.#rowOf, capacity);
    this.#firstChild = grown(Int32Array, this.#firstChild, capacity);
    this.#lastChild = grown(Int32Array, this.#lastChild, capacity);
    this.#shownChildren = grown(Int32Array, this.#shownChildren, capacity);
  }
}

/**
 * The holder of an id is the last of its rows that is readable, or the last of all, in whatever
 * order rows are found to be damaged.
 */
export class RepeatedIds {
  readonly #hidden = new Map<number, number>();
  readonly #last = new Map<number, number>();

  hide(row: number, by: number): void {
    this.#hidden.set(by, row);
  }

  readableBefore(row: number, isDamaged: (row: number) => boolean): number {
    let other = this.#hidden.get(row);
    while (other !== undefined && isDamaged(other)) other = this.#hidden.get(other);
    return other ?? -1;
  }

  bringBack(row: number, instead: number): void {
    this.#last.set(row, this.lastOf(instead));
  }

  lastOf(row: number): number {
    return this.#last.get(row) ?? row;
  }
}

/** Links and shadowed rows follow from it, so that no file can contradict it. */
export interface SavedIndex {
  readonly rows: SavedRows;
  readonly ids: SavedIds;
  readonly kinds: readonly Kind[];
}
