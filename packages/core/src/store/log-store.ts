/**
 * The port for logs that are kept elsewhere than in a file of this machine, as in a database. A
 * store knows bytes and where they end, not sessions: they come back as they were given, whatever
 * they are, so that a log can move from a file into a store and back. What an append needs is
 * compare-and-set: its lines are stored if the log ends where the writer thinks.
 * See docs/decisions/0041-logs-in-stores.md.
 */

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
  | { readonly kind: "landed"; readonly end: StoredPosition }
  /** Nothing was stored: others appended. */
  | { readonly kind: "overtaken"; readonly end: StoredPosition }
  /** Nothing was stored: the log has another generation, or there is none. */
  | { readonly kind: "gone" };

/** One log in a store. */
export interface StoredLog {
  readonly name: string;
  /**
   * The bytes from `from` on, in pieces, up to where the log ends when the last one is read.
   * Rejects with `ERR_LOG_GONE` if there is no log of that generation.
   */
  read(from: StoredPosition, signal?: AbortSignal): AsyncIterable<Buffer>;
  /** Undefined: there is no such log. */
  end(signal?: AbortSignal): Promise<StoredPosition | undefined>;
  /**
   * All of the bytes, in one piece, if the log ends at `expected`; else none. If it rejects, they
   * may be stored: the same call again tells.
   */
  append(expected: StoredPosition, bytes: Buffer, signal?: AbortSignal): Promise<StoredAppend>;
  /** Hints that bytes may have been added; late, doubled or lost ones do no harm. Never throws. */
  watch(onHint: () => void): () => void;
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
