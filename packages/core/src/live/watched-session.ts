/**
 * What of a session can be watched: the log that it stands on now, its leaf, and a signal of what
 * happens to both. Session managers of agents, which go from log to log, are known here from their
 * making on, so that the adapters need nothing of what shows them live.
 */
import { BranchlogError } from "../errors.ts";
import type { ChangeSignal } from "../log/change-signal.ts";
import type { Engine } from "../session/engine.ts";
import type { LeafCursor } from "../append/leaf-cursor.ts";

/** See the file comment. */
export interface WatchedSession {
  /** The engine; another one after the session went to another log. */
  readonly engine: Engine;
  /** Where the session stands; another one with another engine. */
  readonly leaf: LeafCursor;
  /** Tells of everything that happens to the log or the leaf, and when they are others. */
  readonly changes: ChangeSignal;
  /** Reads what others appended, and lets a following leaf follow. */
  readonly refresh: () => void;
}

const sessions = new WeakMap<object, WatchedSession>();

/** Says what of a session manager can be watched. */
export function makeWatchable(manager: object, session: WatchedSession): void {
  sessions.set(manager, session);
}

/**
 * What of a session manager can be watched.
 * @throws BranchlogError `ERR_INVALID_ARGUMENT` for what is no manager of Branchlog.
 */
export function watchedSession(manager: object): WatchedSession {
  const session = sessions.get(manager);
  if (session !== undefined) return session;
  const message = "live() shows session managers of Branchlog; what it was given is none";
  throw new BranchlogError("ERR_INVALID_ARGUMENT", message);
}
