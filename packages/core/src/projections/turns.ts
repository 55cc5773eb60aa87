/**
 * The turns of a path, in ConnectOnion's words: a turn begins with each user message and ends
 * before the next. A compaction changes nothing about them. Pure and linear; messages of any shape
 * are taken as far as they can be read.
 */
import type { SessionEntry } from "../entries/entry-types.ts";
import type { Projection } from "./projection.ts";
import { isStoredObject, storedList, storedText } from "./stored-value.ts";
import { noUsage, plus, spentBy, usage } from "./usage.ts";
import type { UsageTotals } from "./usage.ts";

/**
 * The summary of a turn, under ConnectOnion's names: that of a session is computed from its
 * messages, that of a document is what was written.
 */
export interface TurnSummary {
  /** The text of its user message. */
  readonly input: string;
  /** The last text of an assistant in it; empty if there is none. */
  readonly result: string;
  /** `provider/model` of its last answer, as `co/gemini-2.5-pro`; empty if there is none. */
  readonly model: string;
  /** From its first user, assistant or tool message to its last. */
  readonly duration_ms: number;
  /** Input and output of its requests together; what a cache gave or took is not among them. */
  readonly tokens: number;
  /** US dollars, of its requests together; 0 also if no request says what it cost. */
  readonly cost: number;
  /** The calls of tools in it, in order, each as `run(command='ls -la')`; see `toolCallText`. */
  readonly tools_called: readonly string[];
  /** The expected result, if a note has one. */
  readonly expected?: string;
  /** Whether the result was as expected, if a note says so. */
  readonly passed?: boolean;
}

/** One turn. */
export interface SessionTurn extends TurnSummary {
  /** Its number on the path, from 1. */
  readonly turn: number;
  /** Of its first entry, as ISO 8601; empty if that has none. */
  readonly timestamp: string;
  /** The id of its user message. */
  readonly entryId: string;
  /** Tokens that its requests read from a cache. */
  readonly cache_read_tokens: number;
  /** Tokens that its requests wrote to a cache. */
  readonly cache_write_tokens: number;
  /** Everything that was said about it, `expected` and `passed` included. */
  readonly fields: TurnFields;
}

/** Sums over turns. */
export interface TurnTotals {
  readonly count: number;
  readonly total_tokens: number;
  readonly total_cache_read_tokens: number;
  readonly total_cache_write_tokens: number;
  /** US dollars. */
  readonly total_cost: number;
  /** Turns whose note says that they passed. */
  readonly passed: number;
  /** Turns whose note says that they did not. */
  readonly failed: number;
}

/** A turn that entries are still added to. */
export interface OpenTurn {
  readonly turn: number;
  readonly entryId: string;
  readonly startMs: number;
  endMs: number;
  timestamp: string;
  input: string;
  result: string;
  model: string;
  spent: UsageTotals;
  readonly toolsCalled: string[];
}

/** A turn that begins with the user message of that id, at that time. */
export function beginTurn(turn: number, entryId: string, timeMs: number): OpenTurn {
  const texts = { timestamp: "", input: "", result: "", model: "" };
  const times = { startMs: timeMs, endMs: timeMs };
  return { turn, entryId, ...times, ...texts, spent: noUsage, toolsCalled: [] };
}

/** Whether a message with that role is part of a turn's time; a shell command beside it is not. */
export function takesTime(role: string | undefined): boolean {
  return role === "user" || role === "assistant" || role === "toolResult";
}

/** Extends the turn to that time; one that cannot be read is ignored. */
export function goOn(open: OpenTurn, timeMs: number): void {
  if (!Number.isNaN(timeMs)) open.endMs = timeMs;
}

/**
 * Whether an entry of that kind adds to a turn beyond its time: what users and assistants said, and
 * what was spent beside them. What tools spent is left out, as their results are long.
 */
export function addsToTurn(type: string, role: string | undefined): boolean {
  if (type === "message") return role === "user" || role === "assistant";
  return usage.types?.includes(type) === true;
}

/** Adds the body of an entry for which {@link addsToTurn} holds; every other says nothing here. */
export function addEntry(open: OpenTurn, entry: SessionEntry): void {
  if (!addsToTurn(entry.type, roleOf(entry))) return;
  const spent = spentBy(entry);
  if (spent !== undefined) open.spent = plus(open.spent, spent.usage);
  addMessage(open, entry);
}

function addMessage(open: OpenTurn, entry: SessionEntry): void {
  const message: unknown = entry.type === "message" ? entry.message : undefined;
  if (!isStoredObject(message) || !("role" in message)) return;
  const content = "content" in message ? message.content : undefined;
  if (message.role === "assistant") {
    addAnswer(open, message, content);
  } else if (message.role === "user" && entry.id === open.entryId) {
    open.input = storedText(content, "\n");
    open.timestamp = typeof entry.timestamp === "string" ? entry.timestamp : "";
  }
}

function addAnswer(open: OpenTurn, message: object, content: unknown): void {
  open.result = storedText(content, "\n") || open.result;
  open.model = modelOf(message) || open.model;
  for (const block of storedList(content)) {
    if (!isStoredObject(block) || !("type" in block) || block.type !== "toolCall") continue;
    const name = "name" in block ? block.name : undefined;
    open.toolsCalled.push(toolCallText(name, "arguments" in block ? block.arguments : undefined));
  }
}

/** `provider/model`, or what there is of it. */
function modelOf(message: object): string {
  const provider = "provider" in message ? message.provider : "";
  const model = "model" in message ? message.model : "";
  return [provider, model].filter((part) => typeof part === "string" && part !== "").join("/");
}

