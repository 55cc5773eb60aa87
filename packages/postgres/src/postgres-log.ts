/**
 * One log of a store in PostgreSQL: rows of whole batches, each with its offset. The last stored
 * batch is identified by its offset and a random mark, so that a log that a failover set back, and
 * that others then continued, is not mistaken for the one that was read.
 */
import { isUtf8 } from "node:buffer";
import { BranchlogError } from "@branchlog/core";
import type {
  IndexedPosition,
  LogLease,
  LogPart,
  LogRange,
  LostLine,
  OpenedLog,
  StoredAppend,
  StoredLog,
  StoredPosition,
} from "@branchlog/core/types";
import { storedLogError } from "@branchlog/core/files";
import { literalOf } from "./connections.ts";
import type { Connections, Transaction } from "./connections.ts";
import type { AppendCall } from "./grouped-appends.ts";
import { PostgresIndex } from "./postgres-index.ts";
import type { ReadPartSync } from "./postgres-index.ts";
import { inSchema, quotedName } from "./schema.ts";
import { sqlStateOf } from "./store-errors.ts";
import { goneState } from "./store-functions.ts";

/** The size of one request. */
export const readBytes: number = 4 * 1024 * 1024;

/** A writer that has a lease and is silent for longer loses it, and appends as any other. */
const leaseMsMax = 1_000;

/** PostgreSQL's limit for a value is 1 GiB; the library needs room to quote it. */
const lineBytesMax: number = 256 * 1024 * 1024;

type RowQuery = Transaction["query"];

export interface LogSetting {
  readonly connections: Connections;
  readonly schema: string;
  /** Whether appends wait for the disk of the server, and for its synchronous standbys. */
  readonly synced: boolean;
  readonly append: (call: AppendCall, signal?: AbortSignal) => Promise<string>;
  readonly onAppended: (id: string) => void;
  readonly watch: (id: string, onHint: () => void) => () => void;
  readonly lockWaitMs: number | undefined;
  /** Undefined: none of this process can block for the database. */
  readonly readPartSync: ReadPartSync | undefined;
}

/** The answer of the function if it appended nothing. bigint is text, but in JSON. */
type AppendAnswer =
  | { readonly answer: "gone" }
  | { readonly answer: "alreadyStored"; readonly ends: number; readonly mark: string }
  | {
      readonly answer: "conflict";
      readonly ends: number;
      readonly mark: string;
      readonly since: string | null;
    };

/** With the first bytes of the log; without them if it is empty, or has an index. */
export interface OpenRow extends BatchRow {
  readonly id: string;
  /** How far there is an index of the log, whose last batch has `marked`. */
  readonly indexed_to: string | null;
  readonly index_key: string | null;
}

interface BatchRow {
  /** Null if there are no bytes. */
  readonly starts: string | null;
  readonly marked: string;
  readonly ends: string;
  readonly text_body: string | null;
  readonly raw_body: Buffer | null;
}

/** Null: there is no such log; `since` is null if it is long, or no text. */
interface LeaseRow {
  readonly ends: string | null;
  readonly marked: string | null;
  readonly since: string | null;
}

export class PostgresLog implements StoredLog {
  readonly name: string;
  readonly address: string;
  readonly #id: string;
  readonly #setting: LogSetting;
  /** The end of the batch that this object read or stored last, and its mark. */
  #last: IndexedPosition | undefined;

  #opened: readonly OpenRow[];

  /** Undefined where no thread can block for it. */
  readonly index: PostgresIndex | undefined;

  get lockWaitMs(): number | undefined {
    return this.#setting.lockWaitMs;
  }

