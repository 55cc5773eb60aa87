/** Maps messages of goose to the lines of a log. Pure. */
import type { AssistantContent, UserContent } from "@branchlog/core/entries";
import { isObject, listAt, objectAt, stringAt, timeText } from "@branchlog/core/rows";
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import {
  answerBody,
  injectedBody,
  resultBody,
  spokenBody,
  textContent,
  thinkingContent,
} from "../entry-bodies.ts";
import type { Body } from "../entry-bodies.ts";
import { LogLines, headerOf } from "../log-lines.ts";
import type { SessionRow } from "../log-lines.ts";
import { earlierSpent, spentOn, unclaimed, usageOfSpent } from "./goose-usage.ts";
import type { LedgerRow, Spent } from "./goose-usage.ts";

export interface StoredSession extends SessionRow {
  /** As set last. */
  readonly provider: string | undefined;
  readonly model: string | undefined;
  /** Of the whole session, as goose added it up. */
  readonly accumulated: Spent;
  readonly ledger: readonly LedgerRow[];
  readonly messages: readonly StoredMessage[];
}

export interface StoredMessage {
  readonly row: number;
  readonly id: string | undefined;
  readonly role: string;
  readonly createdMs: number;
  /** A value that is not a list is damaged: a text. */
  readonly content: JsonValue;
  readonly metadata: JsonObject | undefined;
}

export function logOfSession(session: StoredSession): Buffer {
  const { ledger } = session;
  const messages = session.messages.toSorted((one, other) => one.createdMs - other.createdMs);
  const summaries = messages.filter((message, index) => isSummary(message, messages[index + 1]));
  const compactions = ledger.filter((row) => row.isCompaction);
  // Else it is not known which is of which.
  const paired = summaries.length === compactions.length ? compactions : [];
  const log = new GooseLog(session, paired);
  log.lines.addName(session.name);
  log.addEarlier(earlierSpent(session.accumulated, ledger, messages));
  const rows = unclaimed(ledger, messages).filter((row) => !paired.includes(row));
  const items = [
    ...messages.map((message, at) => ({
      timeMs: message.createdMs,
      add: () => log.add(message, messages[at - 1], messages[at + 1]),
    })),
    // Stored in whole seconds, after the answer.
    ...rows.map((row) => ({ timeMs: row.createdMs + 999, add: () => log.addRow(row) })),
  ];
  for (const { add } of items.toSorted((one, other) => one.timeMs - other.timeMs)) add();
  return log.lines.log(headerOf(session));
}

class GooseLog {
  readonly lines: LogLines;
  readonly #session: StoredSession;
  readonly #ids = new Set<string>();
  readonly #tools = new Map<string, string>();
  /** Those of its compactions, in their order. */
  readonly #compactions: LedgerRow[];
  #prompt = "";
  /**
   * The provider and the model: those of the last answer that has them, otherwise of the session.
   */
  #answered: readonly [string | undefined, string | undefined];

  constructor(session: StoredSession, compactions: readonly LedgerRow[]) {
    this.#session = session;
    this.#answered = [session.provider, session.model];
    this.#compactions = [...compactions];
    this.lines = new LogLines(timeText(session.createdMs));
  }

  addEarlier(spent: Spent): void {
    this.#addUsage("usage:earlier", "goose.earlier", this.#session.model, spent);
  }

  addRow(row: LedgerRow): void {
    this.lines.timestamp = timeText(row.createdMs);
    const kind = row.isCompaction ? "goose.compaction" : "goose.request";
    this.#addUsage(`usage:${row.row}`, kind, row.model ?? this.#session.model, row.spent);
  }

