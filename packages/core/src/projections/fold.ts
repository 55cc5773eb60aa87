/**
 * How far a projection was folded over the rows of a log, and its state there. Each row is folded
 * once and in file order, however many passes there are over the log at a time. Pure.
 */
import type { SessionEntry } from "../entries/entry-types.ts";
import type { Projection } from "./projection.ts";

/** See the file comment. */
export class Fold<S> {
  readonly #projection: Projection<S>;
  #state: S;
  #rows: number;
  /** What was handed out last, while no other record was folded. */
  #snapshot: { readonly state: S } | undefined;

  /** @param state That of the first `rows` rows, not shared with another fold. */
  constructor(projection: Projection<S>, state: S = projection.initial(), rows = 0) {
    this.#projection = projection;
    this.#state = state;
    this.#rows = rows;
  }

  /** The rows before this one were folded, or do not matter. */
  get rows(): number {
    return this.#rows;
  }

  /** The state now, which later rows leave alone. */
  get value(): S {
    this.#snapshot ??= { state: this.#projection.snapshot?.(this.#state) ?? this.#state };
    return this.#snapshot.state;
  }

  /** Folds the entry of a row, unless another pass has folded it meanwhile. */
  apply(row: number, entry: SessionEntry): void {
    if (row < this.#rows) return;
    this.#state = this.#projection.apply(this.#state, { revision: row + 1, entry });
    this.#rows = row + 1;
    this.#snapshot = undefined;
  }

  /** Takes note that none of the rows before `rows` is left to be folded. */
  reached(rows: number): void {
    this.#rows = Math.max(this.#rows, rows);
  }
}
