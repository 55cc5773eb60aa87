/**
 * What an index is saved as, and made of again: what is known of each row and each id. Links, what
 * hides what, and the numbers of both follow from that, so that no file can say them otherwise.
 */
import type { SavedIds } from "./id-table.ts";
import type { Kind } from "./kind-table.ts";
import type { SavedRows } from "./row-table.ts";

/** See the file comment. */
export interface SavedIndex {
  readonly rows: SavedRows;
  readonly ids: SavedIds;
  readonly kinds: readonly Kind[];
}
