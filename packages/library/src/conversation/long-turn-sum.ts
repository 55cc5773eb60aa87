/**
 * The sum of a long turn: its sections are read once each, also while it grows, so that a turn of
 * any length is summed without holding it.
 */
import { TurnSum } from "./turn-facts.ts";
import type { TurnFacts } from "./turn-facts.ts";
import { turnItems } from "./turn-items.ts";
import type { PlacedEntry } from "./turn-items.ts";
import { sectionOfPlace } from "./turn-path.ts";
import type { TurnPath } from "./turn-path.ts";

interface LongTurn {
  readonly path: TurnPath;
  /** Of the log that the path is of. */
  readonly generation: number;
  /** Where the turn begins in the path. */
  readonly from: number;
  readonly read: (rows: Int32Array) => Promise<readonly PlacedEntry[]>;
}

export class LongTurnSum {
  readonly generation: number;
  readonly #read: LongTurn["read"];
  readonly #sum = new TurnSum();
  readonly #from: number;
  /** The place in the path that is summed next, and the row before it. */
  #to: number;
  #lastRow: number;
  #work: Promise<void> = Promise.resolve();

  constructor({ path, generation, from, read }: LongTurn) {
    this.generation = generation;
    this.#read = read;
    this.#from = from;
    this.#to = from;
    this.#lastRow = path.rows[from - 1] ?? -1;
  }

  /** Whether the summed part is the start of this turn, not of one on another branch. */
  isOf(path: TurnPath, from: number): boolean {
    return this.#from === from && (path.rows[this.#to - 1] ?? -1) === this.#lastRow;
  }

  get to(): number {
    return this.#to;
  }

  /** Adds the sections that end at or before a place, but never the last, which may grow. */
  async addUpTo(path: TurnPath, end: number): Promise<void> {
    const before = this.#work.catch(() => undefined);
    this.#work = before.then(() => this.#addUpTo(path, end));
    return this.#work;
  }

  async #addUpTo(path: TurnPath, end: number): Promise<void> {
    for (;;) {
      const next = path.sections[sectionOfPlace(path, this.#to) + 1];
      if (next === undefined || next > end || !this.isOf(path, this.#from)) return;
      const entries = await this.#read(path.rows.subarray(this.#to, next));
      this.#sum.add(entries, turnItems(entries));
      this.#to = next;
      this.#lastRow = path.rows[next - 1] ?? -1;
    }
  }

  /** With the entries after those that were added, which are read: at most a section. */
  async facts(path: TurnPath, to: number): Promise<TurnFacts> {
    const sum = new TurnSum(this.#sum);
    const rest = await this.#read(path.rows.subarray(this.#to, to));
    sum.add(rest, turnItems(rest));
    return sum.facts;
  }

  /** Of what was added until now. */
  get factsUntilNow(): TurnFacts {
    return this.#sum.facts;
  }
}
