/** How many tokens models may write in one turn, and have written. No I/O. */

export interface TurnBudgetState {
  /** Null: there is no budget. */
  total: number | null;
  spent: number;
  hard: boolean;
}

export class TurnBudget {
  #total: number | null = null;
  #isHard = false;
  #writtenBefore = 0;
  #ofSubagents = 0;

  begin(total: number | null, isHard: boolean, written: number): void {
    this.#total = total;
    this.#isHard = isHard;
    this.#writtenBefore = written;
    this.#ofSubagents = 0;
  }

  /** Values other than numbers above 0 are ignored. */
  addOfSubagent(tokens: number): void {
    if (tokens > 0 && Number.isFinite(tokens)) this.#ofSubagents += tokens;
  }

  state(written: number): TurnBudgetState {
    const spent = Math.max(0, written - this.#writtenBefore) + this.#ofSubagents;
    return { total: this.#total, spent, hard: this.#isHard };
  }
}
