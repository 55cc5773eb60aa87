/** A saved index as it would come back from a file, page by page, and believed. */
import { pageCount } from "../../../packages/core/src/index-table/saved-pages.ts";
import type { SavedColumn } from "../../../packages/core/src/index-table/saved-pages.ts";
import type {
  RestoredIndex,
  SavedIndex,
} from "../../../packages/core/src/index-table/index-table.ts";

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

function copiesOf<Name extends string>(
  columns: Readonly<Record<Name, SavedColumn>>,
): Readonly<Record<Name, SavedColumn>> {
  const names = Object.keys(columns) as Name[];
  const copies = names.map((name) => [name, copyOf(columns[name])] as const);
  return Object.fromEntries(copies) as Record<Name, SavedColumn>;
}

export function savedAsIs(index: SavedIndex): RestoredIndex {
  const { rows, ids, links, ...rest } = index;
  const { seed, ...ofIds } = ids;
  const any = { min: Number.NEGATIVE_INFINITY, max: Number.POSITIVE_INFINITY };
  const anyRow = {
    offset: any,
    time: any,
    length: any,
    handle: any,
    parentHandle: any,
    nextSibling: any,
    kind: any,
    flags: any,
  };
  return {
    ...structuredClone(rest),
    rows: { count: rows.count, columns: copiesOf(rows.columns), bounds: anyRow },
    ids: { seed, ...copiesOf(ofIds) },
    links: { count: links.count, columns: copiesOf(links.columns), bounds: any },
  };
}
