/**
 * Writes the turns on the path of a session as a ConnectOnion document. A log that was made of a
 * document gives one that says the same; of any other it gives what a document can say, and tells
 * what that leaves out. The session is only read.
 */
import { isDeepStrictEqual } from "node:util";
import { basename } from "node:path";
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import { BranchlogError, openSession } from "@branchlog/core";
import type { SessionView } from "@branchlog/core/types";
import { LogFile, createLog, engineSettings, exactArguments } from "@branchlog/core/internal";
import { TurnCollector } from "./collected-turns.ts";
import type { CollectedTurn, Loss } from "./collected-turns.ts";
import { storedEntries } from "./stored-entries.ts";
import type { ConnectonionOptions } from "./connectonion-session.ts";
import type { DocumentSource } from "./document-source.ts";
import type { DocumentShape } from "./document-types.ts";
import { asciiJson } from "./json-line.ts";
import { localTimeText } from "./local-time.ts";
import { addedCost, roundedCost } from "./money.ts";
import { documentText } from "./new-document.ts";
import { isObject, messageList, numberOfTurn, readDocument } from "./read-document.ts";

/** How a session becomes a document. */
export interface ExportConnectonionOptions extends ConnectonionOptions {
  /** The name of the agent. Default: as imported, else the session's name, else the file's. */
  readonly name?: string;
}

/** What was made. */
export interface ExportedDocument {
  /** Canonical path of the document. */
  readonly path: string;
  readonly turns: number;
  /** What is in the session and not in the document, by reason; empty if it says everything. */
  readonly lost: readonly Loss[];
}

/**
 * Creates a document of a session, mode 0600.
 * @param log A path, or an open session; then the path to its leaf is what is written.
 * @throws BranchlogError as `openSession`; `ERR_LOG_EXISTS`, `ERR_CREATE_FAILED`,
 * `ERR_LOG_CHANGED`. There is no part of a document then.
 */
export async function exportConnectonion(
  log: string | SessionView,
  documentPath: string,
  options: ExportConnectonionOptions = {},
): Promise<ExportedDocument> {
  const { ports } = engineSettings(options);
  const path = new LogFile(ports.fs, documentPath).path;
  const session = typeof log === "string" ? await openSession(log, { access: "read", ports }) : log;
  const collector = await session.readOfOneLog(() => collectTurns(session));
  const data = documentData(collector, {
    name: options.name ?? session.name ?? basename(path).replace(/\.ya?ml$/, ""),
    created: localTimeText(Date.parse(session.header.timestamp)),
  });
  const text = documentText(data);
  requireMeant(text, data, path);
  createLog(ports, path, [Buffer.from(text)]);
  return { path, turns: collector.turns.length, lost: collector.losses };
}

/** The turns on the path to the leaf, with all that is said in them. */
async function collectTurns(session: SessionView): Promise<TurnCollector> {
  const collector = new TurnCollector(await session.turns());
  let entries = 0;
  for await (const { line, entry } of storedEntries(session)) {
    entries += 1;
    collector.add(entry, exactArguments(line));
  }
  collector.lose("branches", session.revision - entries);
  return collector;
}

/** What a document says that was made of no other. */
interface OwnFacts {
  readonly name: string;
  readonly created: string;
}

function documentData(collector: TurnCollector, own: OwnFacts): JsonObject {
  const { source, turns } = collector;
  const shape: DocumentShape = source?.shape ?? "keyed";
  const summaries: JsonObject[] = [];
  const keyed: JsonObject = {};
  let highest = 0;
  for (const collected of turns) {
    const summary = summaryOf(collected, highest + 1, collector);
    const number = numberOfTurn(summary, summaries.length);
    highest = Math.max(highest, number);
    const messages = messagesOf(collected);
    if (shape === "nested") {
      if (messages !== null || "messages" in summary) {
        const isOurs = Array.isArray(messages) && !Array.isArray(collected.asFound);
        summary["messages"] = isOurs ? asciiJson(messages) : messages;
      }
    } else if (messages !== null) keyed[String(number)] = messages;
    summaries.push(summary);
  }
  const head = headOf(collector, own);
  const messages = { ...keyed, ...source?.messages };
  const keyedMessages = shape === "keyed" ? messages : undefined;
  return arranged(head, { turns: summaries, messages: keyedMessages }, source);
}

