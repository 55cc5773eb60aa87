/**
 * Access to the engine of a session until it is closed, and for observables. Sessions and session
 * managers register when they are made, so that the code of observables is loaded only for
 * subscribers.
 */
import type { LeafCursor } from "../append/leaf-cursor.ts";
import { BranchlogError } from "../errors.ts";
import type { ChangeSignal } from "../log/change-signal.ts";
import type { Engine } from "./engine.ts";

export interface WatchedSession {
  readonly engine: Engine;
  readonly leaf: LeafCursor;
  /** Signals every change of the log or the leaf, and when they are replaced. */
  readonly changes: ChangeSignal;
  /** Called after others' entries were read. */
  readonly onCaughtUp: () => void;
  /** Runs a function that reads a session, which may be closed. */
  readonly reading: <T>(read: () => T) => T;
  /** Closing is also a change: observables then complete. */
  readonly isClosed: () => boolean;
}

const sessions = new WeakMap<object, WatchedSession>();

export function makeWatchable(owner: object, session: WatchedSession): void {
  sessions.set(owner, session);
}

/** Throws `ERR_INVALID_ARGUMENT` for anything but a session or a session manager. */
export function watchedSession(owner: object): WatchedSession {
  const session = sessions.get(owner);
  if (session !== undefined) return session;
  const message =
    "live() takes a session or a session manager of Branchlog; the argument is neither";
  throw new BranchlogError("ERR_INVALID_ARGUMENT", message);
}

/** The engine of one session until it is closed; after that, only observables read it once more. */
export class EngineAccess {
  readonly engine: Engine;
  #isClosed = false;

  constructor(engine: Engine) {
    this.engine = engine;
  }

  open(): Engine {
    if (!this.#isClosed) return this.engine;
    throw sessionClosed(this.engine.path);
  }

  reading<T>(read: () => T): T {
    const wasClosed = this.#isClosed;
    this.#isClosed = false;
    try {
      return read();
    } finally {
      this.#isClosed = wasClosed;
    }
  }

  close(): void {
    this.#isClosed = true;
  }
}

export function sessionClosed(path: string): BranchlogError {
  const message = `The session ${path} was closed. Open it again.`;
  return new BranchlogError("ERR_CLOSED", message, { path });
}
