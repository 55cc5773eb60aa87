/** Converts messages of a context for a model, those of omp's own roles included. Pure. */
import type { AgentMessage } from "@branchlog/core";
import type { UserMessage, LlmMessage, UserContent } from "@branchlog/core/entries";
import { convertToLlm as convertShared } from "@branchlog/core/entries";
import { isStoredObject, storedList } from "@branchlog/core/rows";

/**
 * Python runs and mentioned files (with images) become user messages; Python excluded from the
 * context is omitted. Other roles as for pi.
 */
export function convertToLlm(messages: readonly AgentMessage[]): LlmMessage[] {
  return messages.flatMap((message) => {
    const role: string = message.role;
    if (role === "pythonExecution") return pythonMessages(message);
    return role === "fileMention" ? mentionMessages(message) : convertShared([message]);
  });
}

function pythonMessages(message: object): UserMessage[] {
  if (Reflect.get(message, "excludeFromContext") === true) return [];
  const output = textOf(Reflect.get(message, "output"));
  const exitCode: unknown = Reflect.get(message, "exitCode");
  const code = `Ran Python:\n\`\`\`python\n${textOf(Reflect.get(message, "code"))}\n\`\`\``;
  const parts = [
    `${code}\n${output === "" ? "(no output)" : `Output:\n\`\`\`\n${output}\n\`\`\``}`,
  ];
  if (Reflect.get(message, "cancelled") === true) parts.push("(execution cancelled)");
  else if (typeof exitCode === "number" && exitCode !== 0) {
    parts.push(`Execution failed with code ${exitCode}`);
  }
  return [userMessage([{ type: "text", text: parts.join("\n\n") }], message)];
}

function mentionMessages(message: object): UserMessage[] {
  const content: UserContent[] = [];
  for (const file of storedList(Reflect.get(message, "files"))) {
    if (!isStoredObject(file)) continue;
    const inner = textOf(Reflect.get(file, "content"));
    const text = inner === "" ? "\n" : `\n${inner}\n`;
    const path = textOf(Reflect.get(file, "path"));
    content.push({ type: "text", text: `<file path="${path}">${text}</file>` });
    const image: unknown = Reflect.get(file, "image");
    // Decoding boundary: an image block as it was stored.
    if (isStoredObject(image)) content.push(image as UserContent);
  }
  return content.length === 0 ? [] : [userMessage(content, message)];
}

function userMessage(content: UserContent[], from: object): UserMessage {
  const timestamp: unknown = Reflect.get(from, "timestamp");
  return {
    role: "user",
    content,
    timestamp: typeof timestamp === "number" ? timestamp : Number.NaN,
  };
}

function textOf(stored: unknown): string {
  return typeof stored === "string" ? stored : "";
}
