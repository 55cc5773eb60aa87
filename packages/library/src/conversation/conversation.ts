/**
 * The conversation of one session: its turns on a branch, found by the index; bodies are read of
 * the requested sections. The page, the exports and the command show it.
 */
import type { Session } from "@branchlog/core";
import { entryParts } from "@branchlog/core/entries";
import type { SessionEntry } from "@branchlog/core/entries";
import { watchedSession } from "@branchlog/core/engine";
import type { Engine } from "@branchlog/core/engine";
import { usage } from "@branchlog/core/rows";
import { BranchWays, noEntry } from "./branch-ways.ts";
import { comparedBranches } from "./compared-branches.ts";
import type {
  BranchComparison,
  OutlineLine,
  OutlinePage,
  SectionFacts,
  Timeline,
  TimelinePoint,
  TurnHead,
  TurnPlace,
} from "./shown-conversation.ts";
import { LongTurnSum } from "./long-turn-sum.ts";
import { shownHead, turnFacts } from "./turn-facts.ts";
import type { EstimateCost, HeadPlace } from "./turn-facts.ts";
import { firstLine, promptText, turnItems } from "./turn-items.ts";
import type { PlacedEntry, TurnItem } from "./turn-items.ts";
import { sampledAnswers, sectionAt, sectionOfPlace, sectionOfRow, turnRange } from "./turn-path.ts";
import type { TurnPath } from "./turn-path.ts";
import { TurnReader } from "./turn-reader.ts";

const sectionsMax = 40;
const linesMax = 200;
/** A longer turn is summed while its reader reads. */
const summedEntriesMax = 2_000;
const longSumsMax = 8;
const pathsMax = 4;
const outlineWaysMax = 20;

interface OutlineSigns extends Pick<OutlineLine, "label" | "branchCount" | "hasCompaction"> {
  /** The first entries of other branches. */
  readonly ways: readonly number[];
}

const noSigns: OutlineSigns = { label: null, ways: [], branchCount: 0, hasCompaction: false };

export interface AskedTurns {
  readonly from: number;
  readonly count: number;
  /** The last entry of the branch; null: the leaf. */
  readonly tip: number | null;
  /** Waits for the sums of long turns; otherwise they are partial until known. */
  readonly isExact?: boolean;
}

export interface ConversationSection extends SectionFacts {
  readonly items: readonly TurnItem[];
}

/** Sections from one on, some of all. */
export interface ConversationPage {
  readonly generation: number;
  readonly sectionCount: number;
  readonly turnCount: number;
  readonly from: number;
  readonly sections: readonly ConversationSection[];
}

/** The session as it is now. */
export interface ConversationSource {
  readonly session: Session;
  readonly generation: number;
  readonly rowCount: number;
  readonly isOnPath: (row: number) => boolean;
  /** The rows from the root to the leaf. */
  readonly path: () => Int32Array;
  /** A turn whose sums were partial has whole ones now. */
  readonly onSummed: () => void;
}

interface ReadTurn {
  readonly entries: readonly PlacedEntry[];
  readonly items: readonly TurnItem[];
}

interface SectionSource {
  readonly entries: readonly PlacedEntry[];
  /** The place of the first one. */
  readonly startPlace: number | undefined;
  readonly isExact: boolean;
}

export class Conversation {
  readonly #shown: ConversationSource;
  readonly #estimate: EstimateCost;
  readonly #engine: Engine;
  readonly #reader: TurnReader;
  readonly #ways: BranchWays;
  /** The latest ones, by what they are of. */
  readonly #paths = new Map<string, TurnPath>();
  /** The latest ones. */
  #longSums: readonly LongTurnSum[] = [];

  constructor(shown: ConversationSource, estimate: EstimateCost) {
    this.#shown = shown;
    this.#estimate = estimate;
    this.#engine = watchedSession(shown.session).engine;
    this.#reader = new TurnReader(this.#engine);
    const isOnPath = (row: number): boolean => shown.isOnPath(row);
    this.#ways = new BranchWays(this.#engine, this.#reader, { isOnPath, estimate });
  }

