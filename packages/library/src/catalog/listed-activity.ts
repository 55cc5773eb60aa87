/**
 * The activity of a session: its turns, its branches, its busy time. Folded entry by entry, in
 * the order of the file; sums, their saved form, and what a later fold continues from.
 */
import { finiteNumber, malformed, savedList, savedText, wholeNumber } from "@branchlog/core/rows";

/** Over all branches. */
export interface ListedActivity {
  /** Messages of the user; prompts written by a program are not counted. */
  readonly turns: number;
  /** The start of the first user text that is not a command of the agent. */
  readonly firstPrompt: string | undefined;
  /** Entries without children. Exact unless more than 256 of them were continued later. */
  readonly branchCount: number;
  /** Epoch ms of the first entry. */
  readonly startedMs: number | undefined;
  /** The sum of all pauses between entries of at most 5 minutes, in ms. */
  readonly activeMs: number;
  /** Entries in equal parts of the time since the start, at most 24. */
  readonly counts: readonly number[];
  /** How long each of these parts is. */
  readonly partMs: number;
}

/** Ids of eight hex digits are numbers, as the scan of lines has them. */
export type EntryName = number | string;

/** What a fold continues from. */
export interface ActivityMarks {
  /** Null: no entry yet. */
  readonly last: EntryName | null;
  /** Entries without children, the last one left out. */
  readonly tips: readonly EntryName[];
  /** Further ones, which are not known by name. */
  readonly otherTips: number;
  readonly lastMs: number;
}

const partsMax = 24;
const partMsMin = 1_000;
const pauseMsMax = 5 * 60_000;
const promptUnitsMax = 1_000;
const tipsMax = 256;
const dateMsMax = 8.64e15;

/** A command of the agent, as `/mode plan`; a path has more of its signs. */
const command = /^\/[a-z][\w:-]*(?=\s|$)/iu;

const word = /^[\da-f]{8}$/u;

export function entryName(id: string): EntryName {
  return word.test(id) ? Number.parseInt(id, 16) : id;
}

export class ActivityFold {
  #turns: number;
  #firstPrompt: string | undefined;
  #last: EntryName | null;
  readonly #tips: Set<EntryName>;
  #otherTips: number;
  #startedMs: number | undefined;
  #lastMs: number;
  #activeMs: number;
  #counts: number[];
  #partMs: number;

  constructor(known?: ListedActivity, marks?: ActivityMarks) {
    this.#turns = known?.turns ?? 0;
    this.#firstPrompt = known?.firstPrompt;
    this.#startedMs = known?.startedMs;
    this.#activeMs = known?.activeMs ?? 0;
    this.#counts = [...(known?.counts ?? [])];
    this.#partMs = known?.partMs ?? partMsMin;
    this.#last = marks?.last ?? null;
    this.#tips = new Set(marks?.tips);
    this.#otherTips = marks?.otherTips ?? 0;
    this.#lastMs = marks?.lastMs ?? 0;
  }

