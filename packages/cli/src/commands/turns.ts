/** `branchlog turns`: input, result and cost of each turn. */
import { shownNowMs, writeJsonLine } from "../command-io.ts";
import type { CommandIo, CommandResult } from "../command-io.ts";
import { oneLine } from "../text/clean-text.ts";
import { numberOf } from "../text/stored-field.ts";
import { knownCost } from "../text/quantities.ts";
import type { MessageTextOptions } from "../text/message-text.ts";
import { messageText } from "../text/message-text.ts";
import { turnRecord } from "../text/records.ts";
import { isJudged, turnDetails, turnLine, turnsHeading, turnsSummary } from "../text/turn-text.ts";
import { inBlocks, openTurns } from "../turn-source.ts";
import type { TurnReading, TurnSource } from "../turn-source.ts";

export interface TurnsOptions extends TurnReading {
  readonly turn: number | undefined;
  readonly replay: number | undefined;
}

export async function turnsCommand(options: TurnsOptions, io: CommandIo): Promise<CommandResult> {
  const source = await openTurns(options.file, io, options);
  if (options.turn !== undefined) await writeTurn(source, options.turn, options.json, io);
  else if (options.replay !== undefined) await writeReplay(source, options.replay, options, io);
  else if (options.json || io.out.isTerminal) await writeTurns(source, options.json, io);
  else await writeRecords(source, io);
  return 0;
}

async function writeTurns(source: TurnSource, json: boolean, { out }: CommandIo): Promise<void> {
  const { turns, totals, diagnostics } = source;
  if (json) {
    const shown = { ...totals, total_cost: knownCost(totals.total_cost) };
    await writeJsonLine(out, { turns: turns.map(withKnownCost), totals: shown, diagnostics });
    return;
  }
  const place = { columns: out.columns, style: out.style, isJudged: turns.some(isJudged) };
  if (turns.length > 0) await out.write(turnsHeading(place));
  for (const [at, turn] of turns.entries()) await out.write(turnLine(turn, at + 1, place));
  await out.write(turnsSummary(totals, diagnostics, out.style));
}

async function writeRecords(
  { turns, diagnostics }: TurnSource,
  { out, err }: CommandIo,
): Promise<void> {
  for (const [at, turn] of turns.entries()) await out.write(turnRecord(turn, at + 1));
  for (const { message } of diagnostics) await err.write(`${oneLine(message, 200)}\n`);
}

function withKnownCost(turn: object): object {
  return "cost" in turn ? { ...turn, cost: knownCost(numberOf(turn, "cost")) } : turn;
}

async function writeTurn(
  source: TurnSource,
  number: number,
  json: boolean,
  io: CommandIo,
): Promise<void> {
  const { out, signal } = io;
  const messages = await source.messagesOfTurn(number);
  const named = source.turns.find((turn) => "turn" in turn && turn.turn === number);
  const turn = named ?? source.turns[number - 1] ?? {};
  if (json) {
    await writeJsonLine(out, { turn: withKnownCost(turn), messages });
    return;
  }
  const shown = shownOn(io);
  await out.write(turnDetails(turn, shown));
  for (const message of messages) {
    signal.throwIfAborted();
    await out.write(`\n${messageText(inBlocks(message), shown)}`);
  }
}

function shownOn(io: CommandIo): MessageTextOptions {
  return { style: io.out.style, isFull: false, nowMs: shownNowMs(io) };
}

async function writeReplay(
  source: TurnSource,
  number: number,
  { json }: TurnsOptions,
  io: CommandIo,
): Promise<void> {
  const { out, signal } = io;
  const messages = await source.messagesForReplay(number);
  if (json) {
    await writeJsonLine(out, { messages });
    return;
  }
  const shown = shownOn(io);
  for (const [place, message] of messages.entries()) {
    signal.throwIfAborted();
    const text = messageText(inBlocks(message), shown);
    await out.write(`${place === 0 ? "" : "\n"}${text}`);
  }
}
