/**
 * Converts a ConnectOnion document to a log. Data that entries cannot express is kept unchanged.
 */
import { statSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { basename, dirname, extname } from "node:path";
import type { JsonObject, JsonValue, OptionNames } from "@branchlog/streaming";
import type { EntryDraft } from "@branchlog/core";
import { LogFile, createLog, engineSettings, requireOptions } from "@branchlog/core/files";
import {
  currentVersion,
  encodeDraft,
  encodeHeader,
  sourceType,
  spliceDraft,
  isObject,
} from "@branchlog/core/rows";
import type { DocumentBytes } from "@branchlog/core/rows";
import { newHeader } from "@branchlog/core/engine";
import { draftsOfChat, chatOfDrafts } from "./chat-messages.ts";
import type { TurnFacts } from "./chat-messages.ts";
import { printableJson, textOf } from "./json-values.ts";
import { openConnectonion } from "./connectonion-session.ts";
import { connectonionNames, isPlace } from "./document-head.ts";
import { asSession, runMessages } from "./eval-document.ts";
import type { ConnectonionOptions } from "./document-head.ts";
import { numberOfTurn } from "./document-types.ts";
import type { ConnectonionDocument, DocumentDiagnostic } from "./document-types.ts";
import { localTimeMs } from "./costs-and-times.ts";
import { messageList, readDocument } from "./read-document.ts";
import type { DocumentSource } from "./collected-turns.ts";
import { turnNoteType } from "./session-turns.ts";

export interface ImportConnectonionOptions extends ConnectonionOptions {
  /**
   * The working directory of the session. Default: where the document's `.co` is; otherwise none.
   */
  readonly cwd?: string;
  /** The id of the session. Default: a new UUIDv7. */
  readonly id?: string;
}

const importNames: OptionNames<ImportConnectonionOptions> = {
  ...connectonionNames,
  cwd: true,
  id: true,
};

export interface ImportedLog {
  readonly path: string;
  readonly turns: number;
  readonly entries: number;
  readonly diagnostics: readonly DocumentDiagnostic[];
}

/**
 * Creates a log from a document, in pi's format of version 3, mode 0600.
 * @throws BranchlogError as `openConnectonion`; `ERR_LOG_EXISTS`, `ERR_CREATE_FAILED`,
 * `ERR_INVALID_SESSION_ID`.
 */
export async function importConnectonion(
  documentPath: string,
  logPath: string,
  options: ImportConnectonionOptions = {},
): Promise<ImportedLog> {
  const { cwd, id, ...settings } = requireOptions(options, importNames);
  const { path: source, document, diagnostics } = await openConnectonion(documentPath, settings);
  const { ports } = engineSettings(settings);
  const path = new LogFile(ports.fs, logPath).path;
  const header = newHeader(ports, cwd ?? directoryOf(source), { id });
  const startMs = startOf(document) ?? ports.clock.now();
  const lines = new LogLines(startMs, () => ports.ids.entryId());
  addSource(lines, document);
  addConversation(lines, document);
  const timestamp = new Date(startMs).toISOString();
  createLog(ports, path, [encodeHeader({ ...header, timestamp }), ...lines.all]);
  return { path, turns: document.turns.length, entries: lines.all.length, diagnostics };
}

/**
 * The document as a log in place: entries have the same ids as long as the turns before them have
 * not changed. The first entry of a turn has its number, as `turn:3`.
 * @throws BranchlogError as `openConnectonion`.
 */
export async function documentLog(path: string, given?: DocumentBytes): Promise<Buffer> {
  const read =
    given === undefined
      ? (await openConnectonion(path)).document
      : readDocument(given.bytes.toString("utf8"), path).document;
  const document = asSession(read);
  const startMs = startOf(document) ?? given?.changedMs ?? statSync(path).mtimeMs;
  const timestamp = new Date(startMs).toISOString();
  const cwd = directoryOf(path) || dirname(path);
  const header = {
    type: "session",
    version: currentVersion,
    id: document.name || basename(path, extname(path)),
    timestamp,
    cwd,
  };
  const lines = new LogLines(startMs);
  if (document.name !== "") {
    lines.add({ type: "session_info", name: document.name }, startMs, "name");
  }
  addConversation(lines, document, given === undefined ? runMessages(path, document) : undefined);
  return Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), ...lines.all]);
}

/** The first stored time in epoch ms; undefined if the document has no time. */
function startOf({ data, turns }: ConnectonionDocument): number | undefined {
  const ofTurns = turns.map(({ timestamp }) => timestamp);
  // Older documents have one time, and none for their turns.
  const stored = [data["created"], ...ofTurns.slice(0, 1), data["timestamp"], ...ofTurns];
  const times = [...stored, data["updated"]].map(localTimeMs);
  return times.find((timeMs) => !Number.isNaN(timeMs));
}

function directoryOf(path: string): string {
  const place = dirname(path);
  return isPlace(place) ? dirname(dirname(place)) : "";
}

/** Each entry is the parent of the next. */
class LogLines {
  readonly all: Buffer[] = [];
  /** Undefined: entries have ids by their places. */
  readonly #newId: (() => string) | undefined;
  readonly #ids = new Set<string>();
  #last: string | null = null;
  timeMs: number;

  constructor(startMs: number, newId?: () => string) {
    this.timeMs = startMs;
    this.#newId = newId;
  }

