/**
 * Where the turns of a branch are, by the index alone: a turn is a prompt and all entries until
 * the next prompt. A long turn is read in sections. Every entry of the branch is in exactly one
 * section. Pure; O(entries of the branch).
 */

export interface TurnPath {
  /** The rows of the branch, from the root. */
  readonly rows: Int32Array;
  /** The place in `rows` where each section begins. */
  readonly sections: Int32Array;
  /** The section that each turn begins with. */
  readonly turns: Int32Array;
}

export interface SectionPlace {
  readonly section: number;
  readonly turn: number;
  /** Of the turn: it begins, or ends, with this section. */
  readonly isFirst: boolean;
  readonly isLast: boolean;
  /** Places in the path. */
  readonly from: number;
  readonly to: number;
}

/** `prompt` begins a turn; a section may begin before an `answer` as well. */
export type RowRole = "prompt" | "answer" | "other";

const sectionEntriesMax = 60;
/** Without an answer in between a section is split after this many. */
const sectionEntriesEnd = 4 * sectionEntriesMax;

/** Entries before the first prompt are a turn without one, unless they only set up the session. */
export function turnPath(rows: Int32Array, roleOf: (row: number) => RowRole): TurnPath {
  const [sections, turns] = [new Int32Array(rows.length), new Int32Array(rows.length)];
  let [sectionCount, turnCount] = [0, 0];
  let [start, isStarted, before]: [number, boolean, RowRole] = [0, false, "other"];
  for (let place = 0; place < rows.length; place += 1) {
    const role = roleOf(rows[place] ?? 0);
    const isTurn = place === 0 || (role === "prompt" && isStarted);
    const length = place - start;
    const isCut = length >= sectionEntriesMax && role === "answer" && before !== "answer";
    if (isTurn || isCut || length >= sectionEntriesEnd) {
      if (isTurn) turns[turnCount++] = sectionCount;
      sections[sectionCount++] = place;
      start = place;
    }
    isStarted ||= role !== "other";
    before = role;
  }
  // Copies: a session of few turns keeps few numbers.
  return { rows, sections: sections.slice(0, sectionCount), turns: turns.slice(0, turnCount) };
}

/** Undefined: the path has no such section. */
export function sectionAt(path: TurnPath, section: number): SectionPlace | undefined {
  const from = path.sections[section];
  if (from === undefined) return undefined;
  const turn = lastUpTo(path.turns, section);
  const next = path.turns[turn + 1] ?? path.sections.length;
  return {
    section,
    turn,
    isFirst: path.turns[turn] === section,
    isLast: next === section + 1,
    from,
    to: path.sections[section + 1] ?? path.rows.length,
  };
}

const sampledMax = 240;
const compactionsMax = 100;
/** Compactions around which the answers before and after are taken, so that their effect shows. */
const steepMax = 30;

/** Places of answers evenly along a branch, and of its latest compactions; ascending. */
export function sampledAnswers(
  rows: Int32Array,
  kinds: {
    readonly isAnswer: (row: number) => boolean;
    readonly isCompaction: (row: number) => boolean;
  },
): { readonly answers: readonly number[]; readonly compactions: readonly number[] } {
  const all: number[] = [];
  const compactions: number[] = [];
  /** How many answers are before each compaction. */
  const before: number[] = [];
  for (let place = 0; place < rows.length; place += 1) {
    const row = rows[place] ?? 0;
    if (kinds.isAnswer(row)) all.push(place);
    else if (kinds.isCompaction(row)) {
      compactions.push(place);
      before.push(all.length);
    }
  }
  const wanted = new Set<number>([all.length - 1]);
  const step = Math.max(1, all.length / sampledMax);
  for (let at = 0; at < all.length; at += step) wanted.add(Math.floor(at));
  for (const count of before.slice(-steepMax)) wanted.add(count - 1).add(count);
  const answers = [...wanted].toSorted((one, other) => one - other).flatMap((at) => all[at] ?? []);
  return { answers, compactions: compactions.slice(-compactionsMax) };
}

export function sectionOfPlace(path: TurnPath, place: number): number {
  return lastUpTo(path.sections, place);
}

/** The section that has a row; -1: the path does not have it. */
export function sectionOfRow(path: TurnPath, row: number): number {
  const place = path.rows.indexOf(row);
  return place < 0 ? -1 : lastUpTo(path.sections, place);
}

/** The entries of a whole turn, as places in the path. */
export function turnRange(
  path: TurnPath,
  turn: number,
): { readonly from: number; readonly to: number } {
  const [first, next] = [path.turns[turn], path.turns[turn + 1]];
  const from = first === undefined ? path.rows.length : (path.sections[first] ?? 0);
  const to = next === undefined ? path.rows.length : (path.sections[next] ?? from);
  return { from, to };
}

/** The index of the last value that is at most `wanted`, in ascending values. */
function lastUpTo(values: Int32Array, wanted: number): number {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((values[middle] ?? 0) <= wanted) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
