/**
 * Keeps the turns on the path to a leaf, so that a few entries further they cost what these cost,
 * and not what the conversation costs. Bodies pass through; tool results are never read. What it
 * gives always equals what the projection of turns makes of the whole path.
 */
import type { SessionEntry } from "../entries/entry-types.ts";
import type { IndexTable } from "../index-table/index-table.ts";
import {
  addEntry,
  addsToTurn,
  beginTurn,
  goOn,
  nothingSaid,
  takesTime,
  turnNotes,
  turnOf,
  withFields,
} from "../projections/turns.ts";
import type { OpenTurn, SessionTurn, TurnFields, TurnNotes } from "../projections/turns.ts";
import { BodyFold } from "./body-fold.ts";
import type { Engine } from "./engine.ts";
import type { LogState } from "../log/log-state.ts";
import { PathFold, rowAt } from "./path-fold.ts";

/** Turns as they are kept: the array only grows, and the last turn is not in it. */
export interface TurnList {
  /** The first `finishedCount` are the turns of this list but for the last. */
  readonly finished: readonly SessionTurn[];
  readonly finishedCount: number;
  /** The turn that may continue; undefined before the first. */
  readonly last: SessionTurn | undefined;
}

/** What is known of the turns at a leaf. */
interface KeptTurns {
  readonly notes: TurnNotes;
  /** Shared with the lists that were handed out. */
  readonly finished: SessionTurn[];
  readonly open: OpenTurn | undefined;
  readonly list: TurnList;
}

/** See the file comment. */
export class TurnMemo {
  readonly #engine: Engine;
  readonly #notes: BodyFold<TurnNotes>;
  readonly #path = new PathFold<KeptTurns>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(engine: Engine) {
    this.#engine = engine;
    this.#notes = new BodyFold(engine, turnNotes);
  }

  /** The turns on the path to an entry; none for null, and for an id that the log does not hold. */
  at(leafId: string | null): Promise<TurnList> {
    const reading = this.#last.then(() => this.#read(leafId));
    // One after the other, as they share what is kept; a failure is its caller's.
    this.#last = reading.then(
      () => undefined,
      () => undefined,
    );
    return reading;
  }

  async #read(leafId: string | null): Promise<TurnList> {
    for (;;) {
      const notes = await this.#notes.value();
      const { state } = this.#engine.log;
      const { index } = state;
      const row = rowAt(state, leafId);
      const onward = this.#path.onward(state, row);
      const from = onward?.value;
      if (from?.notes === notes && onward?.rows.length === 0) return from.list;
      // What is read on is added to what is kept: a read that fails halfway leaves nothing of use.
      this.#path.forget();
      const rows = onward?.rows ?? this.#engine.rowPath(row < 0 ? null : leafId).rows;
      const builder = new TurnBuilder(index, notes, from);
      const { structureVersion } = index;
      await builder.add(rows, state);
      // The log became another one meanwhile, or turned out damaged on the way.
      if (this.#engine.log.state !== state || index.structureVersion !== structureVersion) continue;
      const turns = { notes, ...builder.result() };
      this.#path.keep(state, row, turns, (onward?.length ?? 0) + rows.length);
      return turns.list;
    }
  }
}

/** All turns of a list, in an array of its own. */
export function turnsIn({ finished, finishedCount, last }: TurnList): SessionTurn[] {
  const turns = finished.slice(0, finishedCount);
  if (last !== undefined) turns.push(last);
  return turns;
}

/** Adds entries of a path, in order, to turns. */
class TurnBuilder {
  readonly #index: IndexTable;
  readonly #notes: TurnNotes;
  readonly #finished: SessionTurn[];
  #open: OpenTurn | undefined;

  constructor(index: IndexTable, notes: TurnNotes, from: KeptTurns | undefined) {
    this.#index = index;
    this.#notes = notes;
    this.#finished = from === undefined ? [] : withNotes(from, notes);
    this.#open = from?.open;
  }

  /** Reads the bodies of what adds to a turn; the index knows the rest. */
  async add(rows: ArrayLike<number>, { bodies }: LogState): Promise<void> {
    let at = 0;
    for await (const { row, entry } of bodies.entries(this.#spoken(rows))) {
      // Those in between say nothing, or cannot be read.
      while (at < rows.length && rows[at] !== row) this.#pass(rows[at++] ?? -1);
      this.#pass(rows[at++] ?? -1, entry);
    }
    while (at < rows.length) this.#pass(rows[at++] ?? -1);
  }

  result(): Pick<KeptTurns, "finished" | "open" | "list"> {
    const finished = this.#finished;
    const open = this.#open;
    const last = open === undefined ? undefined : turnOf(open, this.#said(open.entryId));
    return { finished, open, list: { finished, finishedCount: finished.length, last } };
  }

  *#spoken(rows: ArrayLike<number>): Generator<number> {
    for (let at = 0; at < rows.length; at += 1) {
      const row = rows[at] ?? -1;
      const { type, role } = this.#index.kindOf(row);
      if (addsToTurn(type, role)) yield row;
    }
  }

  #pass(row: number, entry?: SessionEntry): void {
    const { type, role } = this.#index.kindOf(row);
    const said = type === "message" ? role : undefined;
    const timeMs = this.#index.rows.time(row);
    if (said === "user") this.#begin(this.#index.idOf(row), timeMs);
    if (this.#open === undefined) return;
    if (takesTime(said)) goOn(this.#open, timeMs);
    if (entry !== undefined) addEntry(this.#open, entry);
  }

  #begin(entryId: string, timeMs: number): void {
    const open = this.#open;
    if (open !== undefined) this.#finished.push(turnOf(open, this.#said(open.entryId)));
    this.#open = beginTurn(this.#finished.length + 1, entryId, timeMs);
  }

  #said(entryId: string): TurnFields {
    return this.#notes.get(entryId) ?? nothingSaid;
  }
}

/**
 * The finished turns with their notes: the same array if there are no new notes.
 */
function withNotes({ finished, list, notes }: KeptTurns, now: TurnNotes): SessionTurn[] {
  if (notes === now) return finished;
  const said = (turn: SessionTurn): SessionTurn["fields"] => now.get(turn.entryId) ?? nothingSaid;
  const isOld = (turn: SessionTurn): boolean => said(turn) !== turn.fields;
  if (!finished.some(isOld)) return finished;
  const turns = finished.slice(0, list.finishedCount);
  return turns.map((turn) => (isOld(turn) ? withFields(turn, said(turn)) : turn));
}
