/** A column of a saved index as it would come back from a file, page by page, and believed. */
import { pageCount } from "../../../packages/core/src/index-table/saved-pages.ts";
import type { SavedColumn } from "../../../packages/core/src/index-table/saved-pages.ts";

/** With the bytes that the pages have now, perhaps changed. */
export function copyOf(
  column: SavedColumn,
  change: (bytes: Buffer) => void = () => undefined,
): SavedColumn {
  const pages = Array.from({ length: pageCount(column) }, (_, page) => {
    const bytes = Buffer.from(column.page(page));
    change(bytes);
    return bytes;
  });
  const page = (number: number): Buffer => pages[number] ?? Buffer.alloc(0);
  return { ...column, page, read: (number, target) => void page(number).copy(target) };
}
