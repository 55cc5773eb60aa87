/**
 * Reads the turns of one open log: where they are, by its index, and the entries of requested ones,
 * some at a time.
 */
import type { SessionEntry } from "@branchlog/core/entries";
import type { Engine } from "@branchlog/core/engine";
import { SideTexts } from "../search/side-texts.ts";
import type { PlacedEntry } from "./turn-items.ts";
import { turnPath } from "./turn-path.ts";
import type { RowRole, TurnPath } from "./turn-path.ts";

const speakingRoles: ReadonlyMap<string, RowRole> = new Map([
  ["user", "prompt"],
  ["assistant", "answer"],
]);

/** Bytes of lines that are read together. */
const partBytesMax = 4 * 1024 * 1024;

/** Entries of one turn in their order: a section, or a part of one whose entries are large. */
export interface TurnPart {
  readonly turn: number;
  readonly entries: readonly PlacedEntry[];
}

export class TurnReader {
  readonly #engine: Engine;
  /** By their kinds, whose numbers are those of one generation. */
  #roles: RowRole[] = [];
  #rolesOf = -1;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** @param rows Of a branch, from the root. */
  path(rows: Int32Array): TurnPath {
    return turnPath(rows, (row) => this.roleOf(row));
  }

  roleOf(row: number): RowRole {
    const { index, log } = this.#engine;
    if (log.generation !== this.#rolesOf) this.#roles = [];
    this.#rolesOf = log.generation;
    // A session has few kinds of entries, and may have a million of them.
    const kind = index.rows.kind(row);
    const known = this.#roles[kind];
    if (known !== undefined) return known;
    const { type, role } = index.kindOf(row);
    const found = type !== "message" ? "other" : (speakingRoles.get(role ?? "") ?? "other");
    this.#roles[kind] = found;
    return found;
  }

  /** In their order; those that cannot be read are without a body. */
  async *entries(
    rows: Int32Array,
    signal?: AbortSignal,
  ): AsyncGenerator<PlacedEntry, void, undefined> {
    const { bodies, path, log } = this.#engine;
    const sides = new SideTexts(path, log.state.indexer.format?.agent);
    let place = 0;
    for await (const { row, entry } of bodies.entries(rows, signal)) {
      while (place < rows.length && rows[place] !== row) yield this.#placed(rows[place++] ?? 0);
      yield this.#placed(rows[place++] ?? 0, sides.inWhole(entry));
    }
    while (place < rows.length) yield this.#placed(rows[place++] ?? 0);
  }

  /** All entries of a path, in bounded memory. */
  async *parts(path: TurnPath, signal?: AbortSignal): AsyncGenerator<TurnPart, void, undefined> {
    const { rows: table } = this.#engine.index;
    let [place, section, turn, bytes] = [0, 0, 0, 0];
    let entries: PlacedEntry[] = [];
    for await (const entry of this.entries(path.rows, signal)) {
      entries.push(entry);
      place += 1;
      bytes += table.length(entry.row);
      const isEnd = place === (path.sections[section + 1] ?? path.rows.length);
      if (!isEnd && bytes < partBytesMax) continue;
      yield { turn, entries };
      [entries, bytes] = [[], 0];
      if (isEnd) section += 1;
      if (path.turns[turn + 1] === section) turn += 1;
    }
  }

  #placed(row: number, entry?: SessionEntry): PlacedEntry {
    const { index } = this.#engine;
    const { type, role } = index.kindOf(row);
    return { row, timeMs: index.rows.time(row), type, role, entry };
  }
}
