/** Maps messages of opencode with their parts to the lines of a log. Pure. */
import type { AssistantContent, Usage, UserContent } from "@branchlog/core/entries";
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import {
  countAt,
  dateMs,
  isObject,
  listAt,
  objectAt,
  stringAt,
  timeText,
  usageOf,
  usageOfBoth,
} from "@branchlog/core/rows";
import { answerBody, commandBody, resultBody, textContent } from "../entry-bodies.ts";
import { LogLines, headerOf } from "../log-lines.ts";
import type { SessionRow } from "../log-lines.ts";

export interface StoredSession extends SessionRow {
  /** The undone messages: from `messageID` on. */
  readonly revert: JsonObject | undefined;
  readonly messages: readonly StoredMessage[];
}

/** A value that is not an object is damaged: a text. */
export interface StoredMessage {
  readonly info: JsonValue;
  readonly parts: readonly JsonValue[];
}

export function logOfSession(session: StoredSession): Buffer {
  const header = headerOf(session);
  const lines = new Lines(header.timestamp);
  lines.addName(session.name);
  const undoneFrom = stringAt(session.revert, "messageID");
  let keptId: string | null = null;
  let isUndone = false;
  for (const message of session.messages) {
    if (isObject(message.info) && stringAt(message.info, "id") === undoneFrom) {
      if (undoneFrom !== undefined && !isUndone) keptId = lines.lastId;
      isUndone ||= undoneFrom !== undefined;
    }
    addMessage(lines, message);
  }
  if (isUndone) {
    // The last entry of a log is where its session continues.
    lines.lastId = keptId;
    const data = { messageID: undoneFrom };
    lines.add("revert", { type: "custom", customType: "opencode.revert", data });
  }
  return lines.log(header);
}

class Lines extends LogLines {
  /** The first earlier entry that the model still sees after the next compaction. */
  keptFrom: string | undefined;
}

function addMessage(lines: Lines, { info, parts: stored }: StoredMessage): void {
  for (const damaged of [info, ...stored]) {
    if (!isObject(damaged)) lines.addDamaged(typeof damaged === "string" ? damaged : "");
  }
  if (!isObject(info)) return;
  const createdMs = dateMs(objectAt(info, "time")?.["created"]);
  if (createdMs !== undefined) lines.timestamp = timeText(createdMs);
  const parts = stored.filter(isObject);
  const id = stringAt(info, "id") ?? "";
  switch (stringAt(info, "role")) {
    case "user":
      addPrompt(lines, id, info, parts);
      break;
    case "model":
      addModel(lines, id, objectAt(info, "model"));
      break;
    case "shell":
      addCommand(lines, id, parts);
      break;
    case "assistant":
      if (info["summary"] === true) addSummary(lines, id, info, parts);
      else if (isCommand(info, parts)) addCommand(lines, id, parts);
      else addAnswer(lines, id, info, parts);
      break;
    case "compaction-completed":
      addSummary(lines, id, info, parts);
      break;
    case "compaction-failed":
      addSpent(lines, id, info);
      break;
    case undefined:
    case "compaction-running":
    case "agent-switched":
    case "location-switched":
    case "idle":
      break;
    default:
      addOther(lines, id, stringAt(info, "role") ?? "", info);
  }
}

function addOther(lines: Lines, id: string, kind: string, data: JsonObject): void {
  lines.add(id, { type: "custom", customType: `opencode.${kind}`, data });
}

function addModel(lines: Lines, id: string, model: JsonObject | undefined): void {
  lines.addModel(id, stringAt(model, "providerID"), stringAt(model, "modelID"));
}

function addPrompt(lines: Lines, id: string, info: JsonObject, parts: readonly JsonObject[]): void {
  const compaction = parts.find((part) => stringAt(part, "type") === "compaction");
  if (compaction !== undefined) {
    lines.keptFrom = stringAt(compaction, "tail_start_id");
    return;
  }
  addModel(lines, id, objectAt(info, "model"));
  const isInjected = (part: JsonObject): boolean => part["synthetic"] === true;
  const content = parts.filter((part) => !isInjected(part)).flatMap(spokenBlocks);
  const timestamp = Date.parse(lines.timestamp);
  if (content.length > 0) {
    lines.add(id, { type: "message", message: { role: "user", content, timestamp } });
  }
  const injected = parts.filter(isInjected).flatMap(spokenBlocks);
  if (injected.length === 0) return;
  const said = { customType: "opencode.injected", content: injected, display: false };
  lines.add(`${id}:injected`, { type: "custom_message", ...said });
}