  constructor(name: string, id: string, opened: readonly OpenRow[], setting: LogSetting) {
    this.name = name;
    this.address = `${setting.connections.shown}#${encodeURIComponent(name)}`;
    this.#id = id;
    this.#opened = opened;
    this.#setting = setting;
    const { readPartSync } = setting;
    if (readPartSync === undefined) return;
    this.index = new PostgresIndex({
      id,
      key: opened[0]?.index_key ?? undefined,
      last: () => this.#knownPosition(),
      query: (signal) => this.#queryUnless(signal),
      readPart: (range, signal) => this.readPart(range, this.#knownPosition(), signal),
      readPartSync: (range) => readPartSync({ name, id }, this.#knownPosition(), range),
    });
  }

  takeOpened(): OpenedLog | undefined {
    const rows = this.#opened;
    this.#opened = [];
    const [row] = rows;
    if (row === undefined) return undefined;
    const end = { generation: row.id, at: Number(row.ends) };
    if (row.indexed_to !== null && this.index !== undefined) {
      this.#last = { at: Number(row.indexed_to), mark: row.marked };
      return { end, pieces: [], indexedTo: this.#last.at };
    }
    const pieces = rows.filter(({ starts }) => starts !== null);
    return { end, pieces: Array.from(this.#piecesIn(pieces, 0)) };
  }

  /** Of the log that has that mark. Rejects with `ERR_LOG_GONE`. */
  async readPart(
    { from, to }: LogRange,
    known: IndexedPosition,
    signal?: AbortSignal,
  ): Promise<LogPart> {
    const query = this.#queryUnless(signal);
    const pieces: Buffer[] = [];
    let [at, position] = [from, from];
    while (position < to) {
      const bytes = Math.min(readBytes, to - position);
      const rows = await this.#rows({ generation: this.#id, at: position }, query, bytes, known);
      for (const row of rows) {
        const piece = bytesIn(row);
        if (pieces.length === 0) at = Number(row.starts);
        position = Number(row.starts) + piece.length;
        pieces.push(piece);
      }
      if (rows.length === 0) throw storedLogError("gone", this.name);
    }
    return { at, pieces };
  }

  async end(signal?: AbortSignal): Promise<StoredPosition | undefined> {
    const [row] = await this.#queryUnless(signal)<{ readonly id: string; readonly ends: string }>(
      "SELECT id, ends FROM SCHEMA.log_end($1)",
      [this.name],
    );
    return row && { generation: row.id, at: Number(row.ends) };
  }

  read(from: StoredPosition, signal?: AbortSignal): AsyncGenerator<Buffer, void, undefined> {
    return this.#read(from, undefined, this.#queryUnless(signal));
  }

  /** @param known Where the log ends, if that is known, to avoid a useless request. */
  async *#read(
    { generation, at }: StoredPosition,
    known: number | undefined,
    query: RowQuery,
  ): AsyncGenerator<Buffer, void, undefined> {
    let asked = at === known ? undefined : this.#rows({ generation, at }, query);
    try {
      for (let position = at; asked !== undefined;) {
        const rows = await asked;
        const pieces = Array.from(this.#piecesIn(rows, position));
        for (const piece of pieces) position += piece.length;
        const end = rows.at(-1)?.ends;
        const isOver = position === known || end === undefined || position >= Number(end);
        // The store works on what comes next while this is taken.
        asked = isOver ? undefined : this.#rows({ generation, at: position }, query);
        asked?.catch(() => undefined);
        yield* pieces;
      }
    } finally {
      // Of a reader that stopped before.
      await asked?.catch(() => undefined);
    }
  }

  async append(
    expected: StoredPosition,
    bytes: Buffer,
    signal?: AbortSignal,
  ): Promise<StoredAppend> {
    const { append } = this.#setting;
    const answer = await this.#append(expected, bytes, (call) => append(call, signal));
    if (answer.kind === "appended") this.#setting.onAppended(expected.generation);
    return answer;
  }

  async flush({ generation, at }: StoredPosition, signal?: AbortSignal): Promise<boolean> {
    const [row] = await this.#queryUnless(signal, true)<{ readonly done: boolean }>(
      "SELECT SCHEMA.flush_log($1, $2, $3, $4) AS done",
      [generation, at, this.#markAt(at), this.#setting.synced],
    );
    return row?.done === true;
  }

  async reportLost(lines: readonly LostLine[]): Promise<void> {
    await this.#queryUnless()("SELECT SCHEMA.report_lost($1, $2, $3)", [
      this.#id,
      lines.map(({ id }) => id),
      lines.map(({ line }) => line),
    ]);
  }

  lostLines(): Promise<readonly LostLine[]> {
    const text = "SELECT id, line FROM SCHEMA.lost_lines($1)";
    return this.#queryUnless()<LostLine>(text, [this.#id]);
  }

  async lease({ generation, at }: StoredPosition): Promise<LogLease | undefined> {
    const { connections, schema, synced } = this.#setting;
    const place = [generation, at, this.#markAt(at)].map((value) => literalOf(value));
    const transaction = await connections.beginWith<LeaseRow>(
      `SELECT ends, marked, since FROM ${quotedName(schema)}.lease_log(${place.join(", ")})`,
      leaseMsMax,
    );
    try {
      const [row] = transaction.rows;
      if (row === undefined || row.ends === null) {
        await transaction.rollback();
        return undefined;
      }
      const end = { generation, at: Number(row.ends) };
      const query: RowQuery = (text, values) => transaction.query(inSchema(text, schema), values);
      const since = await this.#leasedSince(at, end, row, query);
      const send = async ({ log, at: from, mark, text, raw }: AppendCall): Promise<string> => {
        const values = [log, from, mark, text, raw, synced].map((value) => literalOf(value));
        // Texts of a session may have any word: nothing is replaced in them.
        const [stored] = await transaction.commitWith<{ readonly answer: string }>(
          `SELECT ${quotedName(schema)}.append(${values.join(", ")}) AS answer`,
        );
        if (stored === undefined) throw new Error("an append without an answer");
        return stored.answer;
      };
      return {
        since,
        append: async (bytes) => {
          const answer = await this.#append(end, bytes, send);
          this.#setting.onAppended(generation);
          return answer;
        },
        release: () => void transaction.rollback(),
      };
    } catch (error) {
      await transaction.rollback();
      throw error;
    }
  }

  async #leasedSince(
    at: number,
    end: StoredPosition,
    { marked, since }: LeaseRow,
    query: RowQuery,
  ): Promise<Buffer> {
    if (since !== null && marked !== null) {
      this.#last = { at: end.at, mark: marked };
      return Buffer.from(since);
    }
    const pieces: Buffer[] = [];
    for await (const piece of this.#read({ ...end, at }, end.at, query)) pieces.push(piece);
    return Buffer.concat(pieces);
  }

  async #append(
    { generation, at }: StoredPosition,
    bytes: Buffer,
    send: (call: AppendCall) => Promise<string>,
  ): Promise<StoredAppend> {
    requireStorable(bytes, this.address);
    const mark = this.#markAt(at);
    const answer = await send({ log: generation, at, mark, ...columnsOf(bytes) });
    const until = at + bytes.length;
    if (!answer.startsWith("{")) {
      this.#last = { at: until, mark: answer };
      return { kind: "appended", end: { generation, at: until } };
    }
    // Decoding boundary: the result of the function.
    const told = JSON.parse(answer) as AppendAnswer;
    if (told.answer === "gone") return { kind: "gone" };
    const end = { generation, at: told.ends };
    if (told.answer === "alreadyStored") {
      this.#last = { at: until, mark: told.mark };
      return { kind: "alreadyStored", end };
    }
    if (told.since === null) return { kind: "conflict", end };
    this.#last = { at: end.at, mark: told.mark };
    return { kind: "conflict", end, since: Buffer.from(told.since) };
  }

  watch(onHint: () => void): () => void {
    return this.#setting.watch(this.#id, onHint);
  }

  *#piecesIn(rows: readonly BatchRow[], at: number): Generator<Buffer, void, undefined> {
    let position = at;
    for (const row of rows) {
      const piece = bytesIn(row).subarray(position - Number(row.starts));
      position += piece.length;
      this.#last = { at: position, mark: row.marked };
      yield piece;
    }
  }

  /** @param known Where this log has which mark; else `at`, if this object knows that of there. */
  async #rows(
    { generation, at }: StoredPosition,
    query: RowQuery,
    bytes = readBytes,
    known?: IndexedPosition,
  ): Promise<readonly BatchRow[]> {
    const place = known ?? { at, mark: this.#markAt(at) };
    try {
      return await query<BatchRow>(
        "SELECT starts, marked, ends, text_body, raw_body FROM SCHEMA.read_log($1, $2, $3, $4, $5)",
        [generation, place.at, place.mark, at, bytes],
      );
    } catch (error) {
      const isGone = error instanceof BranchlogError && sqlStateOf(error.cause) === goneState;
      throw isGone ? storedLogError("gone", this.name) : error;
    }
  }

  #knownPosition(): IndexedPosition {
    if (this.#last === undefined) throw storedLogError("gone", this.name);
    return this.#last;
  }

  #markAt(at: number): string | null {
    return this.#last?.at === at ? this.#last.mark : null;
  }

