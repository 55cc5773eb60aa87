/**
 * The conversation of one session: its turns on a branch, found by the index; bodies are read of
 * the sections that are asked for.
 */
import { BranchlogError } from "@branchlog/core";
import type { Session } from "@branchlog/core";
import type { SessionEntry } from "@branchlog/core/entries";
import { watchedSession } from "@branchlog/core/engine";
import { childrenOfId, usage } from "@branchlog/core/rows";
import {
  SideTexts,
  firstLine,
  promptText,
  sampledAnswers,
  sectionAt,
  sectionOfPlace,
  sectionOfRow,
  turnFacts,
  turnItems,
  turnPath,
  turnRange,
} from "@branchlog/library/catalogs";
import type { PlacedEntry, RowRole, TurnItem, TurnPath } from "@branchlog/library/catalogs";
import { estimateOf } from "@branchlog/tools";
import type {
  BranchPoint,
  BranchWay,
  OutlineLine,
  OutlinePage,
  Timeline,
  TimelinePoint,
  TurnHead,
  TurnPage,
  TurnPlace,
  TurnSection,
} from "./api.ts";
import { isErrorEntry } from "./blocks.ts";
import { messageUsage, usageOf } from "./message-facts.ts";
import { shownItem } from "./turn-blocks.ts";

const sectionsMax = 40;
const linesMax = 200;
/** Of a longer turn the sums are of its beginning. */
const summedEntriesMax = 2_000;
const waysMax = 20;
/** Of a way that is not shown, so many entries are counted, and so many read for its cost. */
const countedEntriesMax = 1_000;
const pricedEntriesMax = 200;
const pathsMax = 4;

const speakingRoles: ReadonlyMap<string, RowRole> = new Map([
  ["user", "prompt"],
  ["assistant", "answer"],
]);

interface Asked {
  readonly from: number;
  readonly count: number;
  /** The last entry of the branch; null: the leaf. */
  readonly tip: number | null;
}

/** The session as it is now. */
export interface ConversationSource {
  readonly session: Session;
  readonly generation: number;
  readonly rowCount: number;
  readonly isOnPath: (row: number) => boolean;
  /** The rows from the root to the leaf. */
  readonly path: () => Int32Array;
}

export class Conversation {
  readonly #shown: ConversationSource;
  /** The latest ones, by what they are of. */
  readonly #paths = new Map<string, TurnPath>();
  /** By their kinds, whose numbers are those of this generation. */
  #roles: RowRole[] = [];
  #rolesOf = -1;

  constructor(shown: ConversationSource) {
    this.#shown = shown;
  }

  /** Throws `ERR_ENTRY_NOT_FOUND`. */
  place(row: number | null): TurnPlace {
    const leafPath = this.#path(null);
    const onLeafPath = row === null ? leafPath.sections.length - 1 : sectionOfRow(leafPath, row);
    const isOther = row !== null && onLeafPath < 0;
    const tip = isOther ? this.#tipBelow(row) : null;
    const path = isOther ? this.#path(tip) : leafPath;
    const section = Math.max(0, isOther ? sectionOfRow(path, row) : onLeafPath);
    return {
      generation: this.#shown.generation,
      tip,
      section,
      turn: sectionAt(path, section)?.turn ?? 0,
      sectionCount: path.sections.length,
      turnCount: path.turns.length,
    };
  }

