/**
 * The one error class of Branchlog. Every failure carries a stable code, typed facts and its cause;
 * match on `code`, never on the text. Damaged data is a diagnostic, not an error. As
 * `@branchlog/core/errors` it is there for programs that check an error without loading the engine.
 */

/** Stable error codes, alphabetical. Each has a heading in docs/errors.md. */
export const errorCodes = [
  "ERR_APPEND_FAILED",
  "ERR_APPEND_UNCERTAIN",
  "ERR_ARCHIVE_DAMAGED",
  "ERR_ARCHIVE_FAILED",
  "ERR_CLOSED",
  "ERR_CONFLICT",
  "ERR_CREATE_FAILED",
  "ERR_DELETE_FAILED",
  "ERR_DIVERGED",
  "ERR_DOCUMENT_DAMAGED",
  "ERR_DOCUMENT_REFUSED",
  "ERR_DUPLICATE_ID",
  "ERR_DURABILITY_UNKNOWN",
  "ERR_WAIT_TIMEOUT",
  "ERR_ENTRY_DAMAGED",
  "ERR_ENTRY_NOT_FOUND",
  "ERR_ENTRY_TOO_LARGE",
  "ERR_HEADER_DAMAGED",
  "ERR_INDEX_FAILED",
  "ERR_INTERRUPTED",
  "ERR_INVALID_ARGUMENT",
  "ERR_INVALID_SESSION_ID",
  "ERR_LOCK_TIMEOUT",
  "ERR_LOG_CHANGED",
  "ERR_LOG_EMPTY",
  "ERR_LOG_EXISTS",
  "ERR_LOG_GONE",
  "ERR_LOG_MISSING",
  "ERR_LOG_UNREADABLE",
  "ERR_MIGRATION",
  "ERR_NOT_A_SESSION",
  "ERR_OPERATION_NOT_FOUND",
  "ERR_OUTPUT_FAILED",
  "ERR_QUEUE_FULL",
  "ERR_READ_ONLY",
  "ERR_REDACTION_FAILED",
  "ERR_REPAIR_FAILED",
  "ERR_RESUME_FAILED",
  "ERR_SERVE_FAILED",
  "ERR_SESSION_AMBIGUOUS",
  "ERR_SESSION_BUSY",
  "ERR_SESSION_NOT_FOUND",
  "ERR_STORE_DENIED",
  "ERR_STORE_REFUSED",
  "ERR_STORE_SCHEMA",
  "ERR_STORE_UNAVAILABLE",
  "ERR_UNDO_REFUSED",
  "ERR_UNSERIALIZABLE",
  "ERR_VERSION_NEWER",
] as const;

/** One of `errorCodes`. */
export type ErrorCode = (typeof errorCodes)[number];

/** The holder of a lock, as far as other processes can tell. */
export interface LockHolder {
  /** Its process id, on the machine and in the container where it runs; null: unknown. */
  readonly pid: number | null;
  /** Whether it is this process. */
  readonly isOwnProcess: boolean;
  /** How long it has held the lock, in milliseconds. */
  readonly heldMs: number;
  /** How long ago it refreshed the lock, in milliseconds; live holders do so every 5 s. */
  readonly refreshedMsAgo: number;
}

/** Facts of a wait for a lock that timed out. */
export interface LockFacts {
  /** How often the lock, or the place in its queue, was checked. */
  readonly tries: number;
  /** How long the wait lasted, in milliseconds. */
  readonly waitedMs: number;
  /** How many waited in front at the end. */
  readonly ahead: number;
  /** The holder at the end, which need not be the one at the start; null: unknown. */
  readonly holder: LockHolder | null;
}

/** Typed facts that say what happened to which file. */
export interface ErrorFacts {
  /** The log that the failed operation was about. */
  readonly path?: string;
  /** Byte offset in that log. */
  readonly offset?: number;
  /** 1-based physical line number in that log. */
  readonly line?: number;
  /** 1-based column in that line, in UTF-16 units. */
  readonly column?: number;
  /** The entry id in question. */
  readonly id?: string;
  /** The tail that an expectation met instead of the expected one. */
  readonly tail?: string | null;
  /** Ids of entries of a failed append that are in the log nevertheless. */
  readonly written?: readonly string[];
  /** Ids of entries of a failed append that may be in the log: append them again with these ids. */
  readonly uncertain?: readonly string[];
  /** Paths of the matching sessions. */
  readonly candidates?: readonly string[];
  /** Of a wait for a lock: how long it was, and the holder of the lock. */
  readonly lock?: LockFacts;
  /** The underlying error. */
  readonly cause?: unknown;
}

/** The error class of every package of Branchlog; tell its kinds apart by `code`. */
export class BranchlogError extends Error {
  override readonly name: string = "BranchlogError";
  readonly code: ErrorCode;
  readonly path: string | undefined;
  readonly offset: number | undefined;
  readonly line: number | undefined;
  readonly column: number | undefined;
  readonly id: string | undefined;
  readonly tail: string | null | undefined;
  readonly written: readonly string[];
  readonly uncertain: readonly string[];
  readonly candidates: readonly string[];
  readonly lock: LockFacts | undefined;

  /** @param message The file, the failure, and what to do next. */
  constructor(code: ErrorCode, message: string, facts: ErrorFacts = {}) {
    super(message, "cause" in facts ? { cause: facts.cause } : undefined);
    this.code = code;
    this.path = facts.path;
    this.offset = facts.offset;
    this.line = facts.line;
    this.column = facts.column;
    this.id = facts.id;
    this.tail = facts.tail;
    this.written = facts.written ?? [];
    this.uncertain = facts.uncertain ?? [];
    this.candidates = facts.candidates ?? [];
    this.lock = facts.lock;
  }
}

/** Whether `error` is a {@link BranchlogError}, of the given code if one is given. */
export function isBranchlogError(error: unknown, code?: ErrorCode): error is BranchlogError {
  return error instanceof BranchlogError && (code === undefined || error.code === code);
}
