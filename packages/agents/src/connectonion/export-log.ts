/** Writes the path of a session as a ConnectOnion document. */
import { isDeepStrictEqual } from "node:util";
import { basename } from "node:path";
import { decodeLine } from "@branchlog/streaming";
import type { JsonObject, JsonValue, OptionNames } from "@branchlog/streaming";
import { BranchlogError, isBranchlogError, openSession } from "@branchlog/core";
import type { SessionEntry } from "@branchlog/core";
import type { RedactionReport } from "@branchlog/tools";
import type { SessionView } from "@branchlog/core/types";
import {
  LogFile,
  createLog,
  engineSettings,
  requireBoolean,
  requireOptions,
} from "@branchlog/core/files";
import { exactArguments } from "@branchlog/core/rows";
import { Redactor } from "@branchlog/tools";
import { TurnCollector } from "./collected-turns.ts";
import type { CollectedTurn, Loss } from "./collected-turns.ts";
import { connectonionNames } from "./document-head.ts";
import type { ConnectonionOptions } from "./document-head.ts";
import { addedCost, localTimeText, roundedCost } from "./costs-and-times.ts";
import { numberOfTurn } from "./document-types.ts";
import { inOrder, jsonOf, printableJson } from "./json-values.ts";
import { messageList, readDocument } from "./read-document.ts";
import { sessionTurns } from "./session-turns.ts";
import { documentText } from "./yaml-text.ts";

export interface ExportConnectonionOptions extends ConnectonionOptions {
  /** The name of the agent. Default: as imported, else the session's name, else the file's. */
  readonly name?: string;
  /** Replaces secrets by markers, and leaves out images. Default: false. */
  readonly redact?: boolean;
}

const exportNames: OptionNames<ExportConnectonionOptions> = {
  ...connectonionNames,
  name: true,
  redact: true,
};

export interface ExportedDocument {
  readonly path: string;
  readonly turns: number;
  /** Data that the document could not hold, by reason. */
  readonly lost: readonly Loss[];
  /** With `redact`. */
  readonly redaction?: RedactionReport;
}

/**
 * Creates a document of a session, mode 0600.
 * @param log A path, or an open session, whose path to the leaf is written.
 * @throws BranchlogError as `openSession`; `ERR_LOG_EXISTS`, `ERR_CREATE_FAILED`,
 * `ERR_LOG_CHANGED`, `ERR_REDACTION_FAILED`. Nothing is created then.
 */
export async function exportConnectonion(
  log: string | SessionView,
  documentPath: string,
  options: ExportConnectonionOptions = {},
): Promise<ExportedDocument> {
  const { redact = false, ...given } = requireOptions(options, exportNames);
  const { ports } = engineSettings(given);
  const isRedacted = requireBoolean("redact", redact);
  const path = new LogFile(ports.fs, documentPath).path;
  const session = typeof log === "string" ? await openSession(log, { access: "read", ports }) : log;
  const collector = await session.readOfOneLog(() => collectTurns(session));
  const whole = documentData(collector, {
    name: options.name ?? session.name ?? basename(path).replace(/\.ya?ml$/, ""),
    created: localTimeText(Date.parse(session.header.timestamp)),
  });
  const redactor = isRedacted ? new Redactor(typeof log === "string" ? log : path) : undefined;
  const data = redactor ? redacted(whole, redactor) : whole;
  const text = documentText(data);
  const redaction = redactor?.report();
  if (redactor && redactor.text(text) !== text) redactor.fail("its document would hold a secret");
  requireMeant(text, data, path);
  createLog(ports, path, [Buffer.from(text)]);
  const made = { path, turns: collector.turns.length, lost: collector.losses };
  return redaction === undefined ? made : { ...made, redaction };
}

function redacted(data: JsonObject, redactor: Redactor): JsonObject {
  const json = JSON.stringify(data);
  redactor.json(json);
  redactor.endLearning();
  // Decoding boundary: the same object, of which only strings may differ.
  return JSON.parse(redactor.json(json)) as JsonObject;
}

