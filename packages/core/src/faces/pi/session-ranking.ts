/**
 * Sessions kept in the order of a list while they arrive in any other: latest change first, ties in
 * the order of their files. The order is total, so the same files give the same list.
 */
import type { SessionInfo } from "./session-info.ts";

interface Ranked {
  readonly session: SessionInfo;
  readonly modifiedMs: number;
  readonly position: number;
}

/** The sessions of one list. */
export class SessionRanking {
  readonly #ranked: Ranked[] = [];

  /** Takes in one session; `position` is that of its file. A search and a move, no sort. */
  add(session: SessionInfo, position: number): void {
    const added = { session, modifiedMs: session.modified.getTime(), position };
    let low = 0;
    let high = this.#ranked.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.#ranked[middle];
      if (other !== undefined && comesBefore(other, added)) low = middle + 1;
      else high = middle;
    }
    this.#ranked.splice(low, 0, added);
  }

  /** The sessions so far, as an array of the caller's own. */
  sessions(): SessionInfo[] {
    return this.#ranked.map(({ session }) => session);
  }
}

function comesBefore(a: Ranked, b: Ranked): boolean {
  if (a.modifiedMs !== b.modifiedMs) return a.modifiedMs > b.modifiedMs;
  return a.position < b.position;
}
