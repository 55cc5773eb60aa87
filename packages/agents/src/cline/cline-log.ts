/** Converts a session of Cline to a log: a file of its messages, rewritten with each of them. */
import { basename, dirname } from "node:path";
import { TextDecoder } from "node:util";
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import { BranchlogError } from "@branchlog/core";
import type { SessionHeader } from "@branchlog/core";
import { normalizeName } from "@branchlog/core/entries";
import type { Usage, UserContent } from "@branchlog/core/entries";
import { engineSettings } from "@branchlog/core/files";
import {
  countAt,
  currentVersion,
  dateMs,
  encodeHeader,
  isObject,
  listAt,
  objectAt,
  stringAt,
  timeText,
  usageOf,
} from "@branchlog/core/rows";
import type { DocumentBytes } from "@branchlog/core/rows";
import { answerBlock, spokenBlock } from "../anthropic-content.ts";
import { readFileAs } from "../connectonion/document-file.ts";
import { answerBody, injectedBody, resultBody, spokenBody, textContent } from "../entry-bodies.ts";
import type { Body, ResultFacts } from "../entry-bodies.ts";
import { mappedContent, withoutEmptyText } from "../foreign-content.ts";
import { LogLines } from "../log-lines.ts";
import { transcriptId } from "../transcript-id.ts";
import { logOfTask, messagesIn } from "./cline-task.ts";
import { isTask, jsonBeside, manifestOf } from "./session-directory.ts";

/** As `DocumentFormat.toLog`. */
export async function clineLog(path: string, given?: DocumentBytes): Promise<Buffer> {
  const read = async <Stored>(parse: (text: string) => Stored): Promise<Stored> =>
    given === undefined
      ? readFileAs(engineSettings({}).ports, path, parse)
      : parse(new TextDecoder().decode(given.bytes));
  if (isTask(path)) return logOfTask(path, await read((text) => messagesIn(path, text)));
  const stored = await read((text) => storedIn(path, text));
  const compaction = objectBeside(path.replace(/\.messages\.json$/, ".compaction.json"));
  return linesOf(path, stored, objectBeside(manifestOf(path)) ?? {}, compaction);
}

function storedIn(path: string, text: string): JsonObject {
  let cause: unknown;
  try {
    // Decoding boundary: JSON.parse returns only JSON values.
    const stored = JSON.parse(text) as JsonValue;
    if (isObject(stored) && Array.isArray(stored["messages"])) return stored;
  } catch (error) {
    cause = error;
  }
  const message = `${path} has no messages of Cline, or is partly written. It was not changed.`;
  throw new BranchlogError("ERR_DOCUMENT_DAMAGED", message, { path, cause });
}

/** Undefined for a missing, damaged or unreadable file. */
function objectBeside(path: string): JsonObject | undefined {
  const value = jsonBeside(path);
  return isObject(value) ? value : undefined;
}

function linesOf(
  path: string,
  stored: JsonObject,
  manifest: JsonObject,
  compaction: JsonObject | undefined,
): Buffer {
  const messages = listAt(stored, "messages").filter(isObject);
  const header = headerOf(path, stored, manifest, messages);
  const log = new Lines(stored, Date.parse(header.timestamp) || 0);
  // First, so that the log only grows with its messages.
  const name = header.parentSession === undefined ? givenName(manifest) : undefined;
  if (name !== undefined) log.entry("session_info", "name", { name });
  const compactedAt = compaction === undefined ? -1 : countAt(compaction, "source_message_count");
  for (const [at, message] of messages.entries()) {
    if (at === compactedAt && compaction !== undefined) log.compact(compaction);
    log.add(message, at);
  }
  if (messages.length === compactedAt && compaction !== undefined) log.compact(compaction);
  return Buffer.from(`${[encodeHeader(header), ...log.lines.all].join("\n")}\n`);
}

function headerOf(
  path: string,
  stored: JsonObject,
  manifest: JsonObject,
  messages: readonly JsonObject[],
): SessionHeader {
  const session = basename(dirname(path));
  const agent = basename(path, ".messages.json");
  const isSubagent = agent !== session;
  const id = stringAt(stored, "sessionId") ?? (isSubagent ? `${session}__${agent}` : session);
  const started = isSubagent ? undefined : stringAt(manifest, "started_at");
  const [first] = messages;
  return {
    type: "session",
    version: currentVersion,
    id: transcriptId(id, agent),
    timestamp: started ?? timeText(dateMs(first?.["ts"]) ?? 0),
    cwd: stringAt(manifest, "cwd") ?? "",
    ...(isSubagent ? { parentSession: session } : {}),
  };
}

/** Undefined: the title is the first prompt, perhaps cut. */
function givenName(manifest: JsonObject): string | undefined {
  const title = stringAt(objectAt(manifest, "metadata"), "title") ?? "";
  const prompt = typed(stringAt(manifest, "prompt") ?? "");
  const beginning = title.replace(/(?:\.\.\.|…)$/u, "");
  return prompt.startsWith(beginning) ? undefined : normalizeName(title) || undefined;
}

const inputForm = /^<user_input\b[^>]*>([^]*)<\/user_input>$/u;