  /** Throws `ERR_ENTRY_NOT_FOUND`. */
  async turns({ from, count, tip }: Asked): Promise<TurnPage> {
    const path = this.#path(tip);
    const { length: sectionCount } = path.sections;
    const first = Math.min(from, sectionCount);
    const end = Math.min(sectionCount, first + Math.min(count, sectionsMax));
    const [startPlace, endPlace] = [path.sections[first], path.sections[end]];
    const entries = await this.#entries(path.rows.subarray(startPlace, endPlace));
    const sections: TurnSection[] = [];
    for (let section = first; section < end; section += 1) {
      sections.push(await this.#section(path, section, entries, startPlace ?? 0));
    }
    const { generation } = this.#shown;
    return { generation, sectionCount, turnCount: path.turns.length, from: first, sections };
  }

  async #section(
    path: TurnPath,
    section: number,
    read: readonly PlacedEntry[],
    readFrom: number,
  ): Promise<TurnSection> {
    const place = sectionAt(path, section);
    if (place === undefined) throw noEntry(section);
    const { turn, from, to, isFirst, isLast } = place;
    const entries = read.slice(from - readFrom, to - readFrom);
    const items = turnItems(entries);
    return {
      section,
      turn,
      turnSection: path.turns[turn] ?? section,
      firstRow: path.rows[from] ?? 0,
      lastRow: path.rows[to - 1] ?? 0,
      entryCount: to - from,
      isLast,
      prompt: await this.#prompt(path, turn),
      head: isFirst ? await this.#head(path, turn, isLast ? { entries, items } : undefined) : null,
      blocks: items.map(shownItem),
      branches: await this.#branches(path, from, to),
    };
  }

