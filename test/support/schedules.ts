/**
 * Orders in which steps of several actors can happen: a run asks `choose(n)` at each point, and is
 * repeated with other answers. All of them where there are few; drawn from a seed where not.
 */
import { createRandom } from "@branchlog/bench/generator";

/** Answers `choose` calls, differently in each run. */
export interface Schedule {
  /** How many runs there were. */
  readonly runs: number;
  /** A number below `of`; in some run, each of them. */
  choose(of: number): number;
  /** The answers of the current run, to name it in a failure. */
  readonly trace: string;
  /** Starts the next run; false after the last one. */
  next(): boolean;
}

/** Answers in all possible ways, one run after the other. */
export class Schedules implements Schedule {
  #choices: { taken: number; of: number }[] = [];
  #at = 0;
  #runs = 0;

  get runs(): number {
    return this.#runs;
  }

  choose(of: number): number {
    const known = this.#choices[this.#at];
    if (known === undefined) this.#choices.push({ taken: 0, of });
    const taken = known?.taken ?? 0;
    this.#at += 1;
    return taken;
  }

  get trace(): string {
    return this.#choices
      .slice(0, this.#at)
      .map(({ taken }) => taken)
      .join("");
  }

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

/** Answers drawn from a seed. Never runs out. */
export class RandomSchedules implements Schedule {
  readonly #random: ReturnType<typeof createRandom>;
  #taken: number[] = [];
  #runs = 0;

  constructor(seed: number) {
    this.#random = createRandom(seed);
  }

  get runs(): number {
    return this.#runs;
  }

  choose(of: number): number {
    const taken = this.#random.below(of);
    this.#taken.push(taken);
    return taken;
  }

  get trace(): string {
    return this.#taken.join("");
  }

  next(): boolean {
    this.#taken = [];
    this.#runs += 1;
    return true;
  }
}
