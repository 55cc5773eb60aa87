/** Makes a log of a ConnectOnion document. What entries cannot express is kept as found. */
import { isDeepStrictEqual } from "node:util";
import { basename, dirname } from "node:path";
import type { JsonObject, JsonValue, OptionNames } from "@branchlog/streaming";
import type { EntryDraft } from "@branchlog/core";
import type { Ports } from "@branchlog/core/types";
import { LogFile, createLog, engineSettings, requireOptions } from "@branchlog/core/files";
import { encodeDraft, encodeHeader, sourceType, spliceDraft } from "@branchlog/core/rows";
import { newHeader } from "@branchlog/core/engine";
import { draftsOfChat, chatOfDrafts } from "./chat-messages.ts";
import type { TurnFacts } from "./chat-messages.ts";
import { isObject, printableJson, textOf } from "./json-values.ts";
import { connectonionNames, openConnectonion } from "./connectonion-session.ts";
import type { ConnectonionOptions } from "./connectonion-session.ts";
import { numberOfTurn } from "./document-types.ts";
import type { ConnectonionDocument, DocumentDiagnostic } from "./document-types.ts";
import { localTimeMs } from "./costs-and-times.ts";
import { messageList } from "./read-document.ts";
import type { DocumentSource } from "./collected-turns.ts";
import { turnNoteType } from "./session-turns.ts";

export interface ImportConnectonionOptions extends ConnectonionOptions {
  /** The working directory of the session. Default: where the document's `.co` is; else none. */
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
  const createdMs = [document.created, document.turns[0]?.timestamp].map(localTimeMs);
  const startMs = createdMs.find((timeMs) => !Number.isNaN(timeMs)) ?? ports.clock.now();
  const lines = new LogLines(ports, startMs);
  addDocument(lines, document);
  const timestamp = new Date(startMs).toISOString();
  createLog(ports, path, [encodeHeader({ ...header, timestamp }), ...lines.all]);
  return { path, turns: document.turns.length, entries: lines.all.length, diagnostics };
}

export function directoryOf(path: string): string {
  const sessions = dirname(path);
  const co = dirname(sessions);
  return basename(sessions) === "sessions" && basename(co) === ".co" ? dirname(co) : "";
}

/** Each entry is the parent of the next. */
class LogLines {
  readonly all: Buffer[] = [];
  readonly #ports: Ports;
  readonly #ids = new Set<string>();
  #last: string | null = null;
  timeMs: number;

  constructor(ports: Ports, startMs: number) {
    this.#ports = ports;
    this.timeMs = startMs;
  }

  add(draft: EntryDraft, timeMs: number): string {
    let id = this.#ports.ids.entryId();
    while (this.#ids.has(id)) id = this.#ports.ids.entryId();
    this.#ids.add(id);
    const encoded = encodeDraft(draft, new Date(timeMs).toISOString());
    this.all.push(spliceDraft(encoded, id, this.#last));
    this.#last = id;
    this.timeMs = timeMs;
    return id;
  }
}

function addDocument(lines: LogLines, document: ConnectonionDocument): void {
  const { data, turns, shape, systemPrompt } = document;
  const isNested = shape === "nested";
  const stored = data["messages"];
  const left = new Map(Object.entries(!isNested && isObject(stored) ? stored : {}));
  const taken = turns.map((turn, place) => {
    const key = String(numberOfTurn(turn, place));
    const found = isNested ? plain(turn)["messages"] : left.get(key);
    left.delete(key);
    return found;
  });
  const isField = ([key, value]: [string, JsonValue]): boolean =>
    !(key === "turns" && Array.isArray(value)) && !(key === "messages" && isObject(value));
  const source: DocumentSource = {
    kind: "connectonion",
    shape,
    keys: Object.keys(data),
    fields: Object.fromEntries(Object.entries(data).filter(isField)),
    messages: Object.fromEntries(left),
  };
  lines.add({ type: "custom", customType: sourceType, data: source }, lines.timeMs);
  if (systemPrompt !== undefined && systemPrompt !== "") {
    const message = { role: "system", content: systemPrompt, timestamp: lines.timeMs } as const;
    lines.add({ type: "message", message }, lines.timeMs);
  }
  for (const [place, turn] of turns.entries()) {
    addTurn(lines, plain(turn), taken[place], isNested);
  }
}

function addTurn(
  lines: LogLines,
  fields: JsonObject,
  found: JsonValue | undefined,
  isNested: boolean,
): void {
  const list = messageList(found)?.map((message) => plain(message));
  const facts = factsOf(fields, lines.timeMs);
  const drafts = draftsOfChat(spokenIn(fields, list), facts);
  const chat = chatOfDrafts(drafts);
  // Text must be equal to the character.
  const isText = isNested && typeof found === "string";
  const isSame = isText ? printableJson(chat) === found : isDeepStrictEqual(chat, found);
  const ids = drafts.map((draft, place) => {
    const isLast = place > 0 && place === drafts.length - 1;
    return lines.add(draft, isLast ? facts.endMs : facts.startMs);
  });
  const own = isNested && "messages" in fields ? { ...fields, messages: null } : fields;
  const asFound = list !== undefined && isSame ? {} : { messages: found ?? null };
  const data = { targetId: ids[0] ?? "", fields: own, isWhole: true, ...asFound };
  lines.add({ type: "custom", customType: turnNoteType, data }, lines.timeMs);
}

/** The messages, beginning with one of the user, as turns of a log do. */
export function spokenIn(
  fields: JsonObject,
  list: readonly JsonObject[] | undefined,
): JsonObject[] {
  if (list?.[0]?.["role"] === "user") return [...list];
  const result = textOf(fields["result"]);
  const answer = result === "" ? [] : [{ role: "assistant", content: result }];
  return [{ role: "user", content: textOf(fields["input"]) }, ...(list ?? answer)];
}

export function factsOf(
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

export function plain(found: object): JsonObject {
  // Decoding boundary: it was read as JSON.
  return found as unknown as JsonObject;
}