  get value(): ListedActivity {
    return {
      turns: this.#turns,
      firstPrompt: this.#firstPrompt,
      branchCount: this.#tips.size + this.#otherTips + (this.#last === null ? 0 : 1),
      startedMs: this.#startedMs,
      activeMs: this.#activeMs,
      counts: [...this.#counts],
      partMs: this.#partMs,
    };
  }

  get marks(): ActivityMarks {
    const [last, otherTips, lastMs] = [this.#last, this.#otherTips, this.#lastMs];
    return { last, tips: [...this.#tips], otherTips, lastMs };
  }

  /** @param parent Null: it has none. @param timeMs NaN: unknown. O(1), mostly no object. */
  entry(name: EntryName, parent: EntryName | null, timeMs: number): void {
    if (parent !== this.#last) this.#branch(parent);
    this.#last = name;
    this.#time(timeMs);
  }

  /** Without an id; it belongs to no branch. */
  unnamed(timeMs: number): void {
    this.#time(timeMs);
  }

  /** @param text Undefined: it is not needed. */
  turn(text: string | undefined): void {
    this.#turns += 1;
    const said = beginningOf(text ?? "");
    if (this.#firstPrompt === undefined && said !== "" && !command.test(said)) {
      this.#firstPrompt = said;
    }
  }

  get wantsPrompt(): boolean {
    return this.#firstPrompt === undefined;
  }

  /** An entry continues another one than the last. */
  #branch(parent: EntryName | null): void {
    const last = this.#last;
    if (parent !== null) this.#tips.delete(parent);
    if (last === null) return;
    if (this.#tips.size < tipsMax) this.#tips.add(last);
    else this.#otherTips += 1;
  }

  #time(timeMs: number): void {
    if (!(timeMs > 0) || timeMs > dateMsMax) return;
    const pauseMs = timeMs - this.#lastMs;
    if (this.#startedMs === undefined) this.#startedMs = timeMs;
    else if (pauseMs > 0 && pauseMs <= pauseMsMax) this.#activeMs += pauseMs;
    if (timeMs > this.#lastMs) this.#lastMs = timeMs;
    const sinceMs = Math.max(0, timeMs - this.#startedMs);
    while (sinceMs >= this.#partMs * partsMax) this.#halve();
    const part = Math.floor(sinceMs / this.#partMs);
    while (this.#counts.length <= part) this.#counts.push(0);
    this.#counts[part] = (this.#counts[part] ?? 0) + 1;
  }

  #halve(): void {
    const counts = this.#counts;
    this.#partMs *= 2;
    this.#counts = counts.flatMap((count, at) =>
      at % 2 === 0 ? [count + (counts[at + 1] ?? 0)] : [],
    );
  }
}

function beginningOf(text: string): string {
  return text
    .trim()
    .slice(0, promptUnitsMax)
    .replace(/[\uD800-\uDBFF]$/, "");
}

type SavedActivity = readonly [
  turns: number,
  branchCount: number,
  startedMs: number | null,
  activeMs: number,
  partMs: number,
  counts: readonly number[],
  /** True: the first message. */
  firstPrompt: string | true | null,
];

export function savedActivity(
  known: ListedActivity,
  firstMessage: string | undefined,
): SavedActivity {
  const { turns, branchCount, startedMs = null, activeMs, partMs, counts, firstPrompt } = known;
  const isFirst = firstMessage !== undefined && firstPrompt === beginningOf(firstMessage);
  const prompt = isFirst ? true : firstPrompt;
  return [turns, branchCount, startedMs, activeMs, partMs, counts, prompt ?? null];
}

/** Throws `TypeError` for what was not saved. */
export function readActivity(
  saved: readonly unknown[],
  firstMessage: string | undefined,
): ListedActivity {
  const [turns, branchCount, startedMs, activeMs, partMs, counts, prompt] = saved;
  const partsTo = (value: unknown): number => wholeNumber(value, 0, Number.MAX_SAFE_INTEGER);
  const part = finiteNumber(partMs);
  if (part < partMsMin) throw malformed("length of a part");
  return {
    turns: partsTo(turns),
    branchCount: partsTo(branchCount),
    startedMs: startedMs === null ? undefined : timeOf(startedMs),
    activeMs: finiteNumber(activeMs),
    partMs: part,
    counts: savedList(counts, partsMax).map(partsTo),
    firstPrompt: readPrompt(prompt, firstMessage),
  };
}

function readPrompt(saved: unknown, firstMessage: string | undefined): string | undefined {
  if (saved === null) return undefined;
  return saved === true ? beginningOf(firstMessage ?? "") : savedText(saved);
}

function timeOf(value: unknown): number {
  const timeMs = finiteNumber(value);
  if (timeMs <= 0 || timeMs > dateMsMax) throw malformed("a time");
  return timeMs;
}

type SavedActivityMarks = readonly [
  last: EntryName | null,
  tips: readonly EntryName[],
  otherTips: number,
  lastMs: number,
];

export function savedActivityMarks(marks: ActivityMarks): SavedActivityMarks {
  return [marks.last, marks.tips, marks.otherTips, marks.lastMs];
}

/** Throws `TypeError` for what was not saved. */
export function readActivityMarks(saved: readonly unknown[]): ActivityMarks {
  const [last, tips, otherTips, lastMs] = saved;
  return {
    last: last === null ? null : nameOf(last),
    tips: savedList(tips, tipsMax).map(nameOf),
    otherTips: wholeNumber(otherTips, 0, Number.MAX_SAFE_INTEGER),
    lastMs: finiteNumber(lastMs),
  };
}

function nameOf(value: unknown): EntryName {
  return typeof value === "number" ? wholeNumber(value, 0, 0xffff_ffff) : savedText(value);
}
