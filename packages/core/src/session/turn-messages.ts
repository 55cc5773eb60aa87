/**
 * The messages on a path turn by turn, as they were sent: a compaction removes nothing here, and
 * its summary is left out. For callers that continue a session in full, or run one of its turns
 * again. Reads the bodies of the requested messages, and no others.
 */
import type { AgentMessage } from "../entries/message-types.ts";
import { BranchlogError } from "../errors.ts";
import { entryMessages } from "../projections/context.ts";
import type { Engine } from "./engine.ts";

/** Types of entries that say something of their own. */
const saying: ReadonlySet<string> = new Set(["message", "custom_message", "branch_summary"]);

/** All messages on the path to an entry. */
export function messagesForResume(engine: Engine, leafId: string | null): Promise<AgentMessage[]> {
  return messagesOf(engine, pathRows(engine, leafId));
}

/**
 * What a model was given when a turn began: all messages before, and the user's.
 * @throws BranchlogError `ERR_INVALID_ARGUMENT` if there is no such turn.
 */
export function messagesForReplay(
  engine: Engine,
  leafId: string | null,
  turn: number,
): Promise<AgentMessage[]> {
  const rows = pathRows(engine, leafId);
  const { start } = placeOfTurn(engine, rows, turn);
  return messagesOf(engine, rows.subarray(0, start + 1));
}

/**
 * The messages of one turn, that of the user first.
 * @throws BranchlogError `ERR_INVALID_ARGUMENT` if there is no such turn.
 */
export function messagesOfTurn(
  engine: Engine,
  leafId: string | null,
  turn: number,
): Promise<AgentMessage[]> {
  const rows = pathRows(engine, leafId);
  const { start, end } = placeOfTurn(engine, rows, turn);
  return messagesOf(engine, rows.subarray(start, end));
}

function pathRows(engine: Engine, leafId: string | null): Int32Array {
  return engine.rowPath(leafId).rows;
}

function placeOfTurn(
  { index }: Engine,
  rows: Int32Array,
  turn: number,
): { readonly start: number; readonly end: number } {
  const starts: number[] = [];
  for (const [place, row] of rows.entries()) {
    const { type, role } = index.kindOf(row);
    if (type === "message" && role === "user") starts.push(place);
  }
  const start = Number.isInteger(turn) ? starts[turn - 1] : undefined;
  if (start === undefined) throw noSuchTurn(turn, starts.length);
  return { start, end: starts[turn] ?? rows.length };
}

/** `ERR_INVALID_ARGUMENT`: the turn is none of those that there are. */
export function noSuchTurn(turn: number, count: number): BranchlogError {
  const there = count === 0 ? "there are none" : `there are ${count}, numbered from 1`;
  return new BranchlogError("ERR_INVALID_ARGUMENT", `There is no turn ${turn}: ${there}.`);
}

async function messagesOf(engine: Engine, rows: Int32Array): Promise<AgentMessage[]> {
  const { index, bodies, findings } = engine;
  const messages: AgentMessage[] = [];
  const wanted = rows.filter((row) => saying.has(index.kindOf(row).type));
  for await (const { entry } of bodies.entries(wanted)) {
    const own = entryMessages(entry, (problem) => findings.addMalformed(problem));
    for (const message of own) messages.push(message);
  }
  return messages;
}
