/**
 * The port for logs outside files of this machine, such as in a database. A store knows bytes and
 * their end, not sessions: they are returned unchanged, so that a log can move from a file to a
 * store and back. An append is a compare-and-set: its lines are stored if the log ends where the
 * writer expects. See docs/decisions/0041-logs-in-stores.md.
 */
import type { SessionOwner } from "../dialects/agent.ts";
import type { Answer } from "@branchlog/streaming";

/** The end of a log, or a place in it. */
export interface StoredPosition {
  /** Changes when another log takes the name, and when a log loses bytes. */
  readonly generation: string;
  /** Bytes before it; an entry has the same offset as in a file. */
  readonly at: number;
}

export type StoredAppend =
  /** The bytes are stored, and the log ends at `end`. */
  | { readonly kind: "appended"; readonly end: StoredPosition }
  /** The log already holds them there: an earlier call stored them, and its answer was lost. */
  | { readonly kind: "alreadyStored"; readonly end: StoredPosition }
  /** Nothing was stored: others appended. `since`: all of that, if the store has it at hand. */
  | { readonly kind: "conflict"; readonly end: StoredPosition; readonly since?: Buffer }
  /** Nothing was stored: the log has another generation, or there is none. */
  | { readonly kind: "gone" };

/** The part of a log read while it was opened. */
export interface OpenedLog {
  readonly end: StoredPosition;
  /** The first bytes, perhaps all. */
  readonly pieces: readonly Buffer[];
  /** How far the log has a saved index; that the log is the one it was saved for, was compared. */
  readonly indexedTo?: number | undefined;
}

/** Bytes of a log, `to` not among them. */
export interface LogRange {
  readonly from: number;
  readonly to: number;
}

/** A range, and perhaps bytes around it. */
export interface LogPart {
  /** Where the first piece begins. */
  readonly at: number;
  readonly pieces: readonly Buffer[];
}

/**
 * How a long log is opened without being read: an index of it that a session saved next to it, and
 * its bytes part by part. What is saved is derived: it may be missing, or anything.
 */
export interface StoredIndex {
  /** Rejects with `ERR_LOG_GONE` if the log is no longer the one that was opened. */
  readPart(range: LogRange, signal?: AbortSignal): Promise<LogPart>;
  /** The same, blocking, whether the log blocks or not. */
  readPartSync(range: LogRange): LogPart;
  /** As it was saved, for {@link OpenedLog.indexedTo}. */
  read(signal?: AbortSignal): AsyncIterable<Buffer> | Iterable<Buffer>;
  /** Up to where this object has read the log, or stored to it. */
  position(): Answer<IndexedPosition>;
  /** Replaces what was saved before, if that covers less. False: the store keeps another one. */
  save(position: IndexedPosition, pieces: readonly Buffer[], signal?: AbortSignal): Answer<boolean>;
}

/** A place in a log that tells it from one that was set back, and went on otherwise. */
export interface IndexedPosition {
  readonly at: number;
  readonly mark: string;
}

/** For some seconds at most, nobody else can append to the log. */
export interface LogLease {
  /** All that was stored since the position at which it was asked for. */
  readonly since: Buffer;
  /** As that of {@link StoredLog}, after `since`; it ends the lease. */
  append(bytes: Buffer): Promise<StoredAppend>;
  /** Does nothing if the lease has ended. */
  release(): void;
}

/** The line of an entry that a store lost, as by a failover to a standby that lagged behind. */
export interface LostLine {
  readonly id: string;
  /** Without its newline. */
  readonly line: string;
}

/**
 * One log in a store. Its methods answer later, or block until they can: `rejects` means that a
 * method that blocks throws.
 */
