/**
 * Makes logs of sessions of kimi-cli, the program before Kimi Code: its file of all that happened,
 * `wire.jsonl`, which it only appends to. See docs/agents.md, "Kimi Code".
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { quietly } from "@branchlog/core/files";
import type { AssistantContent } from "@branchlog/core/entries";
import {
  countAt,
  dateMs,
  isObject,
  listAt,
  noUsage,
  objectAt,
  stringAt,
  timeText,
  usageOf,
} from "@branchlog/core/rows";
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import {
  answerBody,
  resultBody,
  spokenBody,
  textContent,
  thinkingContent,
} from "../entry-bodies.ts";
import { argumentsIn, textsOf } from "../foreign-content.ts";
import { LogLines, headerOf } from "../log-lines.ts";
import type { SessionRow } from "../log-lines.ts";
import { transcriptId } from "../transcript-id.ts";
import { contentOf, provider } from "./kimi-bodies.ts";

/** Its records do not name it. */
const model = "unknown";

/** As `DocumentFormat.toLog`. */
export function earlierLog(path: string): Buffer {
  const lines = linesIn(path);
  const session = sessionOf(path, lines);
  const header = headerOf(session);
  const log = new EarlierLog(header.timestamp, summaryBeside(path));
  log.lines.addName(session.name);
  for (const [at, line] of lines.entries()) {
    const record = objectIn(line);
    if (record === undefined) log.lines.addDamaged(line);
    else log.add(`line:${at + 1}`, record);
  }
  log.end();
  return log.lines.log(header);
}

class EarlierLog {
  readonly lines: LogLines;
  readonly #tools = new Map<string, string>();
  readonly #lastSummary: string;
  /** Its parts have lines of their own. */
  #answer: { readonly id: string; readonly content: AssistantContent[] } | undefined;

  constructor(timestamp: string, lastSummary: string) {
    this.lines = new LogLines(timestamp);
    this.#lastSummary = lastSummary;
  }

  add(id: string, record: JsonObject): void {
    const message = objectAt(record, "message");
    const [type = "", said = {}] = [stringAt(message, "type"), objectAt(message, "payload")];
    const part = partOf(type, said);
    if (part === undefined) this.#endAnswer();
    this.lines.timestamp = timeText(timeOf(record) ?? this.#timestamp);
    if (part !== undefined) {
      this.#answer ??= { id, content: [] };
      this.#answer.content.push(part);
      if (part.type === "toolCall") this.#tools.set(part.id, part.name);
      return;
    }
    this.#addEvent(id, type, said);
  }

  /** An answer may go on; what was not said for so long was broken off. */
  end(): void {
    if (Date.now() - this.#timestamp >= runningMs) this.#endAnswer();
  }

  get #timestamp(): number {
    return Date.parse(this.lines.timestamp);
  }

  #addEvent(id: string, type: string, said: JsonObject): void {
    const timestamp = this.#timestamp;
    switch (type) {
      case "TurnBegin":
      case "SteerInput": {
        const content = contentOf({ content: said["user_input"] ?? "" });
        if (content.length > 0) this.lines.add(id, spokenBody(content, timestamp));
        return;
      }
      case "ToolResult": {
        const toolCallId = stringAt(said, "tool_call_id") ?? "";
        const result = objectAt(said, "return_value");
        const output = contentOf({ content: result?.["output"] ?? "" });
        const told = contentOf({ content: result?.["message"] ?? "" });
        const answered = {
          toolCallId,
          toolName: this.#tools.get(toolCallId) ?? "unknown",
          content: output.length === 0 ? told : output,
          isError: result?.["is_error"] === true,
        };
        this.lines.add(id, resultBody(answered, timestamp));
        return;
      }
      case "StatusUpdate":
        this.#addUsage(id, "kimi.request", said);
        return;
      case "SubagentEvent": {
        // Newer ones have files of their own.
        const event = objectAt(said, "event");
        const isCounted = stringAt(said, "agent_id") === undefined;
        if (isCounted) this.#addUsage(id, "kimi.subagent", objectAt(event, "payload") ?? {});
        return;
      }
      case "CompactionBegin":
        this.lines.add(id, {
          type: "compaction",
          summary: this.#lastSummary,
          firstKeptEntryId: id,
          tokensBefore: 0,
        });
        return;
      case "BtwEnd":
      case "Notification":
      case "PlanDisplay":
      case "StepInterrupted":
        this.lines.add(id, { type: "custom", customType: `kimi.${type}`, data: said });
    }
  }

