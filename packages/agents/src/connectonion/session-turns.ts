/** The turns of a session: each begins with a user message on the path to the leaf. */
import { estimateOf } from "@branchlog/tools";
import { BranchlogError } from "@branchlog/core";
import type { AgentMessage, SessionEntry } from "@branchlog/core";
import type { SessionView } from "@branchlog/core/types";
import { entryMessages, isObject } from "@branchlog/core/rows";
import { watchedSession } from "@branchlog/core/engine";
import { TurnReader, TurnSum, answeringModel, turnItems } from "@branchlog/library/catalogs";
import type { PlacedEntry, TouchedFile, TurnItem } from "@branchlog/library/catalogs";
import { textOf } from "./json-values.ts";

/** The summary of a turn, computed for a session and as found in a document. */
export interface TurnSummary {
  readonly input: string;
  /** The last text of the assistant, or empty. */
  readonly result: string;
  /** `provider/model` of the last answer, as `co/gemini-2.5-pro`, or empty. */
  readonly model: string;
  /** From its first user, assistant or tool message to its last. */
  readonly duration_ms: number;
  /** Input and output of its requests together, without cached tokens. */
  readonly tokens: number;
  /** US dollars, of its requests together; 0 without costs. */
  readonly cost: number;
  /** Its tool calls in order, each as `run(command='ls -la')`; see `toolCallText`. */
  readonly tools_called: readonly string[];
  readonly expected?: string;
  /** Whether the result was as expected, if a note has it. */
  readonly passed?: boolean;
}

export interface SessionTurn extends TurnSummary {
  readonly turn: number;
  /** Of its first entry, as ISO 8601, or empty. */
  readonly timestamp: string;
  readonly entryId: string;
  readonly cache_read_tokens: number;
  readonly cache_write_tokens: number;
  /** Failed calls and answers. */
  readonly errors: number;
  /** The changes of its calls, as on the page. */
  readonly files: readonly TouchedFile[];
  /** If it was asked for: stored and estimated costs together; null: unknown. */
  readonly estimated_cost?: number | null;
  /** All fields of its notes, `expected` and `passed` included. */
  readonly fields: TurnFields;
}

export interface TurnTotals {
  readonly count: number;
  readonly total_tokens: number;
  readonly total_cache_read_tokens: number;
  readonly total_cache_write_tokens: number;
  readonly total_cost: number;
  readonly total_estimated_cost?: number | null;
  readonly passed: number;
  /** Turns whose note says that they failed. */
  readonly failed: number;
}

/** A turn whose entries come in parts. */
class OpenTurn {
  readonly entryId: string;
  #input = "";
  #timestamp = "";
  #result = "";
  #resultRow = -1;
  #model = "";
  readonly #toolsCalled: string[] = [];
  readonly #sum = new TurnSum();

  constructor(entryId: string) {
    this.entryId = entryId;
  }

  add(entries: readonly PlacedEntry[], items: readonly TurnItem[], isFirst: boolean): void {
    this.#sum.add(entries, items);
    const [first] = entries;
    for (const { entry } of entries) this.#model = answeringModel(entry) || this.#model;
    if (isFirst) this.#timestamp = textOf(first?.entry?.timestamp);
    for (const item of items) {
      if (item.kind === "prompt" && isFirst && item.row === first?.row) {
        this.#input += `${this.#input === "" ? "" : "\n"}${item.text}`;
      } else if (item.kind === "answer" && item.text !== "") this.#addAnswer(item.row, item.text);
      else if (item.kind === "call" && item.call !== null) {
        this.#toolsCalled.push(toolCallText(item.call.tool, item.call.arguments));
      }
    }
  }

  /** An answer may have several texts. */
  #addAnswer(row: number, text: string): void {
    this.#result = row === this.#resultRow ? `${this.#result}\n${text}` : text;
    this.#resultRow = row;
  }

  turn(number: number, fields: TurnFields = {}, estimates = false): SessionTurn {
    const { usage, durationMs, files, errors } = this.#sum.facts;
    const { input, output, cacheRead, cacheWrite, cost } = usage.total;
    const { expected, passed } = fields;
    return {
      turn: number,
      input: this.#input,
      result: this.#result,
      model: this.#model,
      duration_ms: durationMs,
      tokens: input + output,
      cost,
      tools_called: [...this.#toolsCalled],
      errors,
      files,
      timestamp: this.#timestamp,
      entryId: this.entryId,
      cache_read_tokens: cacheRead,
      cache_write_tokens: cacheWrite,
      ...(estimates ? { estimated_cost: estimateOf(usage).cost ?? null } : {}),
      fields,
      ...(typeof expected === "string" ? { expected } : {}),
      ...(typeof passed === "boolean" ? { passed } : {}),
    };
  }
}