  async #head(
    path: TurnPath,
    turn: number,
    read: { entries: readonly PlacedEntry[]; items: readonly TurnItem[] } | undefined,
  ): Promise<TurnHead> {
    const { from, to } = turnRange(path, turn);
    const summedTo = Math.min(to, from + summedEntriesMax);
    const entries = read?.entries ?? (await this.#entries(path.rows.subarray(from, summedTo)));
    const facts = turnFacts(entries, read?.items ?? turnItems(entries));
    const { rows } = this.#index;
    const endedMs = rows.time(path.rows[to - 1] ?? 0);
    const { cost, estimated } = estimateOf(facts.usage);
    return {
      startedMs: facts.startedMs,
      durationMs: summedTo < to ? Math.max(0, endedMs - facts.startedMs) : facts.durationMs,
      entryCount: to - from,
      lastRow: path.rows[to - 1] ?? 0,
      calls: facts.calls,
      errors: facts.errors,
      files: facts.files,
      models: [...facts.usage.byModel.values()].flatMap((models) => [...models.keys()]),
      usage: usageOf({ ...facts.usage.total, cost: cost ?? 0 }),
      isEstimate: estimated > 0,
      isPartial: summedTo < to,
    };
  }

  /** Throws `ERR_ENTRY_NOT_FOUND`. */
  async outline({ from, count, tip }: Asked): Promise<OutlinePage> {
    const path = this.#path(tip);
    const first = Math.min(from, path.turns.length);
    const end = Math.min(path.turns.length, first + Math.min(count, linesMax));
    const starts = Array.from({ length: end - first }, (_, at) => turnRange(path, first + at));
    const prompts = starts.map((range) => this.#promptRow(path, range));
    const bodies = new Map<number, SessionEntry>();
    for await (const { row, entry } of this.#engine.bodies.entries(prompts)) bodies.set(row, entry);
    const lines = prompts.map((row, at): OutlineLine => {
      const turn = first + at;
      const range = starts[at] ?? { from: 0, to: 0 };
      return {
        turn,
        section: path.turns[turn] ?? 0,
        row,
        text: firstLine(promptText(bodies.get(row))) || "(no prompt)",
        timeMs: this.#index.rows.time(row),
        ...this.#signsIn(path, range),
      };
    });
    const { generation } = this.#shown;
    return { generation, turnCount: path.turns.length, from: first, lines };
  }

  async #prompt(path: TurnPath, turn: number): Promise<string> {
    const row = this.#promptRow(path, turnRange(path, turn));
    if (this.#roleOf(row) !== "prompt") return "";
    return firstLine(promptText(await this.#engine.bodies.entry(row)));
  }

  #promptRow(path: TurnPath, { from, to }: { from: number; to: number }): number {
    for (let place = from; place < Math.min(to, from + 50); place += 1) {
      const row = path.rows[place] ?? 0;
      if (this.#roleOf(row) === "prompt") return row;
    }
    return path.rows[from] ?? 0;
  }

  /** The ids of entries. Throws `ERR_ENTRY_NOT_FOUND`. */
  idsAt(...rows: readonly number[]): readonly string[] {
    return rows.map((row) => {
      if (row >= this.#index.count) throw noEntry(row);
      return this.#index.idOf(row);
    });
  }

  /** Throws `ERR_ENTRY_NOT_FOUND`. Reads some answers, wherever they are. */
  async timeline(tip: number | null): Promise<Timeline> {
    const path = this.#path(tip);
    const { answers, compactions } = sampledAnswers(path.rows, {
      isAnswer: (row) => this.#roleOf(row) === "answer",
      isCompaction: (row) => this.#index.kindOf(row).type === "compaction",
    });
    const points: TimelinePoint[] = [];
    let section = 0;
    const places = new Map(answers.map((place) => [path.rows[place] ?? 0, place]));
    for await (const { row, entry } of this.#engine.bodies.entries(places.keys())) {
      const place = places.get(row) ?? 0;
      while ((path.sections[section + 1] ?? Infinity) <= place) section += 1;
      const used = messageUsage(entry);
      const given = used === null ? 0 : used.input + used.cacheRead + used.cacheWrite;
      const tokens = given > 0 ? given : null;
      const timeMs = this.#index.rows.time(row);
      points.push({ section, row, timeMs, tokens, isError: isErrorEntry(entry) });
    }
    return {
      generation: this.#shown.generation,
      sectionCount: path.sections.length,
      points,
      compactions: compactions.map((place) => {
        const row = path.rows[place] ?? 0;
        return { section: sectionOfPlace(path, place), row };
      }),
    };
  }

  #signsIn(
    path: TurnPath,
    { from, to }: { from: number; to: number },
  ): Pick<OutlineLine, "label" | "branches" | "hasCompaction"> {
    const index = this.#index;
    const { labels } = this.#shown.session;
    let [label, branches, hasCompaction]: [string | null, number, boolean] = [null, 0, false];
    for (let place = from; place < Math.min(to, from + summedEntriesMax); place += 1) {
      const row = path.rows[place] ?? 0;
      hasCompaction ||= index.kindOf(row).type === "compaction";
      if (labels.size > 0) label ??= labels.get(index.idOf(row))?.label ?? null;
      branches += this.#waysBelow(path, place).length - 1;
    }
    return { label, branches: Math.max(0, branches), hasCompaction };
  }

  /** The first entries of all ways on below a place; one: the conversation only goes on. */
  #waysBelow(path: TurnPath, place: number): readonly number[] {
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

  /** Whether anything is said on a way; else it is only a mark. */
  #speaks(row: number): boolean {
    for (const at of this.#below(row, 20)) if (this.#roleOf(at) !== "other") return true;
    return false;
  }

  async #branches(path: TurnPath, from: number, to: number): Promise<readonly BranchPoint[]> {
    const points: BranchPoint[] = [];
    for (let place = from === 0 ? -1 : from; place < to; place += 1) {
      const rows = this.#waysBelow(path, place);
      if (rows.length < 2) continue;
      const shown = path.rows[place + 1] ?? -1;
      const at = rows.indexOf(shown);
      // The shown way is among those that are described.
      const first = Math.max(0, Math.min(at - waysMax / 2, rows.length - waysMax));
      const ways: BranchWay[] = [];
      for (const row of rows.slice(first, first + waysMax)) {
        ways.push(await this.#way(row, row === shown));
      }
      points.push({ row: path.rows[place] ?? -1, ways, wayCount: rows.length });
    }
    return points;
  }

  async #way(row: number, isShown: boolean): Promise<BranchWay> {
    const rows = [...this.#below(row, countedEntriesMax + 1)];
    const isMore = rows.length > countedEntriesMax;
    const priced = rows.slice(0, pricedEntriesMax).toSorted((one, other) => one - other);
    let spent = usage.initial();
    let [prompt, answer] = ["", ""];
    for await (const { row: at, entry } of this.#engine.bodies.entries(priced)) {
      spent = usage.apply(spent, { revision: 0, entry });
      const role = this.#roleOf(at);
      if (role === "prompt") prompt ||= firstLine(promptText(entry));
      if (role === "answer") answer ||= firstLine(promptText(entry));
    }
    const isPriced = rows.length <= pricedEntriesMax;
    return {
      row,
      title: prompt || answer || "(no text)",
      turns: rows.filter((at) => this.#roleOf(at) === "prompt").length,
      entries: Math.min(rows.length, countedEntriesMax),
      cost: isPriced ? (estimateOf(spent).cost ?? null) : null,
      isMore,
      isShown,
      isOnPath: this.#shown.isOnPath(row),
    };
  }

  /** An entry and those below it, breadth first, at most so many. */
  *#below(row: number, countMax: number): Generator<number> {
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
  #tipBelow(row: number): number {
    const index = this.#index;
    if (row < 0 || row >= index.count) throw noEntry(row);
    const seen = new Set<number>();
    let tip = row;
    while (!seen.has(tip)) {
      seen.add(tip);
      const below = childrenOfId(index, index.idOf(tip)).filter((child) => !seen.has(child));
      tip = below.find((child) => this.#shown.isOnPath(child)) ?? below.at(-1) ?? tip;
    }
    return tip;
  }

  #path(tip: number | null): TurnPath {
    const { generation, rowCount } = this.#shown;
    const leaf = this.#shown.session.leaf;
    const index = this.#index;
    if (tip !== null && tip >= index.count) throw noEntry(tip);
    const id = tip === null ? leaf : index.idOf(tip);
    // Rows above a tip stay what they are, unless a parent comes late.
    const name = `${generation}/${rowCount}/${id}`;
    if (generation !== this.#rolesOf) this.#roles = [];
    this.#rolesOf = generation;
    const known = this.#paths.get(name);
    if (known !== undefined) return known;
    const rows = tip === null ? this.#shown.path() : this.#engine.rowPath(id).rows;
    const path = turnPath(rows, (row) => this.#roleOf(row));
    this.#paths.set(name, path);
    for (const oldest of this.#paths.keys()) {
      if (this.#paths.size <= pathsMax) break;
      this.#paths.delete(oldest);
    }
    return path;
  }

  #roleOf(row: number): RowRole {
    // A session has few kinds of entries, and may have a million of them.
    const kind = this.#index.rows.kind(row);
    const known = this.#roles[kind];
    if (known !== undefined) return known;
    const { type, role } = this.#index.kindOf(row);
    const found = type !== "message" ? "other" : (speakingRoles.get(role ?? "") ?? "other");
    this.#roles[kind] = found;
    return found;
  }

  async #entries(rows: Int32Array): Promise<readonly PlacedEntry[]> {
    const { session } = this.#shown;
    const sides = new SideTexts(session.path, session.transcriptOf);
    const bodies = new Map<number, SessionEntry>();
    for await (const { row, entry } of this.#engine.bodies.entries(rows)) bodies.set(row, entry);
    const index = this.#index;
    return Array.from(rows, (row): PlacedEntry => {
      const body = bodies.get(row);
      const entry = body === undefined ? undefined : sides.inWhole(body);
      return { row, timeMs: index.rows.time(row), type: index.kindOf(row).type, entry };
    });
  }

  get #engine(): ReturnType<typeof watchedSession>["engine"] {
    return watchedSession(this.#shown.session).engine;
  }

  get #index(): ReturnType<typeof watchedSession>["engine"]["index"] {
    return this.#engine.index;
  }
}

function noEntry(row: number): BranchlogError {
  const message = `There is no entry at row ${row}. It may be in a later version of the session.`;
  return new BranchlogError("ERR_ENTRY_NOT_FOUND", message);
}