export interface StoredLog {
  readonly name: string;
  /** Its name in messages, and the path of a session in it. Without secrets. */
  readonly address: string;
  /** Every method blocks, for callers that cannot wait: none answers by a promise. */
  readonly isBlocking?: boolean;
  /** The only agent that writes it; undefined if sessions of ours may. */
  readonly owner?: SessionOwner | undefined;
  /** How long appends wait for the store, where the session does not say. */
  readonly lockWaitMs?: number | undefined;
  /** Once after opening, where the store gives it; then undefined. */
  takeOpened?(): OpenedLog | undefined;
  /** Undefined: a session reads the log whole. */
  readonly index?: StoredIndex | undefined;
  /**
   * The bytes from `from` on, in pieces, up to where the log ends when the last one is read.
   * Rejects with `ERR_LOG_GONE` if there is no log of that generation.
   */
  read(from: StoredPosition, signal?: AbortSignal): AsyncIterable<Buffer> | Iterable<Buffer>;
  /** Undefined: there is no such log. */
  end(signal?: AbortSignal): Answer<StoredPosition | undefined>;
  /**
   * All of the bytes, in one piece, if the log ends at `expected`; else none. Rejects with
   * `ERR_STORE_UNAVAILABLE` if nothing was stored for now, with another `ERR_STORE_*` if the store
   * refuses them. With `ERR_APPEND_UNCERTAIN`, or anything else, they may be stored: the same call
   * again tells.
   */
  append(expected: StoredPosition, bytes: Buffer, signal?: AbortSignal): Answer<StoredAppend>;
  /**
   * Waits until all bytes before `until` are as durable as those of an append that has resolved.
   * False: the log is gone, or was set back. Stores in which what can be read is durable lack it.
   */
  flush?(until: StoredPosition, signal?: AbortSignal): Answer<boolean>;
  /**
   * For a writer that met conflicts. Undefined: the log is gone. Without it, as in a log that
   * blocks, a writer tries again.
   */
  lease?(from: StoredPosition): Promise<LogLease | undefined>;
  /** Keeps lines that a session read and that the log has no more. Those it has are ignored. */
  reportLost?(lines: readonly LostLine[]): Answer<void>;
  /** What was reported, in that order; the log may have some of it again. */
  lostLines?(): Answer<readonly LostLine[]>;
  /**
   * Hints that bytes may have been added. They may be doubled, and late by some seconds, and must
   * not be lost. Never throws. Keeps the process alive until the returned function is called.
   */
  watch(onHint: () => void): () => void;
}

/** What a store knows of a session without reading it. */
export interface StoredFacts {
  /** Of the log. */
  readonly name: string;
  /** As that of its `StoredLog`. */
  readonly address: string;
  /** As in its header; undefined: its first lines have none. */
  readonly sessionId: string | undefined;
  /** As in its header. */
  readonly cwd: string | undefined;
  readonly sizeBytes: number;
  /** When it was last appended to. */
  readonly changedAt: Date;
}

/** Logs by name: letters, digits, `.`, `_` and `-`, the first one a letter or digit. */
export interface LogStore {
  /** Rejects with `ERR_LOG_MISSING`, `ERR_INVALID_ARGUMENT` for a name. */
  open(name: string, signal?: AbortSignal): Promise<StoredLog>;
  /** Whole or not at all. Rejects with `ERR_LOG_EXISTS`, `ERR_CREATE_FAILED`. */
  create(name: string, bytes: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<StoredLog>;
  /** Of all logs, in no particular order. */
  names(signal?: AbortSignal): AsyncIterable<string>;
  /** Rejects with `ERR_LOG_MISSING`. */
  remove(name: string): Promise<void>;
}

/** A store whose sessions can be listed. */
export interface ListingStore extends LogStore {
  list(signal?: AbortSignal): AsyncIterable<StoredFacts>;
  /** The same in the order of their last changes, the latest first, some at a time. */
  latest?(signal?: AbortSignal): AsyncIterable<StoredFacts>;
  /**
   * The logs that hold one of these texts, whatever its case, or more logs; undefined: all. Without
   * it, a search reads every log of the list.
   * @param isWanted Of a store whose logs are indexed: others are left out.
   */
  logsWith?(
    texts: readonly string[] | undefined,
    signal?: AbortSignal,
    isWanted?: (name: string) => boolean,
  ): AsyncIterable<StoredLog>;
  /** What the search index calls the store, of which a log never changes. Default: not indexed. */
  readonly indexedAs?: string;
}

/** A session in a store. */
export interface StoredSession {
  /** Where the log is kept, as `postgresStore()` of `@branchlog/postgres`. */
  readonly store: LogStore;
  /** The name of the log; that of a session created there is the session's id. */
  readonly id: string;
}

/** Callers without types may pass anything. */
export function isInStore<T extends { readonly store: LogStore }>(
  place: string | readonly string[] | T,
): place is T {
  const given: unknown = place;
  return typeof given === "object" && given !== null && "store" in given;
}
