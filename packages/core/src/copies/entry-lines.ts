/**
 * The lines of entries as they are copied to another session: in the current form, byte for byte
 * but for what an older version or the copy has to change. Read in few large reads; long lines
 * that stay as they are pass through in chunks; nothing is cached.
 */
import { readRange } from "@branchlog/streaming";
import { planReads, readFullySync } from "../bodies/body-reader.ts";
import { currentVersion, entryForm } from "../dialects/header.ts";
import { migrateLine } from "../dialects/migrate-line.ts";
import { isEmptyLinks, relinkLine } from "../dialects/object-members.ts";
import type { NewLinks } from "../dialects/object-members.ts";
import { rowFlags } from "../index-table/row-table.ts";
import { bodyBytesMax } from "../limits.ts";
import type { Engine } from "../session/engine.ts";

/** A row and its line, without newline. */
export interface EntryLine {
  readonly row: number;
  /** Null if the line is over `lineBytesMax` and needs no change for its version. */
  readonly line: Buffer | null;
}

/** The lines of rows, in the given order. Of damaged rows too: leave them out before. */
export function* entryLines(engine: Engine, rows: Iterable<number>): Generator<EntryLine> {
  const { index, bodies, log, settings } = engine;
  const isCurrent = entryForm(log.state.indexer.header?.version ?? currentVersion) === 3;
  for (const read of planReads(index.rows, rows)) {
    const [first] = read.rows;
    // A long line is always read alone.
    if (isCurrent && first !== undefined && index.rows.length(first) > settings.lineBytesMax) {
      for (const row of read.rows) yield { row, line: null };
      continue;
    }
    const bytes = Buffer.allocUnsafe(read.length);
    readFullySync(log.file, bytes, read.length, read.offset);
    for (const row of read.rows) {
      const start = index.rows.offset(row) - read.offset;
      const stored = bytes.subarray(start, start + index.rows.length(row));
      const line = isCurrent
        ? stored
        : migrateLine(stored, { ...bodies.upcastContext(row), kind: "entry" });
      yield { row, line };
    }
  }
}

/**
 * The bytes of a line with these links, and its newline.
 * @throws BranchlogError `ERR_ENTRY_TOO_LARGE` for a line that needs other links and cannot be held
 * to get them.
 */
export function* relinkedLine(
  { bodies, index, log }: Engine,
  { row, line }: EntryLine,
  links: NewLinks,
): Generator<Buffer> {
  if (line !== null) yield relinkLine(line, links);
  else if (isEmptyLinks(links)) {
    yield* readRange(log.file, index.rows.offset(row), index.rows.length(row));
  } else yield relinkLine(bodies.lineSync(row), links);
  yield newline;
}

/**
 * Those of the rows whose bodies parse, in their order. Rows that were indexed without a parse get
 * it now, so that no copy holds what only looked like an entry.
 */
export function readableRows(engine: Engine, rows: Iterable<number>): number[] {
  const { index, bodies } = engine;
  const all = [...rows];
  const unsure = all.filter(
    (row) => index.rows.is(row, rowFlags.provisional) && index.rows.length(row) <= bodyBytesMax,
  );
  bodies.confirmAllSync(unsure);
  return all.filter((row) => !index.rows.is(row, rowFlags.damaged));
}

/** What ends a line. */
export const newline: Buffer = Buffer.from("\n");
