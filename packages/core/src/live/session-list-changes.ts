/** What happened to the sessions of a directory between two emissions, as one change for each. */
import type { SessionChange } from "../catalog/directory-catalog.ts";
import type { ListedSession } from "../catalog/listed-session.ts";

/** Each session that is another now, once. */
export interface SessionListDifference {
  readonly added: readonly ListedSession[];
  readonly changed: readonly ListedSession[];
  /** As they were. */
  readonly removed: readonly ListedSession[];
}

/** See the file comment. */
export class SessionListChanges {
  /** By path. */
  readonly #changes = new Map<string, SessionChange>();

  /** Whether nothing has happened, or all of it was undone. */
  get isEmpty(): boolean {
    return this.#changes.size === 0;
  }

  /** Takes in one more change, which comes after those before. */
  add({ before, now }: SessionChange): void {
    const path = (now ?? before)?.path ?? "";
    const known = this.#changes.get(path);
    const first = known === undefined ? before : known.before;
    if (first === undefined && now === undefined) this.#changes.delete(path);
    else this.#changes.set(path, { before: first, now });
  }

  /** All of it, and begins anew. */
  take(): SessionListDifference {
    const added: ListedSession[] = [];
    const changed: ListedSession[] = [];
    const removed: ListedSession[] = [];
    for (const { before, now } of this.#changes.values()) {
      if (now === undefined) removed.push(...(before === undefined ? [] : [before]));
      else if (before === undefined) added.push(now);
      else changed.push(now);
    }
    this.#changes.clear();
    return { added, changed, removed };
  }
}
