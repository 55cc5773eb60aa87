/**
 * Enumerates every order in which steps of several actors can happen: a run asks `choose(n)` at each
 * point, and is repeated until all answers were given. Small inputs, exhaustively, no randomness.
 */

/** Answers `choose` calls in all possible ways, one run after the other. */
export class Schedules {
  #choices: { taken: number; of: number }[] = [];
  #at = 0;
  #runs = 0;

  /** How many runs there were. */
  get runs(): number {
    return this.#runs;
  }

  /** A number below `of`; in some run, each of them. */
  choose(of: number): number {
    const known = this.#choices[this.#at];
    if (known === undefined) this.#choices.push({ taken: 0, of });
    const taken = known?.taken ?? 0;
    this.#at += 1;
    return taken;
  }

  /** The answers of the current run, to name it in a failure. */
  get trace(): string {
    return this.#choices
      .slice(0, this.#at)
      .map(({ taken }) => taken)
      .join("");
  }

  /** Starts the next run; false after the last one. */
  next(): boolean {
    if (this.#runs > 0) {
      while (this.#choices.length > 0) {
        const last = this.#choices.at(-1);
        if (last !== undefined && last.taken + 1 < last.of) {
          last.taken += 1;
          break;
        }
        this.#choices.pop();
      }
      if (this.#choices.length === 0) return false;
    }
    this.#at = 0;
    this.#runs += 1;
    return true;
  }
}