  #addUsage(id: string, kind: string, model: string | undefined, spent: Spent): void {
    const usage = usageOfSpent(spent);
    if (usage.totalTokens === 0 && usage.cost.total === 0) return;
    const { provider = "" } = this.#session;
    this.lines.add(id, { type: "usage", kind, provider, model: model ?? "", usage });
  }

  add(
    message: StoredMessage,
    before: StoredMessage | undefined,
    after: StoredMessage | undefined,
  ): void {
    const { content, role } = message;
    if (!Array.isArray(content)) {
      this.lines.addDamaged(typeof content === "string" ? content : "");
      return;
    }
    this.lines.timestamp = timeText(message.createdMs);
    const own = this.#idOf(message);
    const blocks = content.filter(isObject);
    const others = blocks.flatMap(otherBody);
    const said = isSummary(message, after)
      ? [this.#summary(own, blocks)]
      : role === "assistant"
        ? this.#answer(own, message, blocks)
        : this.#spoken(message, before, blocks);
    const results = blocks.flatMap((block) => this.#result(block));
    const bodies = role === "assistant" ? [...said, ...results] : [...results, ...said];
    for (const [at, body] of [...bodies, ...others].entries()) {
      this.lines.add(at === 0 ? own : `${own}#${at}`, body);
    }
  }

  /** Streamed parts of an answer have had one id. */
  #idOf({ id, row }: StoredMessage): string {
    const own = id === undefined || this.#ids.has(id) ? `row:${row}` : id;
    this.#ids.add(own);
    return own;
  }

  /** Nothing of what was before is seen by the model after it. */
  #summary(own: string, blocks: readonly JsonObject[]): Body {
    const spoken = blocks.flatMap(spokenBlock);
    const summary = spoken.flatMap((block) => (block.type === "text" ? block.text : [])).join("\n");
    const spent = this.#compactions.shift()?.spent;
    const usage = spent === undefined ? {} : { usage: usageOfSpent(spent) };
    const tokensBefore = spent?.input ?? 0;
    return { type: "compaction", summary, firstKeptEntryId: own, tokensBefore, ...usage };
  }

  #spoken(
    message: StoredMessage,
    before: StoredMessage | undefined,
    blocks: readonly JsonObject[],
  ): Body[] {
    const content = blocks.flatMap(spokenBlock);
    if (content.length === 0) return [];
    const text = content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
    // After a compaction amid the calls of a turn, its prompt is stored once more.
    const isRepeated = before?.role === "assistant" && !isShown(before) && text === this.#prompt;
    if (!isShown(message) || isRepeated) return [injectedBody("goose.injected", content)];
    this.#prompt = text;
    return [spokenBody(content, message.createdMs)];
  }

  #answer(own: string, message: StoredMessage, blocks: readonly JsonObject[]): Body[] {
    const { metadata, createdMs: timestamp } = message;
    const content = blocks.flatMap(answerBlock);
    for (const block of content)
      if (block.type === "toolCall") this.#tools.set(block.id, block.name);
    const error = blocks.find((block) => stringAt(block, "type") === "error");
    const spent = spentOn(metadata);
    const hasCalls = content.some((block) => block.type === "toolCall");
    if (!isShown(message) && !hasCalls && spent === undefined) {
      const texts = content.flatMap((block) => (block.type === "text" ? [block] : []));
      return texts.length === 0 ? [] : [injectedBody("goose.injected", texts)];
    }
    if (content.length === 0 && error === undefined && spent === undefined) return [];
    const inference = objectAt(metadata, "inference");
    const stated = stringAt(inference, "resolvedModel") ?? stringAt(inference, "requestedModel");
    if (stated !== undefined) this.#answered = [stringAt(inference, "provider"), stated];
    const [provider, model] = this.#answered;
    this.lines.addModel(own, provider, model);
    const isCut = metadata?.["outputTokenLimitReached"] === true;
    const answer = answerBody(content, {
      api: "goose",
      provider: provider ?? "",
      model: model ?? "",
      usage: usageOfSpent(spent),
      stopReason: isCut && error === undefined ? "length" : undefined,
      errorMessage: error && (stringAt(error, "message") ?? ""),
      timestamp,
    });
    return [answer];
  }

  #result(block: JsonObject): Body[] {
    if (stringAt(block, "type") !== "toolResponse") return [];
    const toolCallId = stringAt(block, "id") ?? "";
    const result = objectAt(block, "toolResult");
    const value = result?.["value"];
    // A list before results had more than content.
    const stored = Array.isArray(value) ? value : listAt(objectAt(result, "value"), "content");
    const all = stored.filter(isObject);
    const told = all.filter(isForModel);
    const content = (told.length === 0 ? all : told).flatMap(spokenBlock);
    const error = stringAt(result, "error");
    const answered = {
      toolCallId,
      toolName: this.#tools.get(toolCallId) ?? "unknown",
      content: [...content, ...textContent(error)],
      isError:
        stringAt(result, "status") === "error" || objectAt(result, "value")?.["isError"] === true,
    };
    return [resultBody(answered, Date.parse(this.lines.timestamp))];
  }
}

