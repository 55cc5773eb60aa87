/**
 * Resolves ids and queries to entries. The index alone answers, so that only matching bodies are
 * read.
 */
import { bodyStream, pick, readRangeAsync } from "@branchlog/streaming";
import type { JsonToken, JsonValue, OptionNames } from "@branchlog/streaming";
import { invalidArgument, requireOneOf } from "../argument-checks.ts";
import { lineChunks, rowLines } from "../bodies/row-lines.ts";
import { BranchlogError } from "../errors.ts";
import { pathToRow } from "../index-table/tree-walk.ts";
import type { Engine } from "./engine.ts";
import { requireEntryId } from "../entries/identifiers.ts";

/** Selects entries, and their order. */
export interface EntryQuery {
  /** Only entries of this revision and later; revisions count from 1. */
  readonly from?: number;
  /** Only entries of this type. */
  readonly type?: string;
  /** Only entries of this extension. */
  readonly customType?: string;
  /**
   * `log`: all, in file order. `branch`: those on the path to the leaf, root first. Default `log`.
   */
  readonly on?: "log" | "branch";
  /** Last first. Default false. */
  readonly reverse?: boolean;
  /** Cancels the reading. */
  readonly signal?: AbortSignal;
}

export const queryNames: OptionNames<EntryQuery> = {
  from: true,
  type: true,
  customType: true,
  on: true,
  reverse: true,
  signal: true,
};

export function* rowsOf(
  engine: Engine,
  query: EntryQuery,
  leafId: string | null,
): Generator<number> {
  const { index } = engine;
  const { on = "log", from = 1 } = query;
  requireOneOf("on", on, ["log", "branch"]);
  if (!Number.isInteger(from) || from < 1) {
    throw invalidArgument(`from must be a revision ≥ 1, not ${from}`);
  }
  const kinds = matchingKinds(engine, query);
  for (const row of candidates(engine, query, leafId, from - 1)) {
    if (kinds !== null && kinds[index.rows.kind(row)] !== true) continue;
    yield row;
  }
}

function matchingKinds({ index }: Engine, query: EntryQuery): boolean[] | null {
  const { type, customType } = query;
  if (type === undefined && customType === undefined) return null;
  return index.kinds.kinds.map(
    (kind) =>
      (type === undefined || kind.type === type) &&
      (customType === undefined || kind.customType === customType),
  );
}

function* candidates(
  engine: Engine,
  query: EntryQuery,
  leafId: string | null,
  fromRow: number,
): Generator<number> {
  const path = query.on === "branch" ? engine.rowPath(leafId).rows : undefined;
  const count = path?.length ?? engine.log.state.revision;
  for (let i = 0; i < count; i += 1) {
    const at = query.reverse === true ? count - 1 - i : i;
    const row = path === undefined ? at : (path[at] ?? -1);
    if (row >= fromRow) yield row;
  }
}

/** The line of one entry, as stored: `JSON.parse` loses number forms, escapes, repeated keys. */
export interface EntryLine {
  readonly id: string;
  /** 1-based ordinal of the entry in its generation. */
  readonly revision: number;
  /**
   * One JSON object in UTF-8, from its first brace to its last, without newline, `\r`, or white
   * space around it. Null if the line is longer than `lineBytesMax`: read its chunks. It is a view
   * into a larger read; copy it to keep it.
   */
  readonly bytes: Buffer | null;
  /**
   * The same bytes, of lines of any length and in bounded memory; each call reads again. Lines of
   * versions 1 and 2 come whole.
   * @throws BranchlogError while it is read: `ERR_LOG_GONE`; `ERR_ENTRY_TOO_LARGE` for a line of
   * version 1 or 2.
   */
  readonly chunks: () => AsyncIterable<Buffer>;
}

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

/** The tokens of one entry, in order. */
export type BodyPart = AsyncGenerator<JsonToken>;

/** Throws `ERR_ENTRY_NOT_FOUND`; while reading, `ERR_ENTRY_DAMAGED`. */
export async function* openBodyStream(engine: Engine, id: string, signal?: AbortSignal): BodyPart {
  try {
    yield* bodyStream(bodyChunks(engine, id), signal === undefined ? {} : { signal });
  } catch (error) {
    throw bodyError(engine, id, error);
  }
}

/** Throws `ERR_ENTRY_NOT_FOUND`, `ERR_ENTRY_DAMAGED`, `ERR_ENTRY_TOO_LARGE`. */
export async function pickFromBody(
  engine: Engine,
  id: string,
  path: readonly (string | number)[],
  signal?: AbortSignal,
): Promise<JsonValue | undefined> {
  try {
    return await pick(bodyChunks(engine, id), path, signal === undefined ? {} : { signal });
  } catch (error) {
    throw bodyError(engine, id, error);
  }
}

function bodyChunks(engine: Engine, id: string): AsyncGenerator<Buffer> {
  const row = requireRow(engine, id);
  const { rows } = engine.index;
  return readRangeAsync(engine.log.file, rows.offset(row), rows.length(row));
}

function bodyError({ path }: Engine, id: string, cause: unknown): unknown {
  if (cause instanceof SyntaxError) {
    const message = `Entry ${id} of ${path} does not parse: ${cause.message}. Verify the log.`;
    return new BranchlogError("ERR_ENTRY_DAMAGED", message, { path, id, cause });
  }
  if (cause instanceof RangeError) {
    const message = `A value of entry ${id} of ${path} is too large to build. Use bodyStream(id).`;
    return new BranchlogError("ERR_ENTRY_TOO_LARGE", message, { path, id, cause });
  }
  return cause;
}

/** -1 if absent; throws `ERR_INVALID_ARGUMENT` for an id that is not a string. */
export function rowOfEntry({ index }: Engine, id: string): number {
  return index.rowOfId(requireEntryId(id));
}

/** Throws `ERR_ENTRY_NOT_FOUND`, `ERR_INVALID_ARGUMENT`. */
export function requireRow(engine: Engine, id: string): number {
  const row = rowOfEntry(engine, id);
  if (row < 0) throw notFound(engine, id);
  return row;
}

/**
 * If the entry turns out damaged, an earlier one with the same id may take its place; otherwise its
 * row stays a place in the tree, which paths omit.
 */
function settledRow(engine: Engine, id: string): number {
  const { index, bodies } = engine;
  for (let row = requireRow(engine, id); ;) {
    bodies.confirmSync(row);
    const instead = index.rowOfId(id);
    if (instead === row) return row;
    row = instead;
  }
}

/**
 * Without an id, the tail: of a transcript the end of its conversation, which need not be its last
 * row. Throws as `requireRow`.
 */
export function pathEndRow(engine: Engine, id: string | undefined): number {
  if (id !== undefined) return settledRow(engine, id);
  const { tailId } = engine.appender;
  return tailId === null ? -1 : engine.index.rowOfId(tailId);
}

/**
 * The rows of a path that is copied or exported. Transcripts are written by agents that find their
 * way around a lost parent: there the path continues at the entry before.
 */
export function copiedPath({ index, log }: Engine, endRow: number): Int32Array {
  return pathToRow(index, endRow, log.state.indexer.transcript !== undefined).rows;
}

/** Reads the entry whole. Throws `ERR_ENTRY_NOT_FOUND` also for a damaged one. */
export function requireNode(engine: Engine, id: string): void {
  if (!engine.index.isNode(settledRow(engine, id))) throw notFound(engine, id);
}

function notFound({ path }: Engine, id: string): BranchlogError {
  return new BranchlogError("ERR_ENTRY_NOT_FOUND", `Entry ${id} not found`, { path, id });
}
