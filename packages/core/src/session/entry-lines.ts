/**
 * Entries as the bytes of their lines, for whoever passes them on: copies, exports, `jq`. What
 * `JSON.parse` would not give back (number forms, escapes, repeated keys, invalid UTF-8) is there.
 */
import { lineChunks, rowLines } from "../bodies/row-lines.ts";
import type { Engine } from "./engine.ts";
import { rowsOf } from "./entry-query.ts";
import type { EntryQuery } from "./entry-query.ts";

/** The line of one entry. */
export interface EntryLine {
  readonly id: string;
  /** 1-based ordinal of the entry in its generation. */
  readonly revision: number;
  /**
   * One JSON object in UTF-8, from its first brace to its last: no newline, no `\r`, no white space
   * around it. Null if the line is longer than `lineBytesMax`: read its chunks. It is a view into a
   * larger read; copy it to keep it.
   */
  readonly bytes: Buffer | null;
  /**
   * The same bytes one after the other, of lines of any length and in bounded memory; each call
   * reads anew. Lines of versions 1 and 2 come whole.
   * @throws BranchlogError while it is read: `ERR_LOG_GONE`; `ERR_ENTRY_TOO_LARGE` for a line of
   * version 1 or 2.
   */
  readonly chunks: () => AsyncIterable<Buffer>;
}

/**
 * The lines that a query means, in its order; damaged ones are left out and reported. Entries too
 * large for one object are among them.
 * @throws BranchlogError `ERR_INVALID_ARGUMENT`, `ERR_LOG_GONE`.
 */
export async function* entryLines(
  engine: Engine,
  query: EntryQuery,
  leafId: string | null,
): AsyncGenerator<EntryLine> {
  const { path, settings } = engine;
  const { file, indexer, bodies } = engine.log.state;
  const { lineBytesMax } = settings;
  const source = { path, bytes: file, indexer, bodies, lineBytesMax };
  const { signal } = query;
  for await (const { row, bytes } of rowLines(source, rowsOf(engine, query, leafId), signal)) {
    const chunks = (): AsyncIterable<Buffer> =>
      bytes === null ? lineChunks(source, row, signal) : once(bytes);
    yield { id: indexer.index.idOf(row), revision: row + 1, bytes, chunks };
  }
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}
