/** Headers, entries, messages and lines for tests, in pi's shapes, all with the same time. */
import type { AgentMessage, Usage } from "../entries/message-types.ts";
import type { EntryDraft } from "../entries/entry-draft.ts";
import type {
  AnyEntry,
  CompactionEntry,
  ContextEditEntry,
  SessionEntry,
  SessionHeader,
} from "../entries/entry-types.ts";

/** The time of everything built here, as ISO 8601. */
export const sampleTime = "2025-06-03T09:00:00.000Z";
/** {@link sampleTime} in epoch ms. */
export const sampleTimeMs: number = Date.parse(sampleTime);

/** A header of version 3 of the session `s` in `/w`; `fields` replace and add. */
export function sampleHeader(fields: Partial<SessionHeader> = {}): SessionHeader {
  return { type: "session", version: 3, id: "s", timestamp: sampleTime, cwd: "/w", ...fields };
}

/** A message of a user. */
export function userMessage(text: string): AgentMessage {
  return { role: "user", content: text, timestamp: 1 };
}

/** An answer of a model, for 1 input token and 2 output tokens. */
export function assistantMessage(text: string, model: string = "claude-test"): AgentMessage {
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

/** Tokens of an answer, and their cost in US dollars. */
export function usageOf(input: number, output: number, cost: number = 0): Usage {
  const parts = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  return {
    ...parts,
    input,
    output,
    totalTokens: input + output,
    cost: { ...parts, total: cost },
  };
}

/** A message of a user to append. */
export function userDraft(text: string): EntryDraft {
  return { type: "message", message: userMessage(text) };
}

/** An entry as a file may hold it, beyond what the types allow. */
export function storedEntry(
  type: string,
  id: string,
  parentId: string | null,
  fields: object,
): SessionEntry {
  const entry: AnyEntry = { type, id, parentId, timestamp: sampleTime, ...fields };
  // Files hold any values, so tests pass more than the types allow.
  return entry as SessionEntry;
}

/** A stored message. */
export function messageEntry(
  id: string,
  parentId: string | null,
  message: AgentMessage,
): SessionEntry {
  return { type: "message", id, parentId, timestamp: sampleTime, message };
}

/** A stored message of a user. */
export function userEntry(id: string, parentId: string | null, text: string): SessionEntry {
  return messageEntry(id, parentId, userMessage(text));
}

/** A stored message of a model. */
export function assistantEntry(id: string, parentId: string | null, text: string): SessionEntry {
  return messageEntry(id, parentId, assistantMessage(text));
}

/** A compaction that keeps the path from `firstKeptEntryId` on. */
export function compactionEntry(
  id: string,
  parentId: string | null,
  summary: string,
  firstKeptEntryId: string,
): CompactionEntry {
  const base = { type: "compaction", id, parentId, timestamp: sampleTime } as const;
  return { ...base, summary, firstKeptEntryId, tokensBefore: 1000 };
}

/** An edit of what the context shows of another entry. */
export function contextEditEntry(
  id: string,
  parentId: string | null,
  targetId: string,
  replacement: ContextEditEntry["replacement"],
): ContextEditEntry {
  return { type: "context_edit", id, parentId, timestamp: sampleTime, targetId, replacement };
}

/** The text of a log with these lines: each value as JSON, and a newline. */
export function jsonLines(...values: readonly object[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join("");
}
