/**
 * Converts a task of Cline's VS Code extension, before it used Cline's library, to a log: messages
 * as sent to its API, and the display data of the extension, with tokens and times.
 */
import { basename, dirname, join } from "node:path";
import { BranchlogError } from "@branchlog/core";
import type { AssistantContent, Usage, UserContent } from "@branchlog/core/entries";
import {
  countAt,
  dateMs,
  isObject,
  listAt,
  noUsage,
  stringAt,
  objectAt,
  timeText,
  usageOf,
} from "@branchlog/core/rows";
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import { answerBlock, spokenBlock } from "../anthropic-content.ts";
import { answerBody, resultBody, spokenBody } from "../entry-bodies.ts";
import type { ResultFacts } from "../entry-bodies.ts";
import { mappedContent, textsOf, withoutEmptyText } from "../foreign-content.ts";
import { LogLines, headerOf } from "../log-lines.ts";
import { jsonBeside } from "./session-directory.ts";

interface Request {
  readonly startMs: number | undefined;
  readonly usage: Usage;
  readonly provider: string | undefined;
  readonly model: string | undefined;
}

/** @throws BranchlogError `ERR_DOCUMENT_DAMAGED` */
export function messagesIn(path: string, text: string): readonly JsonValue[] {
  let cause: unknown;
  try {
    // Decoding boundary: JSON.parse returns only JSON values.
    const stored = JSON.parse(text) as JsonValue;
    if (Array.isArray(stored)) return stored;
  } catch (error) {
    cause = error;
  }
  const message = `${path} has no messages of Cline, or is partly written. It was not changed.`;
  throw new BranchlogError("ERR_DOCUMENT_DAMAGED", message, { path, cause });
}

export function logOfTask(path: string, stored: readonly JsonValue[]): Buffer {
  const messages = stored.filter(isObject);
  const id = basename(dirname(path));
  const header = headerOf({
    id,
    parentId: undefined,
    directory: directoryIn(messages),
    name: undefined,
    createdMs: Number(id),
  });
  const shown = jsonBeside(join(dirname(path), "ui_messages.json"));
  const requests = requestsIn(Array.isArray(shown) ? shown.filter(isObject) : [], messages);
  const metadata = jsonBeside(join(dirname(path), "task_metadata.json"));
  const used = isObject(metadata) ? listAt(metadata, "model_usage").filter(isObject) : [];
  const lines = new TaskLines(header.timestamp, requests, used);
  for (const [at, message] of messages.entries()) lines.addMessage(message, at);
  return lines.log(header);
}

/** Of the files that the first prompt names. */
function directoryIn(messages: readonly JsonObject[]): string {
  for (const message of messages.slice(0, 3)) {
    for (const text of textsOf(message["content"])) {
      const [, directory] = /^# Current Working Directory \((.+)\) Files$/mu.exec(text) ?? [];
      if (directory !== undefined) return directory.replace(/^Primary: /u, "");
    }
  }
  return "";
}

/** By the places of their answers. A request knows the message before its prompt. */
function requestsIn(
  shown: readonly JsonObject[],
  messages: readonly JsonObject[],
): ReadonlyMap<number, Request> {
  const answers = messages.flatMap((message, at) => (isAnswer(message) ? at : []));
  const found = new Map<number, Request>();
  const started = shown.filter((message) => stringAt(message, "say") === "api_req_started");
  for (const [number, message] of started.entries()) {
    const before = message["conversationHistoryIndex"];
    const at = typeof before === "number" ? before + 2 : answers[number];
    if (at === undefined) continue;
    const known = found.get(at);
    const request = requestOf(message);
    // One that failed was sent again, after the same message.
    const usage = known === undefined ? request.usage : sumOf(known.usage, request.usage);
    found.set(at, { ...request, usage, startMs: known?.startMs ?? request.startMs });
  }
  return found;
}

function requestOf(message: JsonObject): Request {
  const stated = objectIn(stringAt(message, "text") ?? "");
  const info = objectAt(message, "modelInfo");
  const count = (key: string): number => countAt(stated, key);
  const cost = countAt(stated, "cost");
  const usage = usageOf(
    count("tokensIn"),
    count("tokensOut"),
    count("cacheReads"),
    count("cacheWrites"),
  );
  return {
    startMs: dateMs(message["ts"]),
    usage: { ...usage, cost: { ...usage.cost, total: cost } },
    provider: stringAt(info, "providerId"),
    model: stringAt(info, "modelId"),
  };
}

function sumOf(one: Usage, other: Usage): Usage {
  const usage = usageOf(
    one.input + other.input,
    one.output + other.output,
    one.cacheRead + other.cacheRead,
    one.cacheWrite + other.cacheWrite,
  );
  return { ...usage, cost: { ...usage.cost, total: one.cost.total + other.cost.total } };
}