  /** @param place In the document, as `turn:3`. */
  add(draft: EntryDraft, timeMs: number, place: string): string {
    let id = this.#newId?.() ?? place;
    for (let count = 1; this.#ids.has(id); count += 1) id = this.#newId?.() ?? `${place}#${count}`;
    this.#ids.add(id);
    const encoded = encodeDraft(draft, new Date(timeMs).toISOString());
    this.all.push(spliceDraft(encoded, id, this.#last));
    this.#last = id;
    this.timeMs = timeMs;
    return id;
  }
}

/** Data without an entry, for exports. */
function addSource(lines: LogLines, document: ConnectonionDocument): void {
  const { data, shape } = document;
  const { left } = messagesOf(document);
  const isField = ([key, value]: [string, JsonValue]): boolean =>
    !(key === "turns" && Array.isArray(value)) && !(key === "messages" && isObject(value));
  const source: DocumentSource = {
    kind: "connectonion",
    shape,
    keys: Object.keys(data),
    fields: Object.fromEntries(Object.entries(data).filter(isField)),
    messages: Object.fromEntries(left),
  };
  lines.add({ type: "custom", customType: sourceType, data: source }, lines.timeMs, "source");
}

/** Unchanged, by turn; and those outside turns. */
function messagesOf({ data, turns, shape }: ConnectonionDocument): {
  readonly taken: readonly (JsonValue | undefined)[];
  readonly left: ReadonlyMap<string, JsonValue>;
} {
  const isNested = shape === "nested";
  const stored = data["messages"];
  const left = new Map(Object.entries(!isNested && isObject(stored) ? stored : {}));
  const taken = turns.map((turn, place) => {
    const key = String(numberOfTurn(turn, place));
    const found = isNested ? plain(turn)["messages"] : left.get(key);
    left.delete(key);
    return found;
  });
  return { taken, left };
}

/** @param others Messages by turn, if the document has none. */
function addConversation(
  lines: LogLines,
  document: ConnectonionDocument,
  others: readonly JsonObject[][] = [],
): void {
  const { turns, shape, systemPrompt } = document;
  const { taken } = messagesOf(document);
  if (systemPrompt !== undefined && systemPrompt !== "") {
    const message = { role: "system", content: systemPrompt, timestamp: lines.timeMs } as const;
    lines.add({ type: "message", message }, lines.timeMs, "system");
  }
  for (const [place, turn] of turns.entries()) {
    const id = `turn:${numberOfTurn(turn, place)}`;
    const found = taken[place] ?? others[place];
    addTurn(lines, plain(turn), { id, found, isNested: shape === "nested" });
  }
}

interface TurnPlace {
  readonly id: string;
  /** Its messages as stored. */
  readonly found: JsonValue | undefined;
  readonly isNested: boolean;
}

function addTurn(lines: LogLines, fields: JsonObject, { id, found, isNested }: TurnPlace): void {
  const list = messageList(found)?.map((message) => plain(message));
  const facts = factsOf(fields, lines.timeMs);
  const drafts = draftsOfChat(spokenIn(fields, list), facts);
  const chat = chatOfDrafts(drafts);
  // Text must be equal to the character.
  const isText = isNested && typeof found === "string";
  const isSame = isText ? printableJson(chat) === found : isDeepStrictEqual(chat, found);
  const ids = drafts.map((draft, place) => {
    const isLast = place > 0 && place === drafts.length - 1;
    return lines.add(draft, isLast ? facts.endMs : facts.startMs, id);
  });
  const own = isNested && "messages" in fields ? { ...fields, messages: null } : fields;
  const asFound = list !== undefined && isSame ? {} : { messages: found ?? null };
  const data = { targetId: ids[0] ?? "", fields: own, isWhole: true, ...asFound };
  lines.add({ type: "custom", customType: turnNoteType, data }, lines.timeMs, id);
}

/** The messages, beginning with one of the user, as turns of a log do. */
function spokenIn(fields: JsonObject, list: readonly JsonObject[] | undefined): JsonObject[] {
  const at = list?.findIndex(({ role }) => role !== "system") ?? -1;
  const first = list?.[at];
  // Prompts of the system may stand before it.
  if (list !== undefined && first?.["role"] === "user") {
    return [first, ...list.slice(0, at), ...list.slice(at + 1)];
  }
  const result = textOf(fields["result"]);
  const answer = result === "" ? [] : [{ role: "assistant", content: result }];
  return [{ role: "user", content: textOf(fields["input"]) }, ...(list ?? answer)];
}

function factsOf(
  { model, timestamp, duration_ms: duration, tokens, cost }: JsonObject,
  beforeMs: number,
): TurnFacts {
  const ownMs = localTimeMs(timestamp);
  const startMs = Number.isNaN(ownMs) ? beforeMs : ownMs;
  const lasted = typeof duration === "number" && duration > 0 ? Math.round(duration) : 0;
  return {
    model: textOf(model),
    startMs,
    // The latest date; a longer turn is an error.
    endMs: Math.min(startMs + lasted, dateMsMax),
    tokens: typeof tokens === "number" ? tokens : 0,
    cost: typeof cost === "number" ? cost : 0,
  };
}

const dateMsMax = 8.64e15;

function plain(found: object): JsonObject {
  // Decoding boundary: it was read as JSON.
  return found as unknown as JsonObject;
}