  /** Throws `ERR_ENTRY_NOT_FOUND`. */
  place(row: number | null): TurnPlace {
    const leafPath = this.#path(null);
    const onLeafPath = row === null ? leafPath.sections.length - 1 : sectionOfRow(leafPath, row);
    const isOther = row !== null && onLeafPath < 0;
    const tip = isOther ? this.#ways.tipBelow(row) : null;
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
  async turns({ from, count, tip, isExact = false }: AskedTurns): Promise<ConversationPage> {
    const path = this.#path(tip);
    const { length: sectionCount } = path.sections;
    const first = Math.min(from, sectionCount);
    const end = Math.min(sectionCount, first + Math.min(count, sectionsMax));
    const [startPlace, endPlace] = [path.sections[first], path.sections[end]];
    const entries = await this.#entries(path.rows.subarray(startPlace, endPlace));
    const sections: ConversationSection[] = [];
    for (let section = first; section < end; section += 1) {
      sections.push(await this.#section(path, section, { entries, startPlace, isExact }));
    }
    const { generation } = this.#shown;
    return { generation, sectionCount, turnCount: path.turns.length, from: first, sections };
  }

  async #section(
    path: TurnPath,
    section: number,
    read: SectionSource,
  ): Promise<ConversationSection> {
    const place = sectionAt(path, section);
    if (place === undefined) throw noEntry(section);
    const { turn, from, to, isFirst, isLast } = place;
    const { startPlace = 0, isExact } = read;
    const entries = read.entries.slice(from - startPlace, to - startPlace);
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
      head: isFirst
        ? await this.#head(path, turn, { isExact, read: isLast ? { entries, items } : undefined })
        : null,
      items,
      branches: await this.#ways.points(path, from, to),
    };
  }

