/**
 * The tree of a log in memory. A parent link points at the handle of an id, not at a row: a parent
 * may come later in the file, and a record that repeats an id gets its children at once (it
 * *shadows* the earlier row, as in pi). Operations are O(1) unless their comment says otherwise.
 */
import { pause } from "@branchlog/streaming";
import type { Steps } from "@branchlog/streaming";
import { KindTable, RowTable, rowFlags } from "./row-table.ts";
import { HandleTable } from "./handle-table.ts";
import type { ChildFacts, SavedLinks } from "./handle-table.ts";
import { IdTable } from "./id-table.ts";
import type { SavedIds } from "./id-table.ts";
import { RepeatedIds } from "./repeated-ids.ts";
import type { SavedRepetitions } from "./repeated-ids.ts";
import type { Kind, RowFacts, SavedRows } from "./row-table.ts";

export class IndexTable {
  readonly ids: IdTable = new IdTable();
  readonly kinds: KindTable = new KindTable();
  readonly rows: RowTable = new RowTable();
  /**
   * To check although they may have children: rows that hide another row, that lost their last
   * child, or the row that hid them.
   */
  unverifiedRows: number[] = [];
  readonly #handles = new HandleTable();
  /** Rows in the tree: all but those whose ids are still bits. */
  #linkedRows = 0;
  #shadowedCount = 0;
  #damagedCount = 0;
  #structureVersion = 0;
  #strayCount = 0;
  #ownParentCount = 0;
  #isMarking = false;
  #repeatedIds: RepeatedIds = new RepeatedIds();
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

  /** Whether each parent is an earlier entry, and no id is repeated: each path has a root then. */
  get isOrdered(): boolean {
    return this.#strayCount === 0 && this.#ownParentCount === 0 && !this.#repeatedIds.isAny;
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

  /** Of the index as it is: it must not change while pages of it are taken. */
  save(): SavedIndex {
    this.linkPendingRows();
    this.#handles.growFor(this.ids.count);
    return {
      rows: this.rows.save(),
      ids: this.ids.save(),
      links: this.#handles.save(this.ids.count),
      kinds: this.kinds.save(),
      counts: {
        shadowed: this.#shadowedCount,
        damaged: this.#damagedCount,
        stray: this.#strayCount,
        ownParents: this.#ownParentCount,
      },
      ...this.#repeatedIds.save(),
      unverified: Int32Array.from(this.unverifiedRows),
    };
  }

  /**
   * Fills an empty index; its pages are read when they are needed. O(kinds, repeated ids).
   * @param recover Calls {@link IndexTable.become}: a page is not what was saved.
   */
  restore(saved: RestoredIndex, recover: () => void): void {
    this.rows.restore(saved.rows, recover);
    this.ids.restore(saved.ids, recover);
    this.#handles.restore(saved.links, recover);
    for (const kind of saved.kinds) this.kinds.add(kind);
    this.#repeatedIds.restore(saved);
    for (const row of saved.unverified) this.unverifiedRows.push(row);
    this.#linkedRows = this.rows.count;
    this.#shadowedCount = saved.counts.shadowed;
    this.#damagedCount = saved.counts.damaged;
    this.#strayCount = saved.counts.stray;
    this.#ownParentCount = saved.counts.ownParents;
  }

  /** Takes the contents of another index of the same log, which is no longer used. */
  become(other: IndexTable): void {
    this.rows.become(other.rows);
    this.ids.become(other.ids);
    this.kinds.become(other.kinds);
    this.#handles.become(other.#handles);
    this.#repeatedIds = other.#repeatedIds;
    this.unverifiedRows = other.unverifiedRows;
    this.#linkedRows = other.#linkedRows;
    this.#shadowedCount = other.#shadowedCount;
    this.#damagedCount = other.#damagedCount;
    this.#strayCount = other.#strayCount;
    this.#ownParentCount = other.#ownParentCount;
    this.#structureVersion += 1;
    // The operation was half applied to the previous index.
    if (this.#isMarking) throw new RebuiltIndex();
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

  /** Of a handle, or of `rootHandle`. */
  childrenAt(handle: number): ChildFacts {
    return this.#handles.childrenAt(Math.max(handle, -1));
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
    this.#isMarking = true;
    try {
      this.#markDamaged(row);
    } catch (error) {
      if (!(error instanceof RebuiltIndex)) throw error;
      // Nothing of the new index has to be read.
      this.#markDamaged(row);
    } finally {
      this.#isMarking = false;
    }
  }

  #markDamaged(row: number): void {
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
    if (parent === handle) this.#ownParentCount += 1;
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
      // Below zero only by a checkpoint; then a circle would not end.
      if (shown !== 0 || parent < 0) return;
      if (!this.rows.is(parent, rowFlags.damaged)) {
        this.unverifiedRows.push(parent);
        return;
      }
      at = this.#linkHandle(parent);
    }
  }
}

class RebuiltIndex extends Error {}

interface SavedTree extends SavedRepetitions {
  readonly kinds: readonly Kind[];
  readonly counts: {
    readonly shadowed: number;
    readonly damaged: number;
    readonly stray: number;
    readonly ownParents: number;
  };
  readonly unverified: Int32Array;
}

export interface SavedIndex extends SavedTree {
  readonly rows: Pick<SavedRows, "count" | "columns">;
  readonly ids: SavedIds;
  readonly links: Pick<SavedLinks, "count" | "columns">;
}

export interface RestoredIndex extends SavedTree {
  readonly rows: SavedRows;
  readonly ids: SavedIds;
  readonly links: SavedLinks;
}