/** What is said of a turn: as found, or as the log gives it. */
function summaryOf(
  { turn, isWhole, chat }: CollectedTurn,
  number: number,
  collector: TurnCollector,
): JsonObject {
  if (isWhole) return jsonOf(turn.fields);
  collector.lose("times of messages", chat.length);
  const cost = roundedCost(turn.cost);
  if (Math.abs(cost - turn.cost) > 1e-9) collector.lose("costs beyond four places");
  return {
    turn: number,
    input: turn.input,
    result: turn.result,
    model: turn.model,
    duration_ms: Math.round(turn.duration_ms),
    tokens: turn.tokens,
    cost,
    tools_called: [...turn.tools_called],
    timestamp: localTimeText(Date.parse(turn.timestamp)),
    ...jsonOf(turn.fields),
  };
}

/** The messages of a turn; null if a document had none for it. */
function messagesOf({ asFound, chat }: CollectedTurn): JsonValue {
  if (asFound === undefined) return chat;
  if (chat.length === 0) return asFound;
  // The turn went on after it was imported.
  const found = messageList(asFound) ?? [];
  return [...found.map((message) => jsonOf(message)), ...chat];
}

/** The keys above the turns, and the system prompt. */
function headOf(collector: TurnCollector, own: OwnFacts): JsonObject {
  const { source, turns } = collector;
  const added = turns.filter(({ isWhole }) => !isWhole).map(({ turn }) => turn);
  const last = added.at(-1);
  const lastMs = last === undefined ? Number.NaN : Date.parse(last.timestamp) + last.duration_ms;
  const { total_cost: cost, total_tokens: tokens } = source?.fields ?? {};
  const total = added.reduce(
    (sum, turn) => addedCost(sum, roundedCost(turn.cost)),
    typeof cost === "number" ? cost : 0,
  );
  const taken = added.reduce(
    (sum, turn) => sum + turn.tokens,
    typeof tokens === "number" ? tokens : 0,
  );
  const changed =
    added.length === 0
      ? {}
      : { updated: localTimeText(lastMs), total_cost: total, total_tokens: taken };
  if (source !== undefined) return { ...source.fields, ...onlyKeysOf(changed, source.fields) };
  const system_prompt = collector.systemPrompt ?? "";
  return { ...own, updated: "", total_cost: 0, total_tokens: 0, ...changed, system_prompt };
}

/** Those keys that the other has, too. */
function onlyKeysOf(object: JsonObject, other: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => key in other));
}

/** The keys of the format in their order. */
const usualKeys: readonly string[] = [
  "name",
  "created",
  "updated",
  "total_cost",
  "total_tokens",
  "turns",
  "system_prompt",
  "messages",
];

/** All keys in the order of the document that the log was made of, else in that of the format. */
function arranged(
  head: JsonObject,
  { turns, messages }: { readonly turns: JsonObject[]; readonly messages: JsonObject | undefined },
  source: DocumentSource | undefined,
): JsonObject {
  const values = new Map(Object.entries(head));
  const keys = source?.keys ?? usualKeys;
  // What stood for no turns, such as `turns:` with nothing behind it, stays if there still are
  // none.
  const isDue = (key: string, count: number): boolean =>
    count > 0 || (keys.includes(key) && !values.has(key));
  if (isDue("turns", turns.length)) values.set("turns", turns);
  const count = Object.keys(messages ?? {}).length;
  if (messages !== undefined && isDue("messages", count)) values.set("messages", messages);
  const order = new Set([...keys, ...values.keys()]);
  return Object.fromEntries(
    [...order].flatMap((key): [string, JsonValue][] => {
      const value = values.get(key);
      return value === undefined ? [] : [[key, value]];
    }),
  );
}

/** Nothing is written that would not be read as what is meant. */
function requireMeant(text: string, data: JsonObject, path: string): void {
  const read = readDocument(text, path).document.data;
  if (isDeepStrictEqual(read, jsonOf(data))) return;
  const message = `The session cannot be written to ${path} as a document; nothing was created.`;
  throw new BranchlogError("ERR_DOCUMENT_REFUSED", message, { path });
}

function jsonOf(value: object): JsonObject {
  const plain: unknown = JSON.parse(JSON.stringify(value));
  return isObject(plain) ? plain : {};
}
