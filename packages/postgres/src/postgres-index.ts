/**
 * The index that sessions save with a long log, so that others open the log without reading it.
 * Its pieces are stored under a random key, and count once that is published.
 */
import { randomInt } from "node:crypto";
import type { IndexedPosition, LogPart, LogRange, StoredIndex } from "@branchlog/core/types";
import type { Transaction } from "./connections.ts";

/** How a thread that can wait finds a log without opening it. */
export interface LogInDatabase {
  readonly name: string;
  readonly id: string;
}

export type ReadPartSync = (log: LogInDatabase, known: IndexedPosition, range: LogRange) => LogPart;

/** A piece has some hundred kilobytes. */
const piecesAtOnce = 4;

interface IndexSetting extends Pick<StoredIndex, "readPart" | "readPartSync"> {
  readonly id: string;
  /** Of the index that was found when the log was opened. */
  readonly key: string | undefined;
  /** Throws if nothing was read yet. */
  readonly last: () => IndexedPosition;
  readonly query: (signal?: AbortSignal) => Transaction["query"];
}

export class PostgresIndex implements StoredIndex {
  readonly #setting: IndexSetting;

  constructor(setting: IndexSetting) {
    this.#setting = setting;
  }

  readPart(range: LogRange, signal?: AbortSignal): Promise<LogPart> {
    return this.#setting.readPart(range, signal);
  }

  readPartSync(range: LogRange): LogPart {
    return this.#setting.readPartSync(range);
  }

  async *read(signal?: AbortSignal): AsyncGenerator<Buffer, void, undefined> {
    const { id, key, query } = this.#setting;
    const from = (number: number): Promise<readonly PieceRow[]> =>
      query(signal)<PieceRow>("SELECT packed FROM SCHEMA.read_index($1, $2, $3, $4) AS packed", [
        id,
        key ?? null,
        number,
        piecesAtOnce,
      ]);
    let asked = from(0);
    for (let number = piecesAtOnce; ; number += piecesAtOnce) {
      const rows = await asked;
      if (rows.length === 0) return;
      // The store works on what comes next while this is taken.
      asked = from(number);
      asked.catch(() => undefined);
      for (const { packed } of rows) yield Buffer.from(packed, "base64");
    }
  }

  position(): IndexedPosition {
    return this.#setting.last();
  }

  async save(
    { at, mark }: IndexedPosition,
    pieces: readonly Buffer[],
    signal?: AbortSignal,
  ): Promise<boolean> {
    const query = this.#setting.query(signal);
    const { id } = this.#setting;
    const key = randomInt(2 ** 48 - 1);
    for (const [number, piece] of pieces.entries()) {
      const packed = piece.toString("base64");
      await query("SELECT SCHEMA.add_index_piece($1, $2, $3, $4)", [id, key, number, packed]);
    }
    const [row] = await query<{ readonly done: boolean }>(
      "SELECT SCHEMA.publish_index($1, $2, $3, $4, $5) AS done",
      [id, key, pieces.length, at, mark],
    );
    return row?.done === true;
  }
}

interface PieceRow {
  readonly packed: string;
}
