/** What an index is saved as, and made of again: the columns of its tables, and a few numbers. */
import type { SavedIds } from "./id-table.ts";
import type { Kind } from "./kind-table.ts";
import type { SavedRepeatedIds } from "./repeated-ids.ts";
import type { SavedRows } from "./row-table.ts";
import type { SavedSlots } from "./slot-table.ts";

/** See the file comment. */
export interface SavedIndex {
  readonly rows: SavedRows;
  readonly ids: SavedIds;
  readonly kinds: readonly Kind[];
  readonly slots: SavedSlots;
  readonly doubtful: readonly number[];
  readonly repeatedIds: SavedRepeatedIds;
  readonly shadowedCount: number;
  readonly damagedCount: number;
}
