/**
 * From entries to the messages that a model's context holds. Stored messages are handed on by
 * reference; an entry whose body is malformed contributes nothing and is reported, never thrown at.
 */
import type {
  BranchSummaryEntry,
  CompactionEntry,
  ContextEditEntry,
  CustomMessageEntry,
  SessionEntry,
  SessionMessageEntry,
} from "../entries/entry-types.ts";
import type { AgentMessage, CustomMessage } from "../entries/message-types.ts";
import { applyEdit, latestEdits } from "./context-edits.ts";
import { isStoredObject, storedTimeMs } from "./stored-value.ts";

/** Why a body, or a part of it, was left out of a context. */
export type ContextProblemReason =
  /** A `message` entry whose message is not an object. */
  | "no-message"
  /** A compaction whose `systemMessage` is not an object; its summary is still there. */
  | "no-system-message"
  /** A `context_edit` whose replacement is neither null nor text or a list under `content`. */
  | "no-replacement";

/** A malformed body that a context was built without. */
export interface ContextProblem {
  readonly entryId: string;
  readonly reason: ContextProblemReason;
}

/** Called once per malformed body, in no particular order. */
export type OnContextProblem = (problem: ContextProblem) => void;

/** An entry of a context and what it contributes to it. */
export interface ProjectedEntry {
  readonly sourceEntry: SessionEntry;
  readonly messages: AgentMessage[];
}

/** The entries of a context and, in the same order, the messages of all of them. */
export interface ProjectedEntries {
  readonly entries: ProjectedEntry[];
  readonly messages: AgentMessage[];
}

/**
 * The messages that one entry stands for: none, one, or two (a compaction with a system message). A
 * stored message comes back as the same object, unless its content is missing: then as a copy with
 * an empty one. `timestamp` of a message made here is in ms, NaN if the entry's cannot be read.
 */
export function entryMessages(entry: SessionEntry, onProblem?: OnContextProblem): AgentMessage[] {
  switch (entry.type) {
    case "message":
      return storedMessage(entry, onProblem);
    case "custom_message":
      return [customMessage(entry)];
    case "branch_summary":
      return branchSummaryMessages(entry);
    case "compaction":
      return compactionMessages(entry, onProblem);
    default:
      // The other types, and those that we do not know, say nothing to a model.
      return [];
  }
}

/** {@link entryMessages} with a context edit applied, if there is one for the entry. */
export function projectEntry(
  entry: SessionEntry,
  edit: ContextEditEntry | undefined,
  onProblem?: OnContextProblem,
): AgentMessage[] {
  if (edit === undefined) return entryMessages(entry, onProblem);
  return edit.replacement === null ? [] : applyEdit(entryMessages(entry, onProblem), edit);
}

/**
 * The messages of the entries of a context, given as `selectContext` orders them. Of the context
 * edits among them the last for each target counts. A compaction that is not the first entry is an
 * older one inside the kept range and says nothing. Linear.
 */
export function projectSelected(
  selected: readonly SessionEntry[],
  onProblem?: OnContextProblem,
): ProjectedEntries {
  const edits = latestEdits(selected, (entryId) =>
    onProblem?.({ entryId, reason: "no-replacement" }),
  );
  const entries: ProjectedEntry[] = [];
  const messages: AgentMessage[] = [];
  for (const [index, entry] of selected.entries()) {
    const isOlderSummary = index > 0 && entry.type === "compaction";
    const own = isOlderSummary ? [] : projectEntry(entry, edits.get(entry.id), onProblem);
    entries.push({ sourceEntry: entry, messages: own });
    for (const message of own) messages.push(message);
  }
  return { entries, messages };
}

function storedMessage(entry: SessionMessageEntry, onProblem?: OnContextProblem): AgentMessage[] {
  const message = entry.message;
  if (!isStoredObject(message)) {
    onProblem?.({ entryId: entry.id, reason: "no-message" });
    return [];
  }
  switch (message.role) {
    case "user":
    case "assistant":
    case "toolResult":
      return [isNullish(message.content) ? { ...message, content: [] } : message];
    case "system":
      return [isNullish(message.content) ? { ...message, content: "" } : message];
    default:
      return [message];
  }
}

function customMessage(entry: CustomMessageEntry): CustomMessage {
  const { attribution } = entry;
  return {
    role: "custom",
    customType: entry.customType,
    content: entry.content ?? [],
    display: entry.display,
    details: entry.details,
    ...(attribution === undefined ? {} : { attribution }),
    timestamp: storedTimeMs(entry.timestamp),
  };
}

function branchSummaryMessages(entry: BranchSummaryEntry): AgentMessage[] {
  if (!entry.summary) return [];
  const { summary, fromId } = entry;
  return [{ role: "branchSummary", summary, fromId, timestamp: storedTimeMs(entry.timestamp) }];
}

function compactionMessages(entry: CompactionEntry, onProblem?: OnContextProblem): AgentMessage[] {
  const { summary, shortSummary, tokensBefore, systemMessage } = entry;
  const short = shortSummary === undefined ? {} : { shortSummary };
  const timestamp = storedTimeMs(entry.timestamp);
  const messages: AgentMessage[] = [];
  if (isStoredObject(systemMessage)) messages.push(systemMessage);
  else if (systemMessage) onProblem?.({ entryId: entry.id, reason: "no-system-message" });
  messages.push({ role: "compactionSummary", summary, ...short, tokensBefore, timestamp });
  return messages;
}

function isNullish(value: unknown): boolean {
  return value === undefined || value === null;
}