class TurnList {
  readonly #turns: OpenTurn[] = [];
  readonly #idOf: (row: number) => string;

  constructor(idOf: (row: number) => string) {
    this.#idOf = idOf;
  }

  /** Entries of one turn; a turn starts with its prompt, after any other entry. */
  add(entries: readonly PlacedEntry[]): void {
    const start = entries.findIndex(({ type, role }) => type === "message" && role === "user");
    const first = entries[start];
    if (first !== undefined) this.#turns.push(new OpenTurn(this.#idOf(first.row)));
    const shown = entries.slice(Math.max(0, start));
    this.#turns.at(-1)?.add(shown, turnItems(shown), first !== undefined);
  }

  turns(notes: TurnNotes, estimates: boolean): SessionTurn[] {
    return this.#turns.map((open, at) => open.turn(at + 1, notes.get(open.entryId), estimates));
  }
}

/** @param notes Usually those of the whole log. */
export function turnsOfEntries(
  path: Iterable<SessionEntry>,
  notes: TurnNotes = new Map(),
): SessionTurn[] {
  const ids: string[] = [];
  const list = new TurnList((row) => ids[row] ?? "");
  let turn: PlacedEntry[] = [];
  for (const entry of path) {
    const { type, timestamp } = entry;
    const role = roleOf(entry);
    if (role === "user") {
      list.add(turn);
      turn = [];
    }
    turn.push({ row: ids.length, timeMs: Date.parse(timestamp), type, role, entry });
    ids.push(entry.id);
  }
  list.add(turn);
  return list.turns(notes, false);
}

function roleOf(entry: SessionEntry): string | undefined {
  const message: unknown = entry.type === "message" ? entry.message : undefined;
  const role = isObject(message) ? message["role"] : undefined;
  return typeof role === "string" ? role : undefined;
}

export function turnTotals(turns: readonly SessionTurn[]): TurnTotals {
  const caches = { total_cache_read_tokens: 0, total_cache_write_tokens: 0 };
  const totals = { count: 0, total_tokens: 0, ...caches, total_cost: 0, passed: 0, failed: 0 };
  for (const turn of turns) {
    totals.count += 1;
    totals.total_tokens += turn.tokens;
    totals.total_cache_read_tokens += turn.cache_read_tokens;
    totals.total_cache_write_tokens += turn.cache_write_tokens;
    totals.total_cost += turn.cost;
    if (turn.passed === true) totals.passed += 1;
    if (turn.passed === false) totals.failed += 1;
  }
  const estimates = Array.from(turns, ({ estimated_cost: cost }) => cost);
  if (!estimates.some((cost) => cost !== undefined)) return totals;
  const known = estimates.filter((cost) => typeof cost === "number");
  const sum = known.reduce((dollars, cost) => dollars + cost, 0);
  return { ...totals, total_estimated_cost: known.length === 0 ? null : sum };
}

// Notes on turns: entries `branchlog.turn` with the id of a turn's user message, valid on every
// branch.

/** The `customType` of these entries. */
export const turnNoteType = "branchlog.turn";

/** The fields of one turn's notes, in the order of their first entries. */
export type TurnFields = Readonly<Record<string, unknown>>;

/** Notes by the id of the turn's user message. */
export type TurnNotes = ReadonlyMap<string, TurnFields>;

/** The notes in entries; of several for one turn, later keys win. */
export function turnNotesIn(entries: Iterable<SessionEntry>): TurnNotes {
  const notes = new Map<string, TurnFields>();
  for (const entry of entries) {
    if (entry.type !== "custom" || entry.customType !== turnNoteType) continue;
    const { data } = entry;
    if (!isObject(data)) continue;
    const { targetId, fields } = data;
    if (typeof targetId !== "string" || !isObject(fields)) continue;
    notes.set(targetId, { ...notes.get(targetId), ...fields });
  }
  return notes;
}

export interface TurnsOptions {
  /** Whether costs that are not stored are estimated by list prices. Default false. */
  readonly estimates?: boolean;
}

/**
 * The turns on the path to the leaf of a session, including compacted ones. O(path).
 * @throws BranchlogError `ERR_LOG_CHANGED`.
 */
export async function sessionTurns(
  session: SessionView,
  { estimates = false }: TurnsOptions = {},
): Promise<SessionTurn[]> {
  return session.readOfOneLog(async () => {
    const noted: SessionEntry[] = [];
    const query = { type: "custom", customType: turnNoteType };
    for await (const entry of session.entries(query)) noted.push(entry);
    const notes = turnNotesIn(noted);
    const engine = engineOf(session);
    const reader = new TurnReader(engine);
    const list = new TurnList((row) => engine.index.idOf(row));
    const path = reader.path(pathRows(session));
    for await (const { entries } of reader.parts(path)) list.add(entries);
    return list.turns(notes, estimates);
  });
}

