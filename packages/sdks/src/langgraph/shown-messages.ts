/**
 * Messages of a graph as messages of a session, for those who read it: the saver never reads them
 * back. Pure.
 */
import type { AnyDraft } from "@branchlog/core/entries";
import { isObject, stringAt } from "@branchlog/core/rows";
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import type { StoredValue } from "./stored-value.ts";

/** The channel that holds the conversation of a graph, by LangGraph's convention. */
export const messagesChannel = "messages";

/** The messages in a value of that channel, as LangChain writes them. */
export function messagesIn(stored: StoredValue | undefined): readonly JsonObject[] {
  if (stored === undefined || "base64" in stored) return [];
  return listOf(stored.value).flatMap(({ id, kwargs }) => {
    const name = Array.isArray(id) ? id.at(-1) : undefined;
    if (typeof name !== "string" || !isObject(kwargs)) return [];
    return [{ ...kwargs, class: name.replace(/Chunk$/, "") }];
  });
}

/** Of a message; undefined for those of other classes. */
export function shownDraft(message: JsonObject, timestamp: number): AnyDraft | undefined {
  const text = textOf(message["content"]);
  switch (message["class"]) {
    case "HumanMessage":
      return asEntry({ role: "user", content: text, timestamp });
    case "SystemMessage":
      return asEntry({ role: "system", content: text, timestamp });
    case "AIMessage":
      return asEntry(answer(message, text, timestamp));
    case "ToolMessage": {
      const toolCallId = stringAt(message, "tool_call_id") ?? "";
      const toolName = stringAt(message, "name") ?? "";
      const content = [{ type: "text", text }];
      const isError = message["status"] === "error";
      return asEntry({ role: "toolResult", toolCallId, toolName, content, isError, timestamp });
    }
    default:
      return undefined;
  }
}

function asEntry(message: object): AnyDraft {
  return { type: "message", message };
}

function answer(message: JsonObject, text: string, timestamp: number): object {
  const calls = listOf(message["tool_calls"]).map((call) => {
    const args = call["args"];
    const [id, name] = [stringAt(call, "id") ?? "", stringAt(call, "name") ?? ""];
    return { type: "toolCall", id, name, arguments: isObject(args) ? args : {} };
  });
  const said = text === "" ? [] : [{ type: "text", text }];
  const counts = isObject(message["usage_metadata"]) ? message["usage_metadata"] : {};
  const details = isObject(counts["input_token_details"]) ? counts["input_token_details"] : {};
  const about = isObject(message["response_metadata"]) ? message["response_metadata"] : {};
  const [cacheRead, cacheWrite] = [
    countOf(details["cache_read"]),
    countOf(details["cache_creation"]),
  ];
  const input = Math.max(0, countOf(counts["input_tokens"]) - cacheRead - cacheWrite);
  const output = countOf(counts["output_tokens"]);
  const totalTokens = input + output + cacheRead + cacheWrite;
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  return {
    role: "assistant",
    content: [...said, ...calls],
    api: "langchain",
    provider: stringAt(about, "model_provider") ?? "langchain",
    model: stringAt(about, "model_name") ?? stringAt(about, "model") ?? "unknown",
    usage: { input, output, cacheRead, cacheWrite, totalTokens, cost },
    stopReason: calls.length > 0 ? "toolUse" : "stop",
    timestamp,
  };
}

function listOf(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter((one) => isObject(one)) : [];
}

function countOf(value: JsonValue | undefined): number {
  return typeof value === "number" ? value : 0;
}

/** The text of a content; for other parts, their kind. */
function textOf(content: JsonValue | undefined): string {
  if (typeof content === "string") return content;
  const parts = listOf(content).map(
    (part) => stringAt(part, "text") ?? `[${stringAt(part, "type") ?? ""}]`,
  );
  return parts.join("\n");
}