async function collectTurns(session: SessionView): Promise<TurnCollector> {
  const collector = new TurnCollector(await sessionTurns(session));
  let entries = 0;
  for await (const { id, bytes } of session.lines({ on: "branch" })) {
    // A line too long for the second copy is read through the session.
    const entry = bytes === null ? await entryOf(session, id) : entryIn(bytes);
    if (entry === undefined) continue;
    entries += 1;
    collector.add(entry, exactArguments(bytes?.toString() ?? ""));
  }
  collector.lose("branches", session.revision - entries);
  return collector;
}

function entryIn(bytes: Buffer): SessionEntry | undefined {
  const decoded = decodeLine(bytes);
  // Decoding boundary: the line was read as the entry of its row.
  return decoded.ok ? (decoded.value as unknown as SessionEntry) : undefined;
}

async function entryOf(session: SessionView, id: string): Promise<SessionEntry | undefined> {
  try {
    return await session.entry(id);
  } catch (error) {
    if (isBranchlogError(error, "ERR_ENTRY_TOO_LARGE")) return undefined;
    throw error;
  }
}

function documentData(collector: TurnCollector, own: JsonObject): JsonObject {
  const { source, turns } = collector;
  const isNested = source?.shape === "nested";
  const summaries: JsonObject[] = [];
  const keyed: JsonObject = {};
  let highest = 0;
  for (const collected of turns) {
    const summary = summaryOf(collected, highest + 1, collector);
    const number = numberOfTurn(summary, summaries.length);
    highest = Math.max(highest, number);
    const messages = messagesOf(collected);
    if (!isNested) {
      if (messages !== null) keyed[String(number)] = messages;
    } else if (messages !== null || "messages" in summary) {
      const isOurs = Array.isArray(messages) && !Array.isArray(collected.asFound);
      summary["messages"] = isOurs ? printableJson(messages) : messages;
    }
    summaries.push(summary);
  }
  const data = headOf(collector, own);
  const keys = source?.keys ?? usualKeys;
  const messages = isNested ? {} : { ...keyed, ...source?.messages };
  // An empty form of `turns`, such as null, is kept if there are none.
  const isDue = (key: string): boolean => keys.includes(key) && !(key in data);
  if (summaries.length > 0 || isDue("turns")) data["turns"] = summaries;
  const hasMessages = Object.keys(messages).length > 0;
  if (hasMessages || (!isNested && isDue("messages"))) data["messages"] = messages;
  return inOrder(data, keys);
}

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

function messagesOf({ asFound, chat }: CollectedTurn): JsonValue {
  if (asFound === undefined) return chat;
  if (chat.length === 0) return asFound;
  // The turn continued after its import.
  const found = messageList(asFound) ?? [];
  return [...found.map((message) => jsonOf(message)), ...chat];
}

/** The keys above the turns; those of turns that no document held are added. */
function headOf({ source, turns, systemTexts }: TurnCollector, own: JsonObject): JsonObject {
  const systemPrompt = systemTexts.join("\n\n");
  const none = { updated: "", total_cost: 0, total_tokens: 0, system_prompt: systemPrompt };
  const head: JsonObject = { ...(source?.fields ?? { ...own, ...none }) };
  // Without the source, its sums are unknown.
  const isAdded = ({ isWhole }: CollectedTurn): boolean => source === undefined || !isWhole;
  const added = turns.filter(isAdded).map(({ turn }) => turn);
  const last = added.at(-1);
  if (last === undefined) return head;
  const { total_cost: cost, total_tokens: tokens } = head;
  const [total, taken] = [cost, tokens].map((sum) => (typeof sum === "number" ? sum : 0));
  const sums = {
    updated: localTimeText(Date.parse(last.timestamp) + last.duration_ms),
    total_cost: added.reduce((sum, turn) => addedCost(sum, roundedCost(turn.cost)), total ?? 0),
    total_tokens: added.reduce((sum, turn) => sum + turn.tokens, taken ?? 0),
  };
  const known = Object.entries(sums).filter(([key]) => key in head);
  return { ...head, ...Object.fromEntries(known) };
}

/** Refuses text that would be read as something else. */
function requireMeant(text: string, data: JsonObject, path: string): void {
  const read = readDocument(text, path).document.data;
  if (isDeepStrictEqual(read, jsonOf(data))) return;
  const message = `The session cannot be written to ${path} as a document; nothing was created.`;
  throw new BranchlogError("ERR_DOCUMENT_REFUSED", message, { path });
}