/** It is for the model alone, as is the answer that goose writes after it. */
function isSummary(message: StoredMessage, after: StoredMessage | undefined): boolean {
  const { role, content } = message;
  if (role !== "user" || isShown(message) || isOfTurn(message)) return false;
  const blocks = Array.isArray(content) ? content.filter(isObject) : [];
  if (!blocks.some((block) => stringAt(block, "type") === "text")) return false;
  if (after?.role !== "assistant" || isShown(after)) return false;
  // The model sees both, or after a later compaction neither.
  return message.metadata?.["agentVisible"] === after.metadata?.["agentVisible"];
}

function isShown({ metadata }: StoredMessage): boolean {
  return metadata?.["userVisible"] !== false;
}

/** Text that goose adds for the model in each turn. */
function isOfTurn({ metadata }: StoredMessage): boolean {
  return metadata?.["turnContext"] === true;
}

function isForModel(block: JsonObject): boolean {
  const audience = objectAt(block, "annotations")?.["audience"] ?? block["audience"];
  return !Array.isArray(audience) || audience.includes("assistant");
}

function spokenBlock(block: JsonObject): UserContent[] {
  switch (stringAt(block, "type")) {
    case "text":
      return textContent(stringAt(block, "text"));
    case "image": {
      const [data, mimeType] = [stringAt(block, "data"), stringAt(block, "mimeType")];
      return data === undefined || mimeType === undefined
        ? []
        : [{ type: "image", data, mimeType }];
    }
    case "resource":
      return textContent(stringAt(objectAt(block, "resource"), "text"));
    default:
      return [];
  }
}

function answerBlock(block: JsonObject): AssistantContent[] {
  switch (stringAt(block, "type")) {
    case "text":
      return textContent(stringAt(block, "text"));
    case "thinking":
    case "reasoning": {
      const thinking = stringAt(block, "thinking") ?? stringAt(block, "text");
      return thinkingContent(thinking, stringAt(block, "signature"));
    }
    case "redactedThinking": {
      const data = stringAt(block, "data") ?? "";
      return [{ type: "thinking", thinking: "", thinkingSignature: data, redacted: true }];
    }
    case "toolRequest":
    case "frontendToolRequest": {
      const stored = objectAt(block, "toolCall");
      const call = objectAt(stored, "value");
      const error = stringAt(stored, "error");
      const given = call?.["arguments"];
      const args = isObject(given) ? { ...given } : error === undefined ? {} : { error };
      const name = stringAt(call, "name") ?? "unknown";
      return [{ type: "toolCall", id: stringAt(block, "id") ?? "", name, arguments: args }];
    }
    default:
      return [];
  }
}

/** Those that are in messages; `conversationCompacted` was only a note, which goose ignores. */
const knownTypes =
  /^(?:text|image|.*[tT]hinking|reasoning|(?:t|frontendT)oolRe.+|error|conversation.+)$/;

function otherBody(block: JsonObject): Body[] {
  const type = stringAt(block, "type") ?? "";
  if (type === "" || knownTypes.test(type)) return [];
  return [{ type: "custom", customType: `goose.${type.slice(0, 60)}`, data: block }];
}
