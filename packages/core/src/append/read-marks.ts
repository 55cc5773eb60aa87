/** Up to where the owner of an appender read the log, and appended to it itself. */
import type { TrackedLog } from "../log/tracked-log.ts";
import type { KnownRows } from "./plan.ts";

interface Mark {
  readonly generation: number;
  readonly rows: number;
}

export class ReadMarks implements KnownRows {
  readonly #log: TrackedLog;
  #own: Mark = { generation: 1, rows: 0 };
  #seen: Mark = { generation: 1, rows: 0 };

  constructor(log: TrackedLog) {
    this.#log = log;
  }

  get ownRow(): number {
    return this.#rowAfter(this.#own);
  }

  get unreadRow(): number {
    return this.#rowAfter(this.#seen);
  }

  /** The log ends with what the owner appended at its leaf. */
  setOwn(): void {
    this.#own = this.#end();
    this.#seen = this.#own;
  }

  /** The owner read the log to its end. */
  advanceReadCursor(): void {
    this.#seen = this.#end();
  }

  /** The owner appended the entry of this row, but may not know the rows before it. */
  setKnown(row: number): void {
    const { generation } = this.#log;
    const isNext = (mark: Mark): boolean => mark.generation === generation && mark.rows === row;
    const next = { generation, rows: row + 1 };
    if (isNext(this.#own)) this.#own = next;
    if (isNext(this.#seen)) this.#seen = next;
  }

  #end(): Mark {
    const { generation, state } = this.#log;
    return { generation, rows: state.index.count };
  }

  /** Nothing is known of another generation. */
  #rowAfter({ generation, rows }: Mark): number {
    return generation === this.#log.generation ? rows : 0;
  }
}
