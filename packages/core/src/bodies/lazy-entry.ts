/**
 * Entries of many rows at once, for callers that want them all as objects: those of pi's own shape
 * are lazy, so that a million cost about 100 MB and no parse; the others are read.
 */
import type { SessionEntry } from "../entries/entry-types.ts";
import type { IndexTable } from "../index-table/index-table.ts";
import { rowFlags } from "../index-table/row-table.ts";
import { bodyBytesMax } from "../limits.ts";
import type { RowBody } from "./body-reader.ts";
import { lazyCustom, lazyMessage } from "./lazy-object.ts";
import type { LazyBodies } from "./lazy-object.ts";
import { LinkText } from "./link-text.ts";

/** Where entries come from. Each lazy one holds on to it. */
export interface LazySource extends LazyBodies {
  /** Many bodies now, in the order of the rows, damaged ones left out. */
  readonly bodiesOf: (rows: Iterable<number>) => Iterable<RowBody>;
}

/**
 * The entries of rows, in their order; undefined where a body is damaged or too large for one
 * object. Lazy are `message` and `custom` entries of pi's own shape; all others are read at once,
 * in few large reads. An entry that ends in another object behind its message looks like pi's until
 * its body is read: only then is that field seen, and the row not handed out lazily again.
 */
export function entriesOfRows(
  source: LazySource,
  rows: ArrayLike<number>,
): (SessionEntry | undefined)[] {
  const entries: (SessionEntry | undefined)[] = [];
  const eager: number[] = [];
  const links = new LinkText(source.index);
  for (let i = 0; i < rows.length; i += 1) {
    const row = rows[i] ?? -1;
    const entry = lazyEntry(source, row, links);
    entries.push(entry);
    if (entry === undefined && isReadable(source.index, row)) eager.push(i);
  }
  fillEager(source, rows, eager, entries);
  return entries;
}

function fillEager(
  source: LazySource,
  rows: ArrayLike<number>,
  eager: readonly number[],
  entries: (SessionEntry | undefined)[],
): void {
  let at = 0;
  for (const { row, entry } of source.bodiesOf(eager.map((i) => rows[i] ?? -1))) {
    while (at < eager.length && rows[eager[at] ?? -1] !== row) at += 1;
    entries[eager[at] ?? -1] = entry;
    at += 1;
  }
}

function isReadable(index: IndexTable, row: number): boolean {
  return (
    row >= 0 && !index.rows.is(row, rowFlags.damaged) && index.rows.length(row) <= bodyBytesMax
  );
}

function lazyEntry(source: LazySource, row: number, links: LinkText): SessionEntry | undefined {
  const { index } = source;
  if (!isReadable(index, row)) return undefined;
  const { type, customType } = index.kindOf(row);
  if (type === "message" && isPiMessage(index, row)) {
    return lazyMessage(source, row, links);
  }
  if (type === "custom" && customType !== undefined && isPiCustom(index, row)) {
    return lazyCustom(source, row, customType, links);
  }
  return undefined;
}

function isPiMessage({ rows }: IndexTable, row: number): boolean {
  return rows.is(row, rowFlags.endsWithObject) && !rows.is(row, rowFlags.tailForm);
}

function isPiCustom({ rows }: IndexTable, row: number): boolean {
  return rows.is(row, rowFlags.tailForm | rowFlags.hasPayload);
}
