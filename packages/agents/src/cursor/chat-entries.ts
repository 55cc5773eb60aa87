/** Maps messages of a chat of Cursor's command to the lines of a log. Pure. */
import type { AssistantContent, UserContent } from "@branchlog/core/entries";
import { isObject, listAt, noUsage, objectAt, stringAt, timeText } from "@branchlog/core/rows";
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import { answerBlock } from "../anthropic-content.ts";
import { answerBody, injectedBody, resultBody, spokenBody, textContent } from "../entry-bodies.ts";
import type { Body } from "../entry-bodies.ts";
import { mappedContent, textsOf, withoutEmptyText } from "../foreign-content.ts";
import { LogLines, headerOf } from "../log-lines.ts";
import type { SessionRow } from "../log-lines.ts";
import { titleIn } from "../spoken-title.ts";
import { promptIn, promptTimeMs, provider } from "./cursor-transcript.ts";

export interface StoredChat extends SessionRow {
  /** As set last. */
  readonly model: string | undefined;
  readonly messages: readonly StoredMessage[];
}

export interface StoredMessage {
  /** Of its blob: two that say the same have one. */
  readonly id: string;
  /** Undefined: it is damaged, encrypted, or missing. */
  readonly value: JsonObject | undefined;
}

export function logOfChat(chat: StoredChat): Buffer {
  const header = headerOf(chat);
  const lines = new LogLines(header.timestamp);
  const model = chat.model ?? "unknown";
  lines.addName(chat.name);
  for (const [number, { id, value }] of chat.messages.entries()) {
    if (value === undefined) {
      lines.addDamaged("");
      continue;
    }
    const said = value["content"];
    // Only prompts have a time, of newer versions.
    const timeMs = stringAt(value, "role") === "user" ? promptTimeMs(said) : undefined;
    if (timeMs !== undefined) lines.timestamp = timeText(timeMs);
    const own = `${number}-${id.slice(0, 12)}`;
    const place = { id: own, model, timestamp: Date.parse(lines.timestamp) };
    for (const [at, body] of bodiesOf(value, place).entries()) {
      lines.add(at === 0 ? own : `${own}#${at}`, body);
    }
  }
  return lines.log(header);
}

interface Place {
  readonly id: string;
  readonly model: string;
  readonly timestamp: number;
}

function bodiesOf(message: JsonObject, { id, model, timestamp }: Place): Body[] {
  const said = message["content"];
  const options = objectAt(objectAt(message, "providerOptions"), "cursor");
  const role = stringAt(message, "role") ?? "";
  switch (role) {
    case "system":
      return [];
    case "user": {
      const texts = textsOf(said);
      if (options?.["isSummary"] === true) {
        const summary = texts.join("\n");
        return [{ type: "compaction", summary, firstKeptEntryId: id, tokensBefore: 0 }];
      }
      const content = promptIn(said);
      if (content.length === 0) return [];
      const isTyped = texts.some((text) => text.includes("<user_query>") || titleIn(text) !== "");
      const isSpoken = isTyped || texts.length === 0;
      return [isSpoken ? spokenBody(content, timestamp) : injectedBody("cursor.injected", content)];
    }
    case "assistant": {
      const { content } = withoutEmptyText(mappedContent(said, saidBlock));
      if (content.length === 0) return [];
      return [answerBody(content, { api: "cursor", provider, model, usage: noUsage, timestamp })];
    }
    case "tool": {
      const told = objectAt(options, "highLevelToolCallResult");
      const isError = [told, objectAt(told, "output")].some((one) => one?.["isError"] === true);
      const results = listAt(message, "content").filter(isObject);
      return results.map((block) => resultOf(block, isError, timestamp));
    }
    default:
      return [{ type: "custom", customType: `cursor.${role.slice(0, 60)}`, data: message }];
  }
}

function saidBlock(block: JsonObject): AssistantContent | undefined {
  switch (stringAt(block, "type")) {
    case "reasoning":
      return answerBlock({ ...block, type: "thinking", thinking: block["text"] ?? null });
    case "redacted-reasoning":
      return answerBlock({ ...block, type: "redacted_thinking" });
    case "tool-call":
      return answerBlock({
        type: "tool_use",
        id: block["toolCallId"] ?? null,
        name: block["toolName"] ?? null,
        input: block["args"] ?? null,
      });
    default:
      return answerBlock(block);
  }
}

function resultOf(block: JsonObject, hasFailed: boolean, timestamp: number): Body {
  const texts = [block["result"], block["experimental_content"]].map(textsIn);
  const content = texts.find((one) => one.length > 0) ?? [];
  const result = {
    toolCallId: stringAt(block, "toolCallId") ?? "",
    toolName: stringAt(block, "toolName") ?? "unknown",
    content,
    isError: hasFailed || block["isError"] === true,
  };
  return resultBody(result, timestamp);
}

function textsIn(value: JsonValue | undefined): UserContent[] {
  return textsOf(value).flatMap(textContent);
}
