/**
 * What the index knows of each id by its handle: the row that holds it, and its children. Children
 * are linked to the handle, so that they may come before the record of their parent.
 */
import {
  SavedPages,
  eachOf,
  grownCapacity,
  noPages,
  roomFor,
  savedColumn,
  withRoom,
} from "./saved-pages.ts";
import type { Column, ColumnKinds, PagedColumn, SavedColumn, SavedColumns } from "./saved-pages.ts";
import type { RowTable } from "./row-table.ts";

/** Rows, and how many of the children are shown. */
export interface ChildFacts {
  readonly first: number;
  readonly last: number;
  readonly shown: number;
}

/** By handle + 1. */
interface LinkColumns {
  readonly rowOf: Int32Array;
  readonly firstChild: Int32Array;
  /** 0 also for an only child: most are, so that most of its memory is never touched. */
  readonly lastChild: Int32Array;
  /** Children that are shown: neither shadowed nor damaged without shown children. */
  readonly shownChildren: Int32Array;
}

type LinkColumn = keyof LinkColumns;

/** One more than handles. */
export type SavedLinks = SavedColumns<LinkColumns>;

/** In the order of a checkpoint. */
export const linkColumns: ColumnKinds<LinkColumns> = {
  rowOf: Int32Array,
  firstChild: Int32Array,
  lastChild: Int32Array,
  shownChildren: Int32Array,
};

/**
 * By id handle, with -1 for the root. Rows are stored as row + 1, so that a new column, all zeros,
 * needs no filling.
 */
export class HandleTable {
  #rowOf: Int32Array = new Int32Array(16);
  #firstChild: Int32Array = new Int32Array(16);
  #lastChild: Int32Array = new Int32Array(16);
  #shownChildren: Int32Array = new Int32Array(16);
  /** Handles for which every column has memory; those of a checkpoint get it when they are read. */
  #capacity = 16;
  #pages: Readonly<Record<LinkColumn, SavedPages>> = eachOf(linkColumns, () => noPages);
  /** Links that may not have been read. */
  #savedCount = 0;

  rowOf(handle: number): number {
    if (handle + 1 < this.#savedCount) this.#pages.rowOf.touch(handle + 1);
    return (this.#rowOf[handle + 1] ?? 0) - 1;
  }

  setRow(handle: number, row: number): void {
    if (handle + 1 < this.#savedCount) this.#pages.rowOf.touch(handle + 1);
    this.#rowOf[handle + 1] = row + 1;
  }

  firstChild(handle: number): number {
    if (handle + 1 < this.#savedCount) this.#pages.firstChild.touch(handle + 1);
    return (this.#firstChild[handle + 1] ?? 0) - 1;
  }

  shownChildren(handle: number): number {
    if (handle + 1 < this.#savedCount) this.#pages.shownChildren.touch(handle + 1);
    return this.#shownChildren[handle + 1] ?? 0;
  }

  childrenAt(handle: number): ChildFacts {
    const shown = this.shownChildren(handle);
    return { first: this.firstChild(handle), last: this.#last(handle), shown };
  }

  show(handle: number, more: number): number {
    return (this.#shownChildren[handle + 1] = this.shownChildren(handle) + more);
  }

  linkLast(rows: RowTable, handle: number, row: number): void {
    const first = this.firstChild(handle);
    if (first < 0) {
      this.#firstChild[handle + 1] = row + 1;
      return;
    }
    const last = this.#last(handle);
    rows.setNextSibling(last < 0 ? first : last, row);
    this.#lastChild[handle + 1] = row + 1;
  }

  /** -1 also where the first child is the only one. */
  #last(handle: number): number {
    if (handle + 1 < this.#savedCount) this.#pages.lastChild.touch(handle + 1);
    return (this.#lastChild[handle + 1] ?? 0) - 1;
  }

  save(handles: number): Pick<SavedLinks, "count" | "columns"> {
    const count = handles + 1;
    const save = (pages: SavedPages, name: LinkColumn): SavedColumn =>
      savedColumn(count, () => this.columns[name], pages);
    return { count, columns: eachOf(this.#pages, save) };
  }

  restore({ count, columns, bounds }: SavedLinks, recover: PagedColumn["recover"]): void {
    this.#capacity = 0;
    this.#savedCount = count;
    this.#pages = eachOf(columns, (saved, name) => {
      const column = (): Column => this.#allocate(name, roomFor(count));
      return new SavedPages(saved, { column, bounds: bounds[name], recover });
    });
  }

  become(other: HandleTable): void {
    this.columns = other.columns;
    this.#capacity = other.#capacity;
    this.#pages = other.#pages;
    this.#savedCount = other.#savedCount;
  }

  /** Now: growing replaces them. */
  get columns(): LinkColumns {
    return {
      rowOf: this.#rowOf,
      firstChild: this.#firstChild,
      lastChild: this.#lastChild,
      shownChildren: this.#shownChildren,
    };
  }

  set columns(columns: LinkColumns) {
    this.#rowOf = columns.rowOf;
    this.#firstChild = columns.firstChild;
    this.#lastChild = columns.lastChild;
    this.#shownChildren = columns.shownChildren;
  }

  growFor(handles: number): void {
    if (handles < this.#capacity) return;
    // The first time after opening, there is room for some appends.
    const isSaved = this.#capacity === 0 && handles < roomFor(this.#savedCount);
    const room = isSaved ? roomFor(this.#savedCount) : grownCapacity(this.#capacity, handles + 1);
    this.reserve(room);
  }

  reserve(capacity: number): void {
    if (capacity <= this.#capacity) return;
    eachOf(linkColumns, (_, name) => this.#allocate(name, capacity));
    this.#capacity = capacity;
  }

  #allocate(name: LinkColumn, capacity: number): Column {
    this.columns = withRoom(linkColumns, this.columns, name, capacity);
    return this.columns[name];
  }
}
