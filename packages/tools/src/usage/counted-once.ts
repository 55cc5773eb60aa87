/**
 * Which entries were counted already, by digests of their identity: forks and resumed sessions
 * hold copies of others' entries.
 * Memory: 16 characters for each identity.
 */
import { createHash } from "node:crypto";

/** What an entry shares with its copies, and with no other entry. */
export type Identity = readonly (string | number)[];

export class CountedOnce {
  /** How often each was counted, in the session that has it most often. */
  readonly #counted = new Map<string, number>();
  /** How often each is in this session. */
  #own = new Map<string, number>();

  /** Before the entries of another session. */
  begin(): void {
    this.#own = new Map();
  }

  /**
   * Of an entry that a fork for another agent would hold under another identity. False if one was
   * counted.
   */
  mark(digest: string): boolean {
    const isNew = !this.#counted.has(digest);
    if (isNew) this.#counted.set(digest, 1);
    return isNew;
  }

  /**
   * Whether it is the first with this identity; of what a session may repeat, whether this session
   * has more of them than any before.
   */
  takes(digest: string, mayRepeat: boolean): boolean {
    const counted = this.#counted.get(digest) ?? 0;
    const own = mayRepeat ? (this.#own.get(digest) ?? 0) + 1 : 1;
    if (mayRepeat) this.#own.set(digest, own);
    if (own <= counted) return false;
    this.#counted.set(digest, own);
    return true;
  }
}

export function digestOf(identity: Identity): string {
  const hash = createHash("sha256").update(JSON.stringify(identity));
  return hash.digest("base64").slice(0, 16);
}