/** The typed text, without the element that Cline wraps around it. */
function typed(text: string): string {
  return inputForm.exec(text.trim())?.[1] ?? text;
}

class Lines {
  readonly lines = new LogLines("");
  readonly #isSubagent: boolean;
  readonly #ids = new Set<string>();
  /** By the id of a message, that of its first entry. */
  readonly #firstIds = new Map<string, string>();
  readonly #tools = new Map<string, string>();
  #timeMs: number;

  /** @param startMs Of messages without a time. */
  constructor(stored: JsonObject, startMs: number) {
    this.#isSubagent = stringAt(stored, "agent") === "subagent";
    this.#timeMs = startMs;
  }

  /** @param at Identifies a message without an id. */
  add(message: JsonObject, at: number): void {
    this.#timeMs = dateMs(message["ts"]) ?? this.#timeMs;
    const stated = stringAt(message, "id");
    const own = stated === undefined || this.#ids.has(stated) ? `message:${at}` : stated;
    const bodies = this.#bodiesOf(message);
    for (const [number, { type, ...body }] of bodies.entries()) {
      const id = number === bodies.length - 1 ? own : `${own}#${number}`;
      if (number === 0) this.#firstIds.set(own, id);
      this.entry(type, id, body);
    }
  }

  /** The earlier messages that it kept follow its summary, unchanged. */
  compact(compaction: JsonObject): void {
    const messages = listAt(compaction, "messages").filter(isObject);
    const kept = messages.map((message) => this.#firstIds.get(stringAt(message, "id") ?? ""));
    const metadata = messages.map((message) => objectAt(message, "metadata"));
    const stated = metadata.find((one) => stringAt(one, "kind") === "compaction_summary");
    this.#timeMs = dateMs(stated?.["generatedAt"]) ?? this.#timeMs;
    this.entry("compaction", "compaction", {
      summary: stringAt(stated, "summary") ?? "",
      // Its own id: nothing is kept.
      firstKeptEntryId: kept.find((id) => id !== undefined) ?? "compaction",
      tokensBefore: countAt(stated, "tokensBefore"),
    });
  }

  entry(type: string, id: string, body: object): void {
    this.lines.timestamp = timeText(this.#timeMs);
    this.lines.add(id, { type, ...body });
    this.#ids.add(id);
  }

  #bodiesOf(message: JsonObject): readonly Body[] {
    const timestamp = this.#timeMs;
    const content = message["content"];
    if (stringAt(message, "role") === "assistant") {
      const { content: said } = withoutEmptyText(mappedContent(content, answerBlock));
      for (const block of said)
        if (block.type === "toolCall") this.#tools.set(block.id, block.name);
      const info = objectAt(message, "modelInfo");
      const provider = stringAt(info, "provider") ?? "cline";
      const model = stringAt(info, "id") ?? "";
      const stated = { api: "anthropic-messages", provider, model, usage: usageIn(message) };
      return said.length === 0 ? [] : [answerBody(said, { ...stated, timestamp })];
    }
    const results = listAt(message, "content")
      .filter(isObject)
      .flatMap((block) => {
        const result = this.#resultOf(block);
        if (result === undefined) return [];
        return [resultBody(result, timestamp)];
      });
    const { content: all } = withoutEmptyText(mappedContent(content, spokenBlock));
    if (all.length === 0) return results;
    const isTyped = this.#isSubagent || all.some(isInput) || results.length === 0;
    const said = all.map((block): UserContent =>
      block.type === "text" ? { ...block, text: typed(block.text) } : block,
    );
    const spoken = isTyped ? spokenBody(said, timestamp) : injectedBody("cline.injected", said);
    return [...results, spoken];
  }

  #resultOf(block: JsonObject): ResultFacts | undefined {
    const callId = stringAt(block, "tool_use_id");
    if (callId === undefined || stringAt(block, "type") !== "tool_result") return undefined;
    const stated = block["content"] ?? "";
    const { content, rest } = withoutEmptyText(mappedContent(stated, spokenBlock));
    const outcomes = rest.filter(isObject);
    const texts = outcomes.map((outcome) => stringAt(outcome, "result") ?? JSON.stringify(outcome));
    const isFailed = outcomes.some((outcome) => outcome["success"] === false);
    return {
      toolCallId: callId,
      toolName: this.#tools.get(callId) ?? stringAt(block, "name") ?? "unknown",
      content: [...content, ...textContent(texts.join("\n\n"))],
      isError: block["is_error"] === true || isFailed,
    };
  }
}

function isInput(block: UserContent): boolean {
  return block.type !== "text" || inputForm.test(block.text.trim());
}

/** Tokens read from and written to the cache are among those of the input. */
function usageIn(message: JsonObject): Usage {
  const metrics = objectAt(message, "metrics");
  const [read, written] = [
    countAt(metrics, "cacheReadTokens"),
    countAt(metrics, "cacheWriteTokens"),
  ];
  const input = Math.max(0, countAt(metrics, "inputTokens") - read - written);
  const usage = usageOf(input, countAt(metrics, "outputTokens"), read, written);
  const cost = metrics?.["cost"];
  return typeof cost === "number" ? { ...usage, cost: { ...usage.cost, total: cost } } : usage;
}
