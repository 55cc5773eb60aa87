/**
 * Every entry of a log once, in order, and then new ones: cold, lossless, pulled. The cursor is a
 * row, and the log is read again after every wait, so that there is no gap between old and new
 * entries. If the log was replaced, that is an event, and all entries of the new log follow.
 */
import type { OptionNames } from "@branchlog/streaming";
import type { RowBody } from "../bodies/body-reader.ts";
import type { SessionEntry } from "../entries/entry-types.ts";
import { BranchlogError } from "../errors.ts";
import type { Engine } from "../session/engine.ts";
import type { LogState } from "../log/log-state.ts";
import type { LiveHub } from "./live-hub.ts";
import { isTransient } from "./live-value.ts";

/**
 * `entry`: the next one. `reset`: the log was replaced, cut or rewritten, or the session went to
 * another; earlier entries are void, and all entries of the current file follow. `migrated`: the
 * log has a newer form; its entries and their revisions are unchanged. Every kind declares the
 * properties of the others, so that an event can be destructured.
 */
export type EntryEvent =
  | {
      readonly kind: "entry";
      readonly entry: SessionEntry;
      readonly revision: number;
      readonly generation?: undefined;
    }
  | {
      readonly kind: "reset";
      readonly entry?: undefined;
      readonly revision?: undefined;
      readonly generation: number;
    }
  | {
      readonly kind: "migrated";
      readonly entry?: undefined;
      readonly revision?: undefined;
      readonly generation?: undefined;
    };

/** Which entries, and whether to wait for new ones. */
export interface EntryEventOptions {
  /** The revision to begin with. Default 1. */
  readonly from?: number;
  /** Whether to wait for new entries, until the session is closed. Default true. */
  readonly live?: boolean;
  readonly signal?: AbortSignal | undefined;
}

export const pushedEventNames: OptionNames<Omit<EntryEventOptions, "signal">> = {
  from: true,
  live: true,
};

export const entryEventNames: OptionNames<EntryEventOptions> = {
  ...pushedEventNames,
  signal: true,
};

/** Read synchronously at most: it was appended a moment ago, so it is in the page cache. */
const sharedBytesMax = 64 * 1024;

interface Place {
  /** Whether all entries that existed at the beginning were emitted. */
  isLive: boolean;
  readonly engine: Engine;
  readonly state: LogState;
  readonly generation: number;
  row: number;
  /** Lets the file of the log be closed. */
  readonly release: () => void;
}

export async function* entryEvents(
  source: LiveHub,
  options: EntryEventOptions,
): AsyncGenerator<EntryEvent, void, undefined> {
  const reader = {};
  try {
    yield* eventsFor(reader, source, options);
  } finally {
    source.succeeded(reader);
  }
}

async function* eventsFor(
  reader: object,
  source: LiveHub,
  { from = 1, live = true, signal }: EntryEventOptions,
): AsyncGenerator<EntryEvent, void, undefined> {
  let place = startOf(source.engine, from);
  try {
    for (;;) {
      signal?.throwIfAborted();
      const { version } = source;
      const { log } = source.engine;
      if (log.state !== place.state) {
        const before = place;
        const change = changeFrom(before, source.engine);
        place = { ...placeIn(source.engine), row: change === "reset" ? 0 : before.row };
        before.release();
        if (change === "reset") yield { kind: change, generation: place.generation };
        else if (change === "migrated") yield { kind: change };
      }
      try {
        yield* entriesAt(source, place, signal);
        source.succeeded(reader);
      } catch (error) {
        if (source.engine.log.state !== place.state) continue;
        // A log that was rewritten during the read is recognised as another one by the next read.
        if (!live || source.isClosed || !isTransient(error)) throw error;
        source.failed(reader, error);
      }
      if (source.engine.log.state !== place.state) continue;
      // Entries that arrive while the past is read are live ones.
      if (!live) return;
      if (source.version !== version) continue;
      if (source.isClosed) return;
      await source.changed(version, signal);
    }
  } finally {
    place.release();
  }
}

/** Advances the place; ends early if the log turns out to be another. */
async function* entriesAt(
  source: LiveHub,
  place: Place,
  signal: AbortSignal | undefined,
): AsyncGenerator<EntryEvent, void, undefined> {
  const { state } = place;
  const upTo = state.revision;
  for await (const { row, entry } of bodiesFrom(place, upTo, signal)) {
    if (source.engine.log.state !== state) return;
    place.row = row + 1;
    yield { kind: "entry", entry, revision: row + 1 };
  }
  place.row = Math.max(place.row, upTo);
  place.isLive = true;
}

/** A few new ones are read once for all readers; many are streamed, and not kept. */
function bodiesFrom(
  { state, row, isLive }: Place,
  upTo: number,
  signal: AbortSignal | undefined,
): Iterable<RowBody> | AsyncIterable<RowBody> {
  const isLittle = isLive && row < upTo && bytesFrom(state, row) <= sharedBytesMax;
  return isLittle
    ? sharedBodies(state, row, upTo)
    : state.bodies.entries(rowsUpTo(row, upTo), signal);
}

function* sharedBodies({ bodies }: LogState, from: number, to: number): Generator<RowBody> {
  for (let row = from; row < to; row += 1) {
    const entry = bodies.entrySync(row);
    if (entry !== undefined) yield { row, entry };
  }
}

function bytesFrom({ index, end }: LogState, row: number): number {
  return end - index.rows.offset(row);
}

function startOf(engine: Engine, from: number): Place {
  if (!Number.isInteger(from) || from < 1) {
    throw new BranchlogError("ERR_INVALID_ARGUMENT", `from must be a revision ≥ 1, not ${from}`);
  }
  return { ...placeIn(engine), row: from - 1 };
}

/** The file is retained: the session may be closed before its last events are pulled. */
function placeIn(engine: Engine): Place {
  const { state, generation, file } = engine.log;
  const release = file.retain(state);
  return { engine, state, generation, row: 0, isLive: false, release };
}

function changeFrom(before: Place, engine: Engine): "migrated" | "reset" | "same" {
  if (engine === before.engine) {
    return engine.log.generation === before.generation ? "migrated" : "reset";
  }
  return isContinuedBy(before, engine) ? "same" : "reset";
}

/** Whether another log is the same session with the entries read so far, like a published draft. */
function isContinuedBy({ state, row }: Place, { header, index }: Engine): boolean {
  if (state.indexer.header?.header.id !== header.id) return false;
  // A reader may start beyond the end of both.
  const known = Math.min(row, state.index.count);
  if (known > index.count) return false;
  for (let at = 0; at < known; at += 1) if (state.index.idOf(at) !== index.idOf(at)) return false;
  return true;
}

function* rowsUpTo(from: number, to: number): Generator<number> {
  for (let row = from; row < to; row += 1) yield row;
}

/**
 * `return()` of a plain async generator takes effect only after the promise that it awaits has
 * settled; this generator can be ended while it waits: `return()` and `throw()` call `end` first.
 */
export class EndableGenerator<T> implements AsyncGenerator<T, void, undefined> {
  readonly #items: AsyncGenerator<T, void, undefined>;
  readonly #end: () => void;

  /** @param end Settles the promise that the generator awaits. May be called more than once. */
  constructor(items: AsyncGenerator<T, void, undefined>, end: () => void) {
    this.#items = items;
    this.#end = end;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<T, void>> {
    return this.#items.next();
  }

  return(): Promise<IteratorResult<T, void>> {
    this.#end();
    return this.#items.return();
  }

  throw(error: unknown): Promise<IteratorResult<T, void>> {
    this.#end();
    return this.#items.throw(error);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }
}
