/**
 * The turns of a session as they are emitted: the finished ones are shared, the last is its own.
 */
import { isDeepStrictEqual } from "node:util";
import type { SessionTurn } from "../projections/turns.ts";
import type { TurnList } from "../session/turn-memo.ts";
import { GrowingListView } from "./list-view.ts";
import type { ListView } from "./list-view.ts";

/** See the file comment. */
export class TurnListView implements ListView<SessionTurn> {
  readonly length: number;
  readonly #finished: GrowingListView<SessionTurn>;
  readonly #last: SessionTurn | undefined;

  constructor({ finished, finishedCount, last }: TurnList) {
    this.#finished = new GrowingListView(finished, finishedCount);
    this.#last = last;
    this.length = finishedCount + (last === undefined ? 0 : 1);
  }

  /** Whether both are the same turns. Costs what the last one costs. */
  isSameAs(other: TurnListView): boolean {
    return this.#finished.isSameAs(other.#finished) && isDeepStrictEqual(this.#last, other.#last);
  }

  at(place: number): SessionTurn | undefined {
    const at = place < 0 ? this.length + place : place;
    if (at === this.#finished.length) return this.#last;
    return at < 0 ? undefined : this.#finished.at(at);
  }

  slice(from?: number, to?: number): SessionTurn[] {
    return [...this].slice(from, to);
  }

  *[Symbol.iterator](): Generator<SessionTurn, void, undefined> {
    yield* this.#finished;
    if (this.#last !== undefined) yield this.#last;
  }

  toJSON(): SessionTurn[] {
    return [...this];
  }
}
