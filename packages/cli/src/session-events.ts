/** What became of sessions and was not shown yet, one event for each: a slow reader gets fewer. */
import type { ListedSession } from "@branchlog/core";
import type { SessionListDifference } from "@branchlog/core/live";
import type { SessionEventKind } from "./text/session-line.ts";

/** What became of one session. */
export interface SessionEvent {
  readonly kind: SessionEventKind;
  readonly session: ListedSession;
}

/** See the file comment. */
export class PendingEvents {
  /** By path. */
  readonly #events = new Map<string, SessionEvent>();

  /** Takes in what comes after what is there. */
  add({ added, changed, removed }: SessionListDifference): void {
    for (const session of removed) this.#add("removed", session);
    for (const session of added) this.#add("added", session);
    for (const session of changed) this.#add("changed", session);
  }

  /** All of them, the session first whose last change is longest ago; and begins anew. */
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

/** What two events come to, of which the reader knows neither; undefined: to nothing. */
function mergedKind(one: SessionEventKind, other: SessionEventKind): SessionEventKind | undefined {
  if (one === "added") return other === "removed" ? undefined : "added";
  return other === "added" ? "changed" : other;
}
