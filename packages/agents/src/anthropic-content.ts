/** Maps blocks of Anthropic's Messages API, which Claude Code and Droid store, to pi's. Pure. */
import type { AssistantContent, UserContent } from "@branchlog/core/entries";
import { isObject, objectAt, stringAt } from "@branchlog/core/rows";
import type { JsonObject } from "@branchlog/streaming";
import { textBlock } from "./foreign-content.ts";

/** Undefined: it has no form. */
export function answerBlock(block: JsonObject): AssistantContent | undefined {
  switch (stringAt(block, "type")) {
    case "text":
      return textBlock(block);
    case "thinking": {
      const [thinking, signature] = [stringAt(block, "thinking"), stringAt(block, "signature")];
      if (thinking === undefined) return undefined;
      return { type: "thinking", thinking, ...(signature ? { thinkingSignature: signature } : {}) };
    }
    case "redacted_thinking": {
      const data = stringAt(block, "data");
      if (data === undefined) return undefined;
      return { type: "thinking", thinking: "", thinkingSignature: data, redacted: true };
    }
    case "tool_use":
    case "server_tool_use":
    case "mcp_tool_use": {
      const [id, name] = [stringAt(block, "id"), stringAt(block, "name")];
      if (id === undefined || name === undefined) return undefined;
      const input = block["input"] ?? {};
      return { type: "toolCall", id, name, arguments: isObject(input) ? input : { input } };
    }
    default:
      return undefined;
  }
}

/** Undefined: it has no form. */
export function spokenBlock(block: JsonObject): UserContent | undefined {
  const type = stringAt(block, "type");
  if (type === "text") return textBlock(block);
  const source = type === "image" ? objectAt(block, "source") : undefined;
  const [data, mimeType] = [stringAt(source, "data"), stringAt(source, "media_type")];
  // Images after URLs have no form: logs embed images.
  if (data === undefined || mimeType === undefined) return undefined;
  return { type: "image", data, mimeType };
}
