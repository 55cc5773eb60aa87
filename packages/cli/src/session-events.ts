/** Pending events of sessions, merged to one per session: a slow reader gets fewer. */
import type { ListedSession } from "@branchlog/core";
import type { SessionListDifference } from "@branchlog/core/live";
import type { SessionEventKind } from "./text/session-line.ts";

/** An event of one session. */
export interface SessionEvent {
  readonly kind: SessionEventKind;
  readonly session: ListedSession;
}

/** See the file comment. */
export class PendingEvents {
  /** By path. */
  readonly #events = new Map<string, SessionEvent>();

  /** Merges an event into the pending ones. */
  add({ added, changed, removed }: SessionListDifference): void {
    for (const session of removed) this.#add("removed", session);
    for (const session of added) this.#add("added", session);
    for (const session of changed) this.#add("changed", session);
  }

  /** Returns and clears the pending events, the least recently changed session first. */
  take(): SessionEvent[] {
    const events = [...this.#events.values()];
    this.#events.clear();
    return events.sort((one, other) => one.session.modifiedMs - other.session.modifiedMs);
  }

  #add(kind: SessionEventKind, session: ListedSession): void {
    const known = this.#events.get(session.path)?.kind;
    const merged = known === undefined ? kind : mergedKind(known, kind);
    if (merged === undefined) this.#events.delete(session.path);
    else this.#events.set(session.path, { kind: merged, session });
  }
}

/** Merges two events that the reader has not seen; undefined if they cancel out. */
function mergedKind(one: SessionEventKind, other: SessionEventKind): SessionEventKind | undefined {
  if (one === "added") return other === "removed" ? undefined : "added";
  return other === "added" ? "changed" : other;
}
