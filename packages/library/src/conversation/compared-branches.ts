/** Two branches side by side: the turns after their last common entry, with their sums. */
import type { Engine } from "@branchlog/core/engine";
import type { BranchComparison, ComparedBranch, ComparedTurn } from "./shown-conversation.ts";
import { TurnSum, shownHead } from "./turn-facts.ts";
import type { EstimateCost } from "./turn-facts.ts";
import { firstLine, promptText, turnItems } from "./turn-items.ts";
import type { TurnItem } from "./turn-items.ts";
import { turnRange } from "./turn-path.ts";
import type { TurnReader } from "./turn-reader.ts";

const turnsMax = 100;
const commonTurnsMax = 50;
/** Of a longer branch the sums are of its beginning. */
const summedEntriesMax = 20_000;

interface Reading {
  readonly engine: Engine;
  readonly reader: TurnReader;
  readonly estimate: EstimateCost;
}

/** @param one The rows of a branch, from the root; so is `other`. */
export async function comparedBranches(
  one: Int32Array,
  other: Int32Array,
  reading: Reading,
): Promise<BranchComparison> {
  let count = 0;
  while (count < one.length && count < other.length && one[count] === other[count]) count += 1;
  return {
    generation: reading.engine.log.generation,
    common: await commonPart(one.subarray(0, count), reading),
    branches: [
      await comparedBranch(one.subarray(count), reading),
      await comparedBranch(other.subarray(count), reading),
    ],
  };
}

async function commonPart(
  rows: Int32Array,
  { engine, reader }: Reading,
): Promise<BranchComparison["common"]> {
  const path = reader.path(rows);
  const { length: turnCount } = path.turns;
  const prompts = Array.from(path.turns.keys())
    .slice(-commonTurnsMax)
    .map((turn) => {
      const { from, to } = turnRange(path, turn);
      const row = rows.subarray(from, to).find((at) => reader.roleOf(at) === "prompt");
      return row ?? rows[from] ?? 0;
    });
  const turns: { row: number; prompt: string }[] = [];
  for await (const { row, entry } of engine.bodies.entries(prompts)) {
    turns.push({ row, prompt: firstLine(promptText(entry)) });
  }
  return { entryCount: rows.length, turnCount, turns };
}

/** One turn while its parts are read. */
interface OpenTurn {
  readonly row: number;
  prompt: string;
  answer: string;
  entryCount: number;
  lastRow: number;
  readonly sum: TurnSum;
}

async function comparedBranch(
  rows: Int32Array,
  { reader, estimate }: Reading,
): Promise<ComparedBranch> {
  const path = reader.path(rows);
  const whole = new TurnSum();
  const turns: OpenTurn[] = [];
  let read = 0;
  for await (const { turn, entries } of reader.parts(path)) {
    const items = turnItems(entries);
    whole.add(entries, items);
    read += entries.length;
    if (turn < turnsMax) {
      const row = entries[0]?.row ?? 0;
      turns[turn] ??= newTurn(row);
      addPart(turns[turn], items, entries.length, entries.at(-1)?.row ?? row);
      turns[turn].sum.add(entries, items);
    }
    if (read >= summedEntriesMax) break;
  }
  const isPartial = read < rows.length;
  const [row = -1, lastRow = -1] = [rows[0], rows.at(-1)];
  const shown = turns.map(({ sum, entryCount, ...turn }): ComparedTurn => {
    const place = { entryCount, lastRow: turn.lastRow, isPartial };
    const { row: at, prompt, answer } = turn;
    return { row: at, prompt, answer, head: shownHead(sum.facts, estimate, place) };
  });
  const sums = shownHead(whole.facts, estimate, { entryCount: rows.length, lastRow, isPartial });
  return { row, lastRow, turnCount: path.turns.length, sums, turns: shown };
}

function newTurn(row: number): OpenTurn {
  return { row, prompt: "", answer: "", entryCount: 0, lastRow: row, sum: new TurnSum() };
}

function addPart(
  turn: OpenTurn,
  items: readonly TurnItem[],
  entryCount: number,
  lastRow: number,
): void {
  turn.entryCount += entryCount;
  turn.lastRow = lastRow;
  for (const item of items) {
    if (item.kind === "prompt") turn.prompt ||= firstLine(item.text);
    if (item.kind === "answer") turn.answer = firstLine(item.text) || turn.answer;
  }
}
