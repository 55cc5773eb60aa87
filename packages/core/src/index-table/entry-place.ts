/** The place of an entry in its log, for reports. */
import type { IndexTable } from "./index-table.ts";
import type { LineMap } from "./line-map.ts";

/** An entry and its line. */
export interface EntryPlace {
  readonly id: string;
  /** 1-based. */
  readonly line: number;
  /** Byte offset of the line in the log. */
  readonly offset: number;
  /** Bytes of the line, without its newline. */
  readonly length: number;
}

/** The place of a row. O(log exceptions of the line map). */
export function entryPlace(
  { index, lines }: { readonly index: IndexTable; readonly lines: LineMap },
  row: number,
): EntryPlace {
  return {
    id: index.idOf(row),
    line: lines.lineOfRow(row),
    offset: index.rows.offset(row),
    length: index.rows.length(row),
  };
}
