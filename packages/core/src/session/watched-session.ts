/**
 * What of a session can be watched: its log, its leaf, and a signal of changes to both. Sessions
 * and the session managers of agents, which go from log to log, register here when they are made,
 * so that neither needs the code of observables before something subscribes.
 */
import { BranchlogError } from "../errors.ts";
import type { ChangeSignal } from "../log/tracked-log.ts";
import type { Engine } from "./engine.ts";
import type { LeafCursor } from "../append/request.ts";

export interface WatchedSession {
  /** The engine; another one after the session went to another log. */
  readonly engine: Engine;
  /** The leaf of the session; another one with another engine. */
  readonly leaf: LeafCursor;
  /** Signals every change of the log or the leaf, and when they are others. */
  readonly changes: ChangeSignal;
  /** Reads what others appended, and lets a following leaf follow. */
  readonly refresh: () => void;
  /** Runs a function that reads a session, which may be closed. */
  readonly reading: <T>(read: () => T) => T;
  /** Whether it was closed, which is a change, too: its observables complete. */
  readonly isClosed: () => boolean;
}

const sessions = new WeakMap<object, WatchedSession>();

/** Registers a session or a session manager. */
export function makeWatchable(owner: object, session: WatchedSession): void {
  sessions.set(owner, session);
}

/**
 * What of a session or a session manager can be watched.
 * @throws BranchlogError `ERR_INVALID_ARGUMENT` for what is neither.
 */
export function watchedSession(owner: object): WatchedSession {
  const session = sessions.get(owner);
  if (session !== undefined) return session;
  const message =
    "live() takes a session or a session manager of Branchlog; what it was given is neither";
  throw new BranchlogError("ERR_INVALID_ARGUMENT", message);
}
