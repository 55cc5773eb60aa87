/**
 * Entries of many rows at once, for callers that want them all as objects: those of pi's own shape
 * are lazy, so that a million cost about 100 MB; the others are read. None comes from a line that
 * was not read as JSON, now or earlier.
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
  /** Reads rows that are known by their envelopes only, and marks those that are damaged. */
  readonly confirmAll: (rows: readonly number[]) => void;
}

/**
 * The entries of rows, in their order; undefined where a body is damaged or too large for one
 * object. Lazy are `message` and `custom` entries of pi's own shape; all others are read at once,
 * in few large reads. An entry that ends in another object behind its message looks like pi's until
 * its body is read: only then is that field seen, and the row not handed out lazily again.
 */
function entriesOfRows(source: LazySource, rows: ArrayLike<number>): (SessionEntry | undefined)[] {
  confirm(source, rows);
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

/**
 * As {@link entriesOfRows}. Rows are asked for again as long as reading them finds damage: that may
 * bring back an earlier entry that a damaged one had hidden, and move the path.
 */
export function settledEntries(
  source: LazySource,
  rowsNow: () => ArrayLike<number>,
): (SessionEntry | undefined)[] {
  for (;;) {
    const { damagedCount } = source.index;
    const entries = entriesOfRows(source, rowsNow());
    if (source.index.damagedCount === damagedCount) return entries;
  }
}

function confirm({ index, confirmAll }: LazySource, rows: ArrayLike<number>): void {
  const unread: number[] = [];
  for (let i = 0; i < rows.length; i += 1) {
    const row = rows[i] ?? -1;
    // The others are read to be handed out, which confirms them.
    if (index.rows.is(row, rowFlags.provisional) && isLazy(index, row)) unread.push(row);
  }
  if (unread.length > 0) confirmAll(unread);
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
  if (!isLazy(index, row)) return undefined;
  const { customType } = index.kindOf(row);
  return customType === undefined
    ? lazyMessage(source, row, links)
    : lazyCustom(source, row, customType, links);
}

/** Whether the line of a row has pi's own shape of a message, or of an entry of an extension. */
function isLazy(index: IndexTable, row: number): boolean {
  const { rows } = index;
  if (!isReadable(index, row)) return false;
  const { type, customType } = index.kindOf(row);
  if (type === "message") {
    return rows.is(row, rowFlags.endsWithObject) && !rows.is(row, rowFlags.tailForm);
  }
  const isCustom = type === "custom" && customType !== undefined;
  return isCustom && rows.is(row, rowFlags.tailForm | rowFlags.hasPayload);
}