function objectIn(text: string): JsonObject {
  try {
    // Decoding boundary: JSON.parse returns only JSON values.
    const value = JSON.parse(text) as JsonValue;
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

function isAnswer(message: JsonObject): boolean {
  return stringAt(message, "role") === "assistant";
}

class TaskLines extends LogLines {
  readonly #requests: ReadonlyMap<number, Request>;
  readonly #used: readonly JsonObject[];
  readonly #tools = new Map<string, string>();
  /** The call in the text of the last answer. */
  #written: { readonly id: string; readonly name: string } | undefined;
  #timeMs: number;

  constructor(timestamp: string, requests: ReadonlyMap<number, Request>, used: JsonObject[]) {
    super(timestamp);
    this.#timeMs = Date.parse(timestamp);
    this.#requests = requests;
    this.#used = used;
  }

  addMessage(message: JsonObject, at: number): void {
    const isOfAnswer = isAnswer(message);
    const request = this.#requests.get(isOfAnswer ? at : at + 1);
    this.#timeMs = dateMs(message["ts"]) ?? request?.startMs ?? this.#timeMs;
    this.timestamp = timeText(this.#timeMs);
    if (isOfAnswer) this.#addAnswer(message, at, request);
    else if (stringAt(message, "role") === "user") this.#addSpoken(message, at);
  }

  #addAnswer(message: JsonObject, at: number, request: Request | undefined): void {
    this.#written = undefined;
    const { content: said } = withoutEmptyText(mappedContent(message["content"], answerBlock));
    const content = said.flatMap((block): readonly AssistantContent[] =>
      block.type === "text"
        ? this.#written === undefined
          ? this.#saidIn(block.text, at)
          : []
        : [block],
    );
    for (const block of content) {
      if (block.type === "toolCall") this.#tools.set(block.id, block.name);
    }
    if (content.length === 0) return;
    const info = objectAt(message, "modelInfo");
    const used = this.#used.findLast((one) => countAt(one, "ts") <= this.#timeMs);
    const { usage = noUsage } = request ?? {};
    const provider =
      stringAt(info, "providerId") ?? request?.provider ?? stringAt(used, "model_provider_id");
    const model = stringAt(info, "modelId") ?? request?.model ?? stringAt(used, "model_id");
    const answer = answerBody(content, {
      api: "anthropic-messages",
      provider: provider ?? "cline",
      model: model ?? "unknown",
      usage,
      timestamp: this.#timeMs,
    });
    this.add(`message:${at}`, answer);
  }

  /** A call is an element at the end of the text, where the model has no other way to make it. */
  #saidIn(text: string, at: number): readonly AssistantContent[] {
    const [, before = "", name = "", inside = ""] = writtenCall.exec(text) ?? [];
    const spoken: AssistantContent[] =
      before.trim() === "" ? [] : [{ type: "text", text: before.trim() }];
    if (name === "") return [{ type: "text", text }];
    const values = [...inside.matchAll(parameter)].map(([, key = "", value = ""]) => {
      return [key, value.replace(/^\n|\n$/gu, "")] as const;
    });
    const args = Object.fromEntries(values);
    const answer = args[answeredBy.get(name) ?? ""];
    if (answer !== undefined) return [...spoken, { type: "text", text: answer }];
    const id = `message:${at}:call`;
    this.#written = { id, name };
    return [...spoken, { type: "toolCall", id, name, arguments: args }];
  }

  #addSpoken(message: JsonObject, at: number): void {
    const blocks = listAt(message, "content").filter(isObject);
    const results = blocks.flatMap((block) => this.#resultOf(block));
    const { content } = withoutEmptyText(mappedContent(message["content"], spokenBlock));
    const said: UserContent[] = [];
    const output: UserContent[] = [];
    for (const { toolName, content: shown } of results) {
      if (answeredBy.has(toolName)) said.push(...shown.flatMap(typedIn));
    }
    for (const block of content) {
      const typed = typedIn(block);
      if (typed.length > 0) said.push(...typed);
      else if (block.type === "text" && isContext.test(block.text.trim())) continue;
      else (this.#written === undefined ? said : output).push(...withoutLabel(block));
    }
    if (this.#written !== undefined && output.length > 0) {
      const { id: toolCallId, name: toolName } = this.#written;
      results.push({ toolCallId, toolName, content: output, isError: false });
    }
    const timestamp = this.#timeMs;
    const all = [
      ...results.map((result) => resultBody(result, timestamp)),
      ...(said.length > 0 ? [spokenBody(said, timestamp)] : []),
    ];
    for (const [number, body] of all.entries()) {
      const id = number === all.length - 1 ? `message:${at}` : `message:${at}#${number}`;
      this.add(id, body);
    }
  }

  #resultOf(block: JsonObject): readonly ResultFacts[] {
    const toolCallId = stringAt(block, "tool_use_id");
    if (toolCallId === undefined || stringAt(block, "type") !== "tool_result") return [];
    const { content } = withoutEmptyText(mappedContent(block["content"], spokenBlock));
    const toolName = this.#tools.get(toolCallId) ?? "unknown";
    return [{ toolCallId, toolName, content, isError: block["is_error"] === true }];
  }
}

/** Text typed by a person, who also answers in the results of calls. */
function typedIn(block: UserContent): readonly UserContent[] {
  if (block.type !== "text") return [];
  const typed = [...block.text.matchAll(typedForm)].map(([, , inside = ""]) => inside.trim());
  return typed.length === 0 ? [] : [{ type: "text", text: typed.join("\n\n") }];
}

function withoutLabel(block: UserContent): readonly UserContent[] {
  if (block.type !== "text") return [block];
  const text = block.text.replace(/^\[\w+[^\n]*\] Result:\n*/u, "");
  return text === "" ? [] : [{ ...block, text }];
}

const writtenCall = /^([^]*?)<([a-z]+(?:_[a-z]+)+)>([^]*)<\/\2>\s*$/u;
const parameter = /<([a-z_]+)>([^]*?)<\/\1>/gu;
/** The text that a call shows to a person, and its parameter. */
const answeredBy: ReadonlyMap<string, string> = new Map([
  ["attempt_completion", "result"],
  ["plan_mode_respond", "response"],
  ["ask_followup_question", "question"],
]);
const typedForm = /<(task|feedback|user_message|answer)>([^]*?)<\/\1>/gu;
const isContext = /^<environment_details>[^]*<\/environment_details>$/u;
