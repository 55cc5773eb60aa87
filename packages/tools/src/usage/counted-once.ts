/**
 * Which entries were counted already: forks and resumed sessions hold copies of others' entries.
 * Memory: 16 characters for each identity.
 */
import { createHash } from "node:crypto";

/** What an entry and its copies have in common, and no other entry. */
export type Identity = readonly (string | number)[];

export class CountedOnce {
  readonly #counted = new Set<string>();
  /** Answers whose first part was counted in this session: further parts add to it. */
  #open = new Set<string>();

  /** Before the entries of another session. */
  begin(): void {
    this.#open = new Set();
  }

  /**
   * Of an entry that a fork for another agent would hold under another identity. False if one was
   * counted.
   */
  mark(identity: Identity): boolean {
    const digest = digestOf(identity);
    const isNew = !this.#counted.has(digest);
    this.#counted.add(digest);
    return isNew;
  }

  /** Whether it is the first with this identity; of parts of an answer, in the first session. */
  takes(identity: Identity, isAnswer: boolean): boolean {
    const digest = digestOf(identity);
    if (this.#open.has(digest)) return true;
    if (this.#counted.has(digest)) return false;
    this.#counted.add(digest);
    if (isAnswer) this.#open.add(digest);
    return true;
  }
}

function digestOf(identity: Identity): string {
  const hash = createHash("sha256").update(JSON.stringify(identity));
  return hash.digest("base64").slice(0, 16);
}
