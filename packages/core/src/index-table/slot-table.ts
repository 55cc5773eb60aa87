/**
 * What is known of each id slot, shifted by one so that the root's children have a place: the row
 * that holds the id, and the list of those that name it as their parent.
 */
import { grownCapacity, grownInt32 } from "./column.ts";

/** The columns, as long as there are slots and the root; restored ones may have room for more. */
export interface SavedSlots {
  readonly count: number;
  readonly rowOf: Int32Array;
  readonly firstChild: Int32Array;
  readonly lastChild: Int32Array;
  readonly shownChildren: Int32Array;
}

/** See the file comment. Columns are replaced as they grow: none is to be held. */
export class SlotTable {
  /** The row that holds the id, or -1. */
  rowOf: Int32Array = new Int32Array(16).fill(-1);
  firstChild: Int32Array = new Int32Array(16).fill(-1);
  lastChild: Int32Array = new Int32Array(16).fill(-1);
  /** Children that are shown: neither shadowed nor damaged without shown children. */
  shownChildren: Int32Array = new Int32Array(16);

  /** Bytes held by the columns, for reports. */
  get bytes(): number {
    return this.rowOf.byteLength * 4;
  }

  /** Makes room for so many slots, and more if that is not enough. */
  growFor(slots: number): void {
    const { length } = this.rowOf;
    if (slots + 1 > length) this.reserve(grownCapacity(length, slots + 1));
  }

  /** Makes room for so many elements at once. */
  reserve(capacity: number): void {
    if (capacity <= this.rowOf.length) return;
    this.rowOf = grownInt32(this.rowOf, capacity, -1);
    this.firstChild = grownInt32(this.firstChild, capacity, -1);
    this.lastChild = grownInt32(this.lastChild, capacity, -1);
    this.shownChildren = grownInt32(this.shownChildren, capacity, 0);
  }

  /** What there is of so many elements, as views that change with the table. */
  save(count: number): SavedSlots {
    return {
      count,
      rowOf: this.rowOf.subarray(0, count),
      firstChild: this.firstChild.subarray(0, count),
      lastChild: this.lastChild.subarray(0, count),
      shownChildren: this.shownChildren.subarray(0, count),
    };
  }

  /** Takes over what was saved; the columns are the table's from here on. */
  restore({ count, rowOf, firstChild, lastChild, shownChildren }: SavedSlots): void {
    this.rowOf = rowOf.fill(-1, count);
    this.firstChild = firstChild.fill(-1, count);
    this.lastChild = lastChild.fill(-1, count);
    this.shownChildren = shownChildren;
  }
}