function spokenBlocks(part: JsonObject): UserContent[] {
  // The model does not receive ignored parts.
  if (part["ignored"] === true) return [];
  const type = stringAt(part, "type");
  if (type === "file") return imageBlocks(part);
  const text = stringAt(part, type === "subtask" ? "prompt" : "text") ?? "";
  return type === "text" || type === "subtask" ? textContent(text) : [];
}

/** Other files are described to the model in texts. */
function imageBlocks(file: JsonObject): UserContent[] {
  const url = stringAt(file, "url") ?? stringAt(file, "uri") ?? "";
  const [, mimeType, data] = /^data:(image\/[\w.+-]+);base64,(.+)$/s.exec(url) ?? [];
  if (mimeType === undefined || data === undefined) return [];
  return [{ type: "image", data, mimeType }];
}

/** Of a command that the user ran, which no model asked for. */
function isCommand(info: JsonObject, parts: readonly JsonObject[]): boolean {
  const [part] = parts;
  const isOnly = parts.length === 1 && stringAt(part, "type") === "tool";
  return isOnly && tokensOf(info).totalTokens === 0 && stringAt(info, "finish") === undefined;
}

function addCommand(lines: Lines, id: string, parts: readonly JsonObject[]): void {
  const state = objectAt(parts[0], "state");
  const metadata = objectAt(state, "metadata");
  const ran = {
    command: stringAt(objectAt(state, "input"), "command") ?? "",
    output: stringAt(state, "output") ?? stringAt(metadata, "output") ?? "",
    exitCode: metadata?.["exit"],
    truncated: metadata?.["truncated"] === true,
  };
  lines.add(id, commandBody(ran, Date.parse(lines.timestamp)));
}

/** The model sees only the kept entries before it. */
function addSummary(
  lines: Lines,
  id: string,
  info: JsonObject,
  parts: readonly JsonObject[],
): void {
  const summary = parts.flatMap((part) => textIn(part, "text")).join("\n");
  const firstKeptEntryId = lines.keptFrom ?? id;
  lines.keptFrom = undefined;
  const usage = tokensOf(info);
  const { input, cacheRead, cacheWrite } = usage;
  const tokensBefore = input + cacheRead + cacheWrite;
  lines.add(id, { type: "compaction", summary, firstKeptEntryId, tokensBefore, usage });
}

/** The usage of failed work. */
function addSpent(lines: Lines, id: string, info: JsonObject): void {
  const usage = tokensOf(info);
  if (usage.totalTokens === 0 && usage.cost.total === 0) return;
  const [provider = "", model = ""] = lines.model.split(/\/(.*)/s);
  lines.add(id, { type: "usage", kind: "opencode.compaction", provider, model, usage });
}

function textIn(part: JsonObject, type: string): string[] {
  const text = stringAt(part, "text") ?? "";
  return stringAt(part, "type") === type && text !== "" ? [text] : [];
}

function addAnswer(lines: Lines, id: string, info: JsonObject, parts: readonly JsonObject[]): void {
  const [provider, model] = [stringAt(info, "providerID"), stringAt(info, "modelID")];
  addModel(lines, id, info);
  const calls = parts.filter((part) => stringAt(part, "type") === "tool");
  const error = objectAt(info, "error");
  const answer = answerBody(parts.flatMap(answerBlocks), {
    api: "opencode",
    provider: provider ?? "",
    model: model ?? "",
    usage: usageOfAnswer(info, parts),
    stopReason: stopReasonOf(info, calls.length > 0),
    errorMessage: error && errorText(error),
    timestamp: Date.parse(lines.timestamp),
  });
  lines.add(id, answer);
  for (const call of calls) addResult(lines, call);
  for (const part of parts) {
    const type = stringAt(part, "type") ?? "";
    const partId = stringAt(part, "id") ?? "";
    if (!knownParts.has(type) && partId !== "") addOther(lines, partId, type, part);
  }
}