  #addUsage(id: string, kind: string, said: JsonObject): void {
    const spent = objectAt(said, "token_usage");
    const [input, output] = [countAt(spent, "input_other"), countAt(spent, "output")];
    const cached = [countAt(spent, "input_cache_read"), countAt(spent, "input_cache_creation")];
    const usage = usageOf(input, output, cached[0] ?? 0, cached[1] ?? 0);
    if (usage.totalTokens > 0) this.lines.add(id, { type: "usage", kind, provider, model, usage });
  }

  #endAnswer(): void {
    if (this.#answer === undefined) return;
    const { id, content } = this.#answer;
    this.#answer = undefined;
    const stated = { api: "openai-completions", provider, model, usage: noUsage };
    this.lines.add(id, answerBody(content, { ...stated, timestamp: this.#timestamp }));
  }
}

const runningMs = 60_000;

function linesIn(path: string): readonly string[] {
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "");
}

function objectIn(text: string | undefined): JsonObject | undefined {
  // Decoding boundary: JSON.parse returns only JSON values.
  const value = quietly(() => JSON.parse(text ?? "") as JsonValue);
  return isObject(value) ? value : undefined;
}

/** In seconds there. */
function timeOf(record: JsonObject | undefined): number | undefined {
  const seconds = countAt(record, "timestamp");
  return seconds === 0 ? undefined : dateMs(seconds * 1000);
}

function sessionOf(path: string, lines: readonly string[]): SessionRow {
  const directory = dirname(path);
  const above = dirname(directory);
  const isSubagent = basename(above) === "subagents";
  const own = isSubagent ? dirname(above) : directory;
  const id = transcriptId(basename(own), basename(own));
  const state = objectIn(textOf(join(own, "state.json")));
  return {
    id: isSubagent ? `${id}.${basename(directory)}` : id,
    parentId: isSubagent ? id : undefined,
    directory: workingDirectory(dirname(own)),
    name: isSubagent ? undefined : stringAt(state, "custom_title"),
    createdMs: lines.map((line) => timeOf(objectIn(line))).find((time) => time !== undefined) ?? 0,
  };
}

function textOf(path: string): string | undefined {
  return quietly(() => readFileSync(path, "utf8")) ?? undefined;
}

/** The one whose hash names the directory of its sessions. */
function workingDirectory(directory: string): string {
  const known = objectIn(textOf(join(directory, "..", "..", "kimi.json")));
  const paths = listAt(known, "work_dirs").map((one) => (isObject(one) ? one["path"] : undefined));
  const hash = basename(directory).slice(-32);
  const isNamed = (path: unknown): path is string =>
    typeof path === "string" && createHash("md5").update(path).digest("hex") === hash;
  return paths.find(isNamed) ?? "";
}

/** Of the last compaction: the context, which begins with it, is in a file of its own. */
function summaryBeside(path: string): string {
  for (const line of quietly(() => linesIn(join(dirname(path), "context.jsonl"))) ?? []) {
    const message = objectIn(line);
    if (stringAt(message, "role") === "user") return textsOf(message?.["content"]).join("\n");
  }
  return "";
}

function partOf(type: string, said: JsonObject): AssistantContent | undefined {
  if (type === "ToolCall") {
    const called = objectAt(said, "function");
    const [id, name] = [stringAt(said, "id"), stringAt(called, "name")];
    if (id === undefined || name === undefined) return undefined;
    const given = argumentsIn(stringAt(called, "arguments") ?? "");
    return { type: "toolCall", id, name, arguments: given };
  }
  if (type !== "ContentPart") return undefined;
  const [text, thinking] = [stringAt(said, "text"), stringAt(said, "think")];
  return [...thinkingContent(thinking, stringAt(said, "encrypted")), ...textContent(text)][0];
}