/** All messages on the path to the leaf, including compacted ones. */
export function messagesForResume(session: SessionView): Promise<AgentMessage[]> {
  return messagesOf(session, pathRows(session));
}

/**
 * The messages before a turn, and the user's message of it.
 * @throws BranchlogError `ERR_INVALID_ARGUMENT` if there is no such turn on the path.
 */
export async function messagesForReplay(
  session: SessionView,
  turn: number,
): Promise<AgentMessage[]> {
  const rows = pathRows(session);
  return messagesOf(session, rows.subarray(0, placeOfTurn(session, rows, turn).start + 1));
}

/**
 * The messages of one turn, beginning with the user's.
 * @throws BranchlogError `ERR_INVALID_ARGUMENT` if there is no such turn on the path.
 */
export async function messagesOfTurn(session: SessionView, turn: number): Promise<AgentMessage[]> {
  const rows = pathRows(session);
  const { start, end } = placeOfTurn(session, rows, turn);
  return messagesOf(session, rows.subarray(start, end));
}

/** `ERR_INVALID_ARGUMENT` for a turn that does not exist. */
export function noSuchTurn(turn: number, count: number): BranchlogError {
  const there = count === 0 ? "there are none" : `there are ${count}, numbered from 1`;
  return new BranchlogError("ERR_INVALID_ARGUMENT", `There is no turn ${turn}: ${there}.`);
}

type Engine = ReturnType<typeof watchedSession>["engine"];

function engineOf(session: SessionView): Engine {
  return watchedSession(session).engine;
}

function pathRows(session: SessionView): Int32Array {
  return engineOf(session).rowPath(session.leaf).rows;
}

function placeOfTurn(
  session: SessionView,
  rows: Int32Array,
  turn: number,
): { readonly start: number; readonly end: number } {
  const { index } = engineOf(session);
  const starts: number[] = [];
  for (const [place, row] of rows.entries()) {
    const { type, role } = index.kindOf(row);
    if (type === "message" && role === "user") starts.push(place);
  }
  const start = Number.isInteger(turn) ? starts[turn - 1] : undefined;
  if (start === undefined) throw noSuchTurn(turn, starts.length);
  return { start, end: starts[turn] ?? rows.length };
}

const messageTypes: ReadonlySet<string> = new Set(["message", "custom_message", "branch_summary"]);

async function messagesOf(session: SessionView, rows: Int32Array): Promise<AgentMessage[]> {
  const { index, bodies, findings } = engineOf(session);
  const messages: AgentMessage[] = [];
  const wanted = rows.filter((row) => messageTypes.has(index.kindOf(row).type));
  for await (const { entry } of bodies.entries(wanted)) {
    messages.push(...entryMessages(entry, (problem) => findings.addMalformed(problem)));
  }
  return messages;
}

// Tool calls as ConnectOnion shows them. Meant to be read, not parsed: quotes are not escaped, long
// values are cut.

const shownMax = 50;

/** Arguments that are not an object are left out. */
export function toolCallText(name: unknown, given: unknown): string {
  const called = typeof name === "string" ? name : "";
  const shown = Object.entries(argumentsOf(given)).map(([key, value]) => {
    return typeof value === "string" ? `${key}='${cut(value)}'` : `${key}=${cut(valueText(value))}`;
  });
  return `${called}(${shown.join(", ")})`;
}

/** Some providers store arguments as JSON text. */
function argumentsOf(given: unknown): object {
  if (isObject(given)) return given;
  if (typeof given !== "string") return {};
  try {
    const parsed: unknown = JSON.parse(given);
    return isObject(parsed) ? parsed : {};
  } catch {
    return {};
  }
}

function cut(text: string): string {
  if (text.length <= shownMax) return text;
  const characters = Array.from(text.slice(0, 2 * shownMax + 2));
  return characters.length <= shownMax ? text : `${characters.slice(0, shownMax).join("")}...`;
}

/** A value as Python prints it, not much longer than its shown part. */
function valueText(value: unknown, unitsMax: number = 4 * shownMax): string {
  if (value === null || value === undefined) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (typeof value === "string") return `'${value.slice(0, unitsMax)}'`;
  if (typeof value === "number") return String(value);
  if (typeof value !== "object") return "";
  const isList = Array.isArray(value);
  let text = isList ? "[" : "{";
  for (const [key, item] of Object.entries(value)) {
    if (text.length > unitsMax) return text;
    if (text.length > 1) text += ", ";
    if (!isList) text += `'${key.slice(0, unitsMax)}': `;
    // Each level takes a character, so the room left bounds the recursion.
    text += valueText(item, Math.max(0, unitsMax - text.length));
  }
  return `${text}${isList ? "]" : "}"}`;
}