/** Those that are in messages, and those that only serve to undo changes. */
const knownParts: ReadonlySet<string> = new Set([
  "text",
  "reasoning",
  "tool",
  "file",
  "step-start",
  "step-finish",
  "snapshot",
  "patch",
  "agent",
]);

function answerBlocks(part: JsonObject): AssistantContent[] {
  if (stringAt(part, "type") === "tool") {
    const input = objectAt(objectAt(part, "state"), "input") ?? {};
    const id = stringAt(part, "callID") ?? "";
    return [{ type: "toolCall", id, name: toolName(part), arguments: { ...input } }];
  }
  return [
    ...textIn(part, "reasoning").map((thinking) => ({ type: "thinking", thinking }) as const),
    ...textIn(part, "text").map((text) => ({ type: "text", text }) as const),
  ];
}

/** A call of a tool that is unknown, or with other arguments than it takes, is one of `invalid`. */
function toolName(call: JsonObject): string {
  const name = stringAt(call, "tool") ?? "";
  if (name !== "invalid") return name;
  return stringAt(objectAt(objectAt(call, "state"), "input"), "tool") ?? name;
}

function addResult(lines: Lines, call: JsonObject): void {
  const state = objectAt(call, "state");
  const status = stringAt(state, "status");
  if (status !== "completed" && status !== "error") return;
  const endMs = dateMs(objectAt(state, "time")?.["end"]);
  if (endMs !== undefined) lines.timestamp = timeText(endMs);
  const metadata = objectAt(state, "metadata");
  const said = stringAt(state, "error") ?? stringAt(state, "output") ?? "";
  const files = listAt(state, "attachments").filter(isObject);
  const exit = metadata?.["exit"];
  const hasFailed = typeof exit === "number" && exit !== 0;
  const isInvalid = stringAt(call, "tool") === "invalid";
  // The rest repeats the output.
  const details = detailKeys.flatMap((key) => {
    const value = metadata?.[key];
    return value === undefined ? [] : [[key, value] as const];
  });
  const result = {
    toolCallId: stringAt(call, "callID") ?? "",
    toolName: toolName(call),
    content: [...textContent(said), ...files.flatMap(imageBlocks)],
    details: details.length === 0 ? undefined : Object.fromEntries(details),
    isError: status === "error" || isInvalid || hasFailed,
  };
  const id = stringAt(call, "id") ?? `${result.toolCallId}:result`;
  lines.add(id, resultBody(result, Date.parse(lines.timestamp)));
}

/** `sessionId`: of the subagent. */
const detailKeys = ["diff", "exit", "sessionId", "todos"] as const;

/** Tokens of reasoning are not in the output; those of the cache are not in the input. */
function tokensOf(info: JsonObject): Usage {
  const tokens = objectAt(info, "tokens");
  const cache = objectAt(tokens, "cache");
  const output = countAt(tokens, "output") + countAt(tokens, "reasoning");
  const read = countAt(cache, "read");
  const usage = usageOf(countAt(tokens, "input"), output, read, countAt(cache, "write"));
  return { ...usage, cost: { ...usage.cost, total: countAt(info, "cost") } };
}

/** Each step is a request, of which the message has the cost, but only the tokens of the last. */
function usageOfAnswer(info: JsonObject, parts: readonly JsonObject[]): Usage {
  const steps = parts.filter((part) => stringAt(part, "type") === "step-finish").map(tokensOf);
  if (steps.length < 2) return tokensOf(info);
  const usage = steps.reduce((all, step) => usageOfBoth(all, step, (one, other) => one + other));
  return { ...usage, cost: tokensOf(info).cost };
}

function stopReasonOf(info: JsonObject, hasCalls: boolean): string {
  const error = stringAt(objectAt(info, "error"), "name");
  if (error === "MessageAbortedError") return "aborted";
  if (error !== undefined) return "error";
  const finish = stringAt(info, "finish");
  if (finish === "length") return "length";
  return finish === "tool-calls" || hasCalls ? "toolUse" : "stop";
}

function errorText(error: JsonObject): string {
  const text = stringAt(objectAt(error, "data"), "message") ?? stringAt(error, "message");
  return text ?? stringAt(error, "name") ?? "";
}
