/**
 * Context edits: entries that change what a model sees of an earlier entry, without touching it.
 * Pure; edited messages are copies that keep everything but their content.
 */
import type { ContentBlock } from "../entries/content-types.ts";
import type { ContextEditEntry, SessionEntry } from "../entries/entry-types.ts";
import type { AgentMessage } from "../entries/message-types.ts";
import { isStoredObject } from "./stored-value.ts";

/**
 * The last edit for each target id among the entries, wherever the target stands. An edit without a
 * usable replacement does not count, so that an earlier one stays in force.
 *
 * @param onMalformed called with the id of each edit that does not count
 */
export function latestEdits(
  entries: readonly SessionEntry[],
  onMalformed: (editId: string) => void,
): ReadonlyMap<string, ContextEditEntry> {
  const edits = new Map<string, ContextEditEntry>();
  for (const entry of entries) {
    if (entry.type !== "context_edit") continue;
    if (isReplacement(entry.replacement)) edits.set(entry.targetId, entry);
    else onMalformed(entry.id);
  }
  return edits;
}

/**
 * The messages of an entry after an edit: none if the replacement is null; otherwise user,
 * assistant, tool result and custom messages get its content, and others stay. Text becomes one
 * text block where content is always a list.
 */
export function applyEdit(messages: AgentMessage[], edit: ContextEditEntry): AgentMessage[] {
  if (edit.replacement === null) return [];
  const { content } = edit.replacement;
  return messages.map((message) => withContent(message, content));
}

function isReplacement(replacement: unknown): boolean {
  if (replacement === null) return true;
  if (!isStoredObject(replacement) || !("content" in replacement)) return false;
  return typeof replacement.content === "string" || Array.isArray(replacement.content);
}

function withContent(message: AgentMessage, content: string | ContentBlock[]): AgentMessage {
  switch (message.role) {
    case "user":
    case "custom":
      return edited(message, content);
    case "assistant":
    case "toolResult":
      return edited(
        message,
        typeof content === "string" ? [{ type: "text", text: content }] : content,
      );
    default:
      return message;
  }
}

function edited(message: AgentMessage, content: string | ContentBlock[]): AgentMessage {
  // Which blocks fit which role is not checked for edits, as it is not for stored messages.
  return { ...message, content } as AgentMessage;
}