  #queryUnless(signal?: AbortSignal, isCommit = false): RowQuery {
    const { connections, schema } = this.#setting;
    return (text, values) =>
      connections.query(inSchema(text, schema), values, { signal, isCommit });
  }
}

function bytesIn({ raw_body: raw, text_body: text }: BatchRow): Buffer {
  return raw ?? Buffer.from(text ?? "");
}

export interface BatchColumns {
  readonly text: string | null;
  readonly raw: Buffer | null;
}

/** PostgreSQL's text holds neither NUL nor invalid UTF-8. */
export function columnsOf(bytes: Buffer): BatchColumns {
  const isText = isUtf8(bytes) && !bytes.includes(0);
  return isText ? { text: bytes.toString("utf8"), raw: null } : { text: null, raw: bytes };
}

/** Throws `ERR_ENTRY_TOO_LARGE`. */
export function requireStorable(bytes: { readonly length: number }, address: string): void {
  if (bytes.length <= lineBytesMax) return;
  const message =
    `${bytes.length} bytes of ${address} are one line, or one write; a store in ` +
    `PostgreSQL takes up to ${lineBytesMax}. Nothing was stored. Keep large data in a ` +
    "file of its own, and its path in the entry.";
  throw new BranchlogError("ERR_ENTRY_TOO_LARGE", message);
}
