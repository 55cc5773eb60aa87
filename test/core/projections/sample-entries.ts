/** Short ways to write entries in the tests of projections. Every entry has the same time. */
import type { AgentMessage, SessionEntry } from "@branchlog/core";
import type { AnyEntry, CompactionEntry, ContextEditEntry, Usage } from "@branchlog/core/entries";

/** When every sample entry was written, unless a test says otherwise. */
export const sampleTime = "2025-06-03T09:00:00.000Z";
export const sampleTimeMs: number = Date.parse(sampleTime);

/** An entry as a file may hold it, past what the types allow. */
export function stored(
  type: string,
  id: string,
  parentId: string | null,
  rest: object,
): SessionEntry {
  const entry: AnyEntry = { type, id, parentId, timestamp: sampleTime, ...rest };
  // Projections meet whatever is stored, so tests hand them more than the types allow.
  return entry as SessionEntry;
}

export function message(id: string, parentId: string | null, body: AgentMessage): SessionEntry {
  return { type: "message", id, parentId, timestamp: sampleTime, message: body };
}

export function userMessage(text: string): AgentMessage {
  return { role: "user", content: text, timestamp: 1 };
}

export function assistantMessage(text: string, model = "claude-test"): AgentMessage {
  return {
    role: "assistant",
    content: [{ type: "text", text }],
    api: "anthropic-messages",
    provider: "anthropic",
    model,
    usage: usageOf(1, 2),
    stopReason: "stop",
    timestamp: 2,
  };
}

export function usageOf(input: number, output: number, cost = 0): Usage {
  const parts = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  return {
    ...parts,
    input,
    output,
    totalTokens: input + output,
    cost: { ...parts, total: cost },
  };
}

export function user(id: string, parentId: string | null, text: string): SessionEntry {
  return message(id, parentId, userMessage(text));
}

export function assistant(id: string, parentId: string | null, text: string): SessionEntry {
  return message(id, parentId, assistantMessage(text));
}

export function compaction(
  id: string,
  parentId: string | null,
  summary: string,
  firstKeptEntryId: string,
): CompactionEntry {
  return {
    type: "compaction",
    id,
    parentId,
    timestamp: sampleTime,
    summary,
    firstKeptEntryId,
    tokensBefore: 1000,
  };
}

export function contextEdit(
  id: string,
  parentId: string | null,
  targetId: string,
  replacement: ContextEditEntry["replacement"],
): ContextEditEntry {
  return { type: "context_edit", id, parentId, timestamp: sampleTime, targetId, replacement };
}

/** The text of each message of a context, whatever its role. */
export function textsOf(messages: readonly AgentMessage[]): string[] {
  return messages.map((one) => {
    if ("summary" in one) return one.summary;
    if (!("content" in one)) return one.command;
    if (typeof one.content === "string") return one.content;
    return one.content.map((block) => (block.type === "text" ? block.text : block.type)).join(" ");
  });
}