  /** @param given `read`: all of the turn, if it was read already. */
  async #head(
    path: TurnPath,
    turn: number,
    { isExact, read }: { readonly isExact: boolean; readonly read: ReadTurn | undefined },
  ): Promise<TurnHead> {
    const { from, to } = turnRange(path, turn);
    const place = { entryCount: to - from, lastRow: path.rows[to - 1] ?? 0, isPartial: false };
    if (to - from > summedEntriesMax) return this.#longHead(path, place, { from, to, isExact });
    const entries = read?.entries ?? (await this.#entries(path.rows.subarray(from, to)));
    const facts = turnFacts(entries, read?.items ?? turnItems(entries));
    return shownHead(facts, this.#estimate, place);
  }

  async #longHead(
    path: TurnPath,
    place: HeadPlace,
    asked: { from: number; to: number; isExact: boolean },
  ): Promise<TurnHead> {
    const { from, to, isExact } = asked;
    const sum = this.#longSum(path, from);
    if (sum.to === from) await sum.addUpTo(path, from + summedEntriesMax);
    if (isExact || to - sum.to <= summedEntriesMax) {
      await sum.addUpTo(path, to);
      // Meanwhile the turn of another branch was added to it.
      if (!sum.isOf(path, from)) return this.#longHead(path, place, asked);
      return shownHead(await sum.facts(path, to), this.#estimate, place);
    }
    sum.addUpTo(path, to).then(this.#shown.onSummed, () => undefined);
    const facts = sum.factsUntilNow;
    const durationMs = Math.max(0, this.#index.rows.time(place.lastRow) - facts.startedMs) || 0;
    const head = shownHead(facts, this.#estimate, { ...place, isPartial: true });
    return { ...head, durationMs, calls: this.#resultsIn(path, from, to) };
  }

  /** The one that is furthest: on two branches a turn may begin with the same entries. */
  #longSum(path: TurnPath, from: number): LongTurnSum {
    const { generation } = this.#shown;
    const known = this.#longSums
      .filter((one) => one.generation === generation && one.isOf(path, from))
      .toSorted((one, other) => other.to - one.to);
    if (known[0] !== undefined) return known[0];
    const read = (rows: Int32Array): Promise<readonly PlacedEntry[]> => this.#entries(rows);
    const sum = new LongTurnSum({ path, generation, from, read });
    this.#longSums = [...this.#longSums, sum].slice(-longSumsMax);
    return sum;
  }

  /** Results and commands, of which each has its call; by the index alone. */
  #resultsIn(path: TurnPath, from: number, to: number): number {
    const isResult = (row: number): boolean => {
      const { role } = this.#index.kindOf(row);
      return role === "toolResult" || role === "bashExecution";
    };
    return path.rows.subarray(from, to).reduce((sum, row) => sum + (isResult(row) ? 1 : 0), 0);
  }

  /** Throws `ERR_ENTRY_NOT_FOUND`. */
  async outline({ from, count, tip }: AskedTurns): Promise<OutlinePage> {
    const path = this.#path(tip);
    const first = Math.min(from, path.turns.length);
    const end = Math.min(path.turns.length, first + Math.min(count, linesMax));
    const starts = Array.from({ length: end - first }, (_, at) => turnRange(path, first + at));
    const prompts = starts.map((range) => this.#promptRow(path, range));
    const bodies = new Map<number, SessionEntry>();
    for await (const { row, entry } of this.#engine.bodies.entries(prompts)) bodies.set(row, entry);
    const signs = starts.map((range) => this.#signsIn(path, range));
    const titles = await this.#ways.titles(signs.flatMap(({ ways }) => ways));
    const lines = prompts.map((row, at): OutlineLine => {
      const turn = first + at;
      const { ways, ...facts } = signs[at] ?? noSigns;
      return {
        turn,
        section: path.turns[turn] ?? 0,
        row,
        text: firstLine(promptText(bodies.get(row))) || "(no prompt)",
        timeMs: this.#index.rows.time(row),
        branches: ways.map((way) => ({ row: way, title: titles.get(way) ?? "(no text)" })),
        ...facts,
      };
    });
    const { generation } = this.#shown;
    return { generation, turnCount: path.turns.length, from: first, lines };
  }

  async #prompt(path: TurnPath, turn: number): Promise<string> {
    const row = this.#promptRow(path, turnRange(path, turn));
    if (this.#reader.roleOf(row) !== "prompt") return "";
    return firstLine(promptText(await this.#engine.bodies.entry(row)));
  }

  #promptRow(path: TurnPath, { from, to }: { from: number; to: number }): number {
    for (let place = from; place < Math.min(to, from + 50); place += 1) {
      const row = path.rows[place] ?? 0;
      if (this.#reader.roleOf(row) === "prompt") return row;
    }
    return path.rows[from] ?? 0;
  }

  /** The branches with two entries. Throws `ERR_ENTRY_NOT_FOUND`. */
  async compare(one: number, other: number): Promise<BranchComparison> {
    const branch = (row: number): Int32Array =>
      this.#engine.rowPath(this.#index.idOf(this.#ways.tipBelow(row))).rows;
    return comparedBranches(branch(one), branch(other), {
      engine: this.#engine,
      reader: this.#reader,
      estimate: this.#estimate,
    });
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
      isAnswer: (row) => this.#reader.roleOf(row) === "answer",
      isCompaction: (row) => this.#index.kindOf(row).type === "compaction",
    });
    const points: TimelinePoint[] = [];
    let section = 0;
    const places = new Map(answers.map((place) => [path.rows[place] ?? 0, place]));
    for await (const { row, entry } of this.#engine.bodies.entries(places.keys())) {
      const place = places.get(row) ?? 0;
      while ((path.sections[section + 1] ?? Infinity) <= place) section += 1;
      const { total } = usage.apply(usage.initial(), { revision: 0, entry });
      const given = total.input + total.cacheRead + total.cacheWrite;
      const tokens = given > 0 ? given : null;
      const timeMs = this.#index.rows.time(row);
      points.push({ section, row, timeMs, tokens, isError: hasFailed(entry) });
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

  #signsIn(path: TurnPath, { from, to }: { from: number; to: number }): OutlineSigns {
    const index = this.#index;
    const { labels } = this.#shown.session;
    let [label, hasCompaction]: [string | null, boolean] = [null, false];
    const ways: number[] = [];
    let branchCount = 0;
    // A first turn may have other roots next to it.
    for (let place = from || -1; place < Math.min(to, from + summedEntriesMax); place += 1) {
      const others = this.#ways.below(path, place);
      if (others.length > 1) {
        const shown = path.rows[place + 1];
        branchCount += others.length - 1;
        ways.push(...others.filter((one) => one !== shown).slice(0, outlineWaysMax - ways.length));
      }
      const row = path.rows[place];
      if (row === undefined) continue;
      hasCompaction ||= index.kindOf(row).type === "compaction";
      if (labels.size > 0) label ??= labels.get(index.idOf(row))?.label ?? null;
    }
    return { label, ways, branchCount, hasCompaction };
  }

  #path(tip: number | null): TurnPath {
    const { generation, rowCount } = this.#shown;
    const leaf = this.#shown.session.leaf;
    const index = this.#index;
    if (tip !== null && tip >= index.count) throw noEntry(tip);
    const id = tip === null ? leaf : index.idOf(tip);
    // Rows above a tip stay what they are, unless a parent comes late.
    const name = `${generation}/${rowCount}/${id}`;
    const known = this.#paths.get(name);
    if (known !== undefined) return known;
    const rows = tip === null ? this.#shown.path() : this.#engine.rowPath(id).rows;
    const path = this.#reader.path(rows);
    this.#paths.set(name, path);
    for (const oldest of this.#paths.keys()) {
      if (this.#paths.size <= pathsMax) break;
      this.#paths.delete(oldest);
    }
    return path;
  }

  async #entries(rows: Int32Array): Promise<readonly PlacedEntry[]> {
    const entries: PlacedEntry[] = [];
    for await (const entry of this.#reader.entries(rows)) entries.push(entry);
    return entries;
  }

  get #index(): Engine["index"] {
    return this.#engine.index;
  }
}

function hasFailed(entry: SessionEntry): boolean {
  const said = entryParts(entry);
  return (
    said?.speaker.isError === true || said?.parts.some(({ kind }) => kind === "error") === true
  );
}