/** The notes of a turn without notes. */
export const nothingSaid: TurnFields = {};

/**
 * The turn as it is now, with its notes. What is added later does not change it.
 */
export function turnOf(open: OpenTurn, fields: TurnFields = nothingSaid): SessionTurn {
  const { turn, input, result, model, spent, timestamp, entryId } = open;
  const duration = open.endMs - open.startMs;
  return withFields(
    {
      turn,
      input,
      result,
      model,
      duration_ms: duration > 0 ? duration : 0,
      tokens: spent.input + spent.output,
      cost: spent.cost,
      tools_called: [...open.toolsCalled],
      timestamp,
      entryId,
      cache_read_tokens: spent.cacheRead,
      cache_write_tokens: spent.cacheWrite,
      fields: nothingSaid,
    },
    fields,
  );
}

/** The same turn, with what was said about it. */
export function withFields(turn: SessionTurn, fields: TurnFields): SessionTurn {
  const { expected: _, passed: __, ...rest } = turn;
  const expected = fields["expected"];
  const passed = fields["passed"];
  return {
    ...rest,
    ...(typeof expected === "string" ? { expected } : {}),
    ...(typeof passed === "boolean" ? { passed } : {}),
    fields,
  };
}

/**
 * The turns of a path whose entries are all loaded, root-most first.
 *
 * @param notes notes on turns; those of the whole log, as a rule
 */
export function turnsOfEntries(
  path: Iterable<SessionEntry>,
  notes: TurnNotes = new Map(),
): SessionTurn[] {
  const turns: OpenTurn[] = [];
  for (const entry of path) {
    const role = roleOf(entry);
    const timeMs = Date.parse(entry.timestamp);
    if (role === "user") turns.push(beginTurn(turns.length + 1, entry.id, timeMs));
    const open = turns.at(-1);
    if (open === undefined) continue;
    if (takesTime(role)) goOn(open, timeMs);
    addEntry(open, entry);
  }
  return turns.map((open) => turnOf(open, notes.get(open.entryId)));
}

function roleOf(entry: SessionEntry): string | undefined {
  const message: unknown = entry.type === "message" ? entry.message : undefined;
  const role = isStoredObject(message) && "role" in message ? message.role : undefined;
  return typeof role === "string" ? role : undefined;
}

/** What turns took together, and how many passed. */
export function turnTotals(turns: Iterable<SessionTurn>): TurnTotals {
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
  return totals;
}

// Notes on turns, such as `expected` and `passed`: entries of the type `branchlog.turn`, each with
// the id of the user message that begins the turn. They count on every branch. Pure.

/** The `customType` of these entries. */
export const turnNoteType = "branchlog.turn";

/** The notes of one turn, in the order of their first entries. */
export type TurnFields = Readonly<Record<string, unknown>>;

/** What was said about turns, by the id of the user message. */
export type TurnNotes = ReadonlyMap<string, TurnFields>;

/** What one of these entries says. */
interface TurnNote {
  readonly targetId: string;
  readonly fields: TurnFields;
}

/** Reads such an entry; undefined for every other, and for one that says nothing of a turn. */
function turnNoteOf(entry: SessionEntry): TurnNote | undefined {
  if (entry.type !== "custom" || entry.customType !== turnNoteType) return undefined;
  const { data } = entry;
  if (!isStoredObject(data) || !("targetId" in data) || !("fields" in data)) return undefined;
  const { targetId, fields } = data;
  if (typeof targetId !== "string" || !isStoredObject(fields)) return undefined;
  return { targetId, fields: { ...fields } };
}

const fold: Projection<Map<string, TurnFields>> = {
  name: "turn-notes",
  version: 1,
  types: ["custom"],
  customTypes: [turnNoteType],
  initial: () => new Map(),
  apply: (state, { entry }) => {
    const note = turnNoteOf(entry);
    if (note === undefined) return state;
    return state.set(note.targetId, { ...state.get(note.targetId), ...note.fields });
  },
  snapshot: (state) => new Map(state),
};

/**
 * Folds them: of several for one turn, the later one's keys win, key by key. `apply` changes the
 * map that it is given: O(fields of the turn) per entry; take a `snapshot` of what must not change.
 */
export const turnNotes: Projection<TurnNotes> = fold;

// A call of a tool as one line, as ConnectOnion shows it: `run(command='ls -la')`. Meant to be
// read, not parsed: quotes inside a text stay as they are, long values are cut. Pure.

/** Characters of a value that are shown; a longer one ends in three dots. */
const shownMax = 50;

/** `name(argument=value, …)`; arguments that are no object are left out. */
export function toolCallText(name: unknown, given: unknown): string {
  const called = typeof name === "string" ? name : "";
  const shown = Object.entries(argumentsOf(given)).map(([key, value]) => {
    return typeof value === "string" ? `${key}='${cut(value)}'` : `${key}=${cut(valueText(value))}`;
  });
  return `${called}(${shown.join(", ")})`;
}

/** Arguments as an object; some providers store them as JSON text. */
function argumentsOf(given: unknown): object {
  if (isStoredObject(given)) return given;
  if (typeof given !== "string") return {};
  try {
    const parsed: unknown = JSON.parse(given);
    return isStoredObject(parsed) ? parsed : {};
  } catch {
    return {};
  }
}

/** At most so many characters, whole ones. */
function cut(text: string): string {
  if (text.length <= shownMax) return text;
  const characters = Array.from(text.slice(0, 2 * shownMax + 2));
  return characters.length <= shownMax ? text : `${characters.slice(0, shownMax).join("")}...`;
}

/**
 * A value as Python shows it, since that is where these lines come from; not much longer than what
 * is shown of it.
 */
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
