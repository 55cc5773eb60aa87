/**
 * Where a conversation forks, and the contents of each branch; from the index, and some bodies.
 */
import { BranchlogError } from "@branchlog/core";
import type { Engine } from "@branchlog/core/engine";
import { childrenOfId, usage } from "@branchlog/core/rows";
import type { BranchPoint, BranchWay } from "./shown-conversation.ts";
import type { EstimateCost } from "./turn-facts.ts";
import { firstLine, promptText } from "./turn-items.ts";
import type { TurnPath } from "./turn-path.ts";
import type { TurnReader } from "./turn-reader.ts";

const waysMax = 20;
/** Of a way that is not shown, so many entries are counted, and so many read for its cost. */
const countedEntriesMax = 1_000;
const pricedEntriesMax = 200;

interface BranchFacts {
  /** Whether a row is on the branch of the leaf. */
  readonly isOnPath: (row: number) => boolean;
  readonly estimate: EstimateCost;
}

export class BranchWays {
  readonly #engine: Engine;
  readonly #reader: TurnReader;
  readonly #facts: BranchFacts;

  constructor(engine: Engine, reader: TurnReader, facts: BranchFacts) {
    this.#engine = engine;
    this.#reader = reader;
    this.#facts = facts;
  }

  /** The first entries of all branches below an entry; one: the conversation does not fork. */
  below(path: TurnPath, place: number): readonly number[] {
    const next = path.rows[place + 1];
    const row = path.rows[place];
    const index = this.#index;
    const isSingle = row !== undefined && index.rows.nextSibling(next ?? 0) < 0;
    const below = next === undefined ? [] : [next];
    if (next === undefined) return [-1];
    if (isSingle && index.firstChildOf(index.rows.handle(row)) === next) return below;
    const children = childrenOfId(index, row === undefined ? null : index.idOf(row));
    const ways = children.filter((child) => child === next || this.#speaks(child));
    return ways.includes(next) ? ways : below;
  }

  /** Whether a branch has any text; otherwise it is only a marker. */
  #speaks(row: number): boolean {
    for (const at of this.#rowsBelow(row, 20)) if (this.#reader.roleOf(at) !== "other") return true;
    return false;
  }

  async points(path: TurnPath, from: number, to: number): Promise<readonly BranchPoint[]> {
    const points: BranchPoint[] = [];
    for (let place = from === 0 ? -1 : from; place < to; place += 1) {
      const rows = this.below(path, place);
      if (rows.length < 2) continue;
      const shown = path.rows[place + 1] ?? -1;
      const at = rows.indexOf(shown);
      // The shown branch is among those that are described.
      const first = Math.max(0, Math.min(at - waysMax / 2, rows.length - waysMax));
      const ways: BranchWay[] = [];
      for (const row of rows.slice(first, first + waysMax)) {
        ways.push(await this.#way(row, row === shown));
      }
      points.push({ row: path.rows[place] ?? -1, ways, wayCount: rows.length });
    }
    return points;
  }

  /** The first text of each branch, by its first entry. */
  async titles(rows: readonly number[]): Promise<ReadonlyMap<number, string>> {
    const spoken = new Map<number, number>();
    for (const row of rows) {
      for (const at of this.#rowsBelow(row, 20)) {
        if (this.#reader.roleOf(at) === "other") continue;
        spoken.set(at, row);
        break;
      }
    }
    const titles = new Map<number, string>();
    for await (const { row, entry } of this.#engine.bodies.entries(spoken.keys())) {
      titles.set(spoken.get(row) ?? row, firstLine(promptText(entry)));
    }
    return titles;
  }

  async #way(row: number, isShown: boolean): Promise<BranchWay> {
    const rows = [...this.#rowsBelow(row, countedEntriesMax + 1)];
    const isMore = rows.length > countedEntriesMax;
    const priced = rows.slice(0, pricedEntriesMax).toSorted((one, other) => one - other);
    let spent = usage.initial();
    let [prompt, answer] = ["", ""];
    for await (const { row: at, entry } of this.#engine.bodies.entries(priced)) {
      spent = usage.apply(spent, { revision: 0, entry });
      const role = this.#reader.roleOf(at);
      if (role === "prompt") prompt ||= firstLine(promptText(entry));
      if (role === "answer") answer ||= firstLine(promptText(entry));
    }
    const isPriced = rows.length <= pricedEntriesMax;
    return {
      row,
      title: prompt || answer || "(no text)",
      turns: rows.filter((at) => this.#reader.roleOf(at) === "prompt").length,
      entries: Math.min(rows.length, countedEntriesMax),
      cost: isPriced ? (this.#facts.estimate(spent).cost ?? null) : null,
      isMore,
      isShown,
      isOnPath: this.#facts.isOnPath(row),
    };
  }

  /** An entry and those below it, breadth first, at most so many. */
  *#rowsBelow(row: number, countMax: number): Generator<number> {
    const seen = new Set([row]);
    for (const at of seen) {
      yield at;
      if (seen.size >= countMax) continue;
      for (const child of childrenOfId(this.#index, this.#index.idOf(at))) {
        if (seen.size < countMax) seen.add(child);
      }
    }
  }

  /** The end of the branch through an entry: along the leaf's, else the latest children. */
  tipBelow(row: number): number {
    const index = this.#index;
    if (row < 0 || row >= index.count) throw noEntry(row);
    const seen = new Set<number>();
    let tip = row;
    while (!seen.has(tip)) {
      seen.add(tip);
      const below = childrenOfId(index, index.idOf(tip)).filter((child) => !seen.has(child));
      tip = below.find((child) => this.#facts.isOnPath(child)) ?? below.at(-1) ?? tip;
    }
    return tip;
  }

  get #index(): Engine["index"] {
    return this.#engine.index;
  }
}

/** `ERR_ENTRY_NOT_FOUND`. */
export function noEntry(row: number): BranchlogError {
  const message = `There is no entry at row ${row}. It may be in a later version of the session.`;
  return new BranchlogError("ERR_ENTRY_NOT_FOUND", message);
}
