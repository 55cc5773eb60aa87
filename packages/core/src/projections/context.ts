/**
 * The context of a path: the messages, thinking level and model of a request to a model. The only
 * context builder. Pure, linear, never throws on malformed bodies.
 */
import type {
  BranchSummaryEntry,
  CompactionEntry,
  ContextEditEntry,
  CustomMessageEntry,
  SessionEntry,
  SessionMessageEntry,
} from "../entries/entry-types.ts";
import type { AgentMessage, ContentBlock, CustomMessage } from "../entries/message-types.ts";
import { wholeAnswers } from "../entries/answers.ts";
import type { PathView } from "./projection.ts";
import { settingsOf, settingsOfPath, settingsStateOfPath } from "./settings.ts";
import type { PathSettings, SettingsState } from "./settings.ts";
import { isStoredObject, storedTimeMs } from "./stored-value.ts";

/** The start of a request to a model, under pi's names. */
export interface SessionContext extends PathSettings {
  readonly messages: AgentMessage[];
}

/** A context that reports whether its path is complete. */
export interface PathContext extends SessionContext {
  /**
   * The parent id at which the path ends because no entry of the log has it. Absent if the
   * path ends at a root, or in a cycle.
   */
  readonly truncatedAt?: string;
  /**
   * Of the transcript of another agent, if a compaction is on the path: the agent's own context is
   * then only partly known, see docs/formats.md, "In place". Else absent.
   */
  readonly approximate?: true;
}

/** A context with the entries that its messages come from, under pi's names. */
export interface SessionProjection extends SessionContext, ProjectedEntries {}

export interface BuiltContext {
  readonly context: PathContext;
  readonly settings: SettingsState;
}

/**
 * Loads the bodies that contribute messages, and of the two entries that hold the settings; those
 * of extension state and labels stay on disk.
 * @param onProblem called for each malformed body
 */
export function buildContext(view: PathView, onProblem?: OnContextProblem): PathContext {
  return buildWithSettings(view, onProblem).context;
}

/**
 * As {@link buildContext}, with the state that a later call needs to continue.
 * @param speaking The selected entries that contribute, if the caller has them.
 */
export function buildWithSettings(
  view: PathView,
  onProblem?: OnContextProblem,
  speaking: readonly SessionEntry[] = speakingEntries(view),
): BuiltContext {
  const messages: AgentMessage[] = [];
  forEachSelected(speaking, onProblem, (entry, edit, isOlderSummary) => {
    if (!isOlderSummary) addMessages(messages, entry, edit, onProblem);
  });
  const settings = settingsStateOfPath(view);
  const truncatedAt = view.missingParentId;
  const context = { messages, ...settingsOf(settings) };
  return {
    context: truncatedAt === undefined ? context : { ...context, truncatedAt },
    settings,
  };
}

function speakingEntries(view: PathView): readonly SessionEntry[] {
  const speaking: SessionEntry[] = [];
  for (const [position, i] of selectContext(view).entries()) {
    if (contributesToContext(view.type(i), position)) speaking.push(view.entry(i));
  }
  return speaking;
}

/** Like {@link buildContext}, with every selected entry next to its messages, also without any. */
export function projectContext(view: PathView, onProblem?: OnContextProblem): SessionProjection {
  const selected = Array.from(selectContext(view), (i) => view.entry(i));
  const { entries, messages } = projectSelected(selected, onProblem);
  const { thinkingLevel, model } = settingsOfPath(view);
  return { entries, messages, thinkingLevel, model };
}

/**
 * `position` is the entry's place in the result of `selectContext`. Bodies of types that do not
 * contribute need not be loaded.
 */
export function contributesToContext(type: string, position: number): boolean {
  switch (type) {
    case "message":
    case "custom_message":
    case "branch_summary":
    case "context_edit":
      return true;
    case "compaction":
      return position === 0;
    default:
      return false;
  }
}

// Selection reads ids and types, and the body of the compaction only.

/**
 * Indexes into the view in the order of their messages. Without a compaction that is the path.
 * Otherwise the last compaction on the path comes first, then the entries before it from its
 * `firstKeptEntryId` on, except system messages (its own `systemMessage` replaces them), then the
 * entries after it. An id that is not on the path before the compaction keeps nothing; if it is
 * empty, the entries after `providerReplayThroughEntryId` are kept (omp 18.3). After the last
 * compaction a `reset_boundary` leaves only the entries after it, without a summary.
 * Linear in what is selected plus the distance back to the first kept entry.
 */
export function selectContext(view: PathView): Int32Array {
  const last = lastCut(view);
  const isReset = last !== -1 && view.type(last) === "reset_boundary";
  const compaction = isReset ? -1 : last;
  const from = isReset ? last + 1 : firstShown(view, compaction);
  const selected = new Int32Array(view.length - from);
  let count = 0;
  if (compaction !== -1) selected[count++] = compaction;
  for (let i = from; i < view.length; i++) {
    if (i === compaction || (i < compaction && isSystemMessage(view, i))) continue;
    selected[count++] = i;
  }
  return selected.subarray(0, count);
}

/** The last compaction or reset; -1 without either. */
function lastCut(view: PathView): number {
  for (let i = view.length - 1; i >= 0; i--) {
    const type = view.type(i);
    if (type === "compaction" || type === "reset_boundary") return i;
  }
  return -1;
}

function firstShown(view: PathView, compaction: number): number {
  return compaction === -1 ? 0 : firstKept(view, compaction);
}

/** The index of the compaction itself if nothing is kept. */
function firstKept(view: PathView, compaction: number): number {
  const entry = view.entry(compaction);
  if (entry.type !== "compaction") return compaction;
  // omp names the last entry that a provider replays instead of the first kept one.
  const replayed: unknown = entry.providerReplayThroughEntryId;
  if (entry.firstKeptEntryId === "" && typeof replayed === "string") {
    const last = indexBefore(view, compaction, replayed);
    return last === -1 ? compaction : last + 1;
  }
  const kept = indexBefore(view, compaction, entry.firstKeptEntryId);
  return kept === -1 ? compaction : kept;
}

/** Searches from `end` backwards, as kept entries are near the end; -1 if absent. */
function indexBefore(view: PathView, end: number, id: unknown): number {
  if (typeof id !== "string") return -1;
  for (let i = end - 1; i >= 0; i--) {
    if (view.id(i) === id) return i;
  }
  return -1;
}

function isSystemMessage(view: PathView, i: number): boolean {
  return view.type(i) === "message" && view.role(i) === "system";
}

// Messages of the selected entries. Stored messages are passed on by reference; a malformed body
// contributes nothing and is reported.

/** Why a body, or a part of it, was omitted from a context. */
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

/** An entry of a context and its messages. */
export interface ProjectedEntry {
  readonly sourceEntry: SessionEntry;
  readonly messages: AgentMessage[];
}

/** The entries of a context and, in the same order, all of their messages. */
export interface ProjectedEntries {
  readonly entries: ProjectedEntry[];
  readonly messages: AgentMessage[];
}

/**
 * The messages of one entry: none, one, or two (a compaction with a system message). A stored
 * message is returned as the same object, unless its content is missing: then as a copy with an
 * empty one. `timestamp` of a created message is in ms, NaN if the entry's is unreadable.
 */
export function entryMessages(entry: SessionEntry, onProblem?: OnContextProblem): AgentMessage[] {
  return projectEntry(entry, undefined, onProblem);
}

function addEntryMessages(
  messages: AgentMessage[],
  entry: SessionEntry,
  onProblem?: OnContextProblem,
): void {
  switch (entry.type) {
    case "message":
      return addStoredMessage(messages, entry, onProblem);
    case "custom_message":
      messages.push(customMessage(entry));
      return;
    case "branch_summary":
      return addBranchSummary(messages, entry);
    case "compaction":
      return addCompaction(messages, entry, onProblem);
    default:
    // Other and unknown types contribute nothing.
  }
}

/** {@link entryMessages} with the context edit of the entry, if any. */
export function projectEntry(
  entry: SessionEntry,
  edit: ContextEditEntry | undefined,
  onProblem?: OnContextProblem,
): AgentMessage[] {
  const messages: AgentMessage[] = [];
  addMessages(messages, entry, edit, onProblem);
  return messages;
}

/** A null replacement removes the messages. */
function addMessages(
  messages: AgentMessage[],
  entry: SessionEntry,
  edit: ContextEditEntry | undefined,
  onProblem?: OnContextProblem,
): void {
  if (edit === undefined) return addEntryMessages(messages, entry, onProblem);
  if (edit.replacement === null) return;
  const { content } = edit.replacement;
  for (const message of entryMessages(entry, onProblem))
    messages.push(withContent(message, content));
}

/**
 * The messages of entries ordered by `selectContext`. The last context edit for each target counts.
 * A compaction that is not the first entry is an older one that was kept, and contributes nothing.
 * Linear.
 */
export function projectSelected(
  selected: readonly SessionEntry[],
  onProblem?: OnContextProblem,
): ProjectedEntries {
  const entries: ProjectedEntry[] = [];
  const messages: AgentMessage[] = [];
  forEachSelected(selected, onProblem, (sourceEntry, edit, isOlderSummary) => {
    const own = isOlderSummary ? [] : projectEntry(sourceEntry, edit, onProblem);
    entries.push({ sourceEntry, messages: own });
    for (const message of own) messages.push(message);
  });
  return { entries, messages };
}

/** With whole answers, each with its edit. */
function forEachSelected(
  selected: readonly SessionEntry[],
  onProblem: OnContextProblem | undefined,
  take: (entry: SessionEntry, edit: ContextEditEntry | undefined, isOlderSummary: boolean) => void,
): void {
  const whole = wholeAnswers(selected);
  const edits = latestEdits(whole, (entryId) => onProblem?.({ entryId, reason: "no-replacement" }));
  for (let index = 0; index < whole.length; index += 1) {
    const entry = whole[index];
    if (entry === undefined) continue;
    const edit = edits.size === 0 ? undefined : edits.get(entry.id);
    take(entry, edit, index > 0 && entry.type === "compaction");
  }
}

function addStoredMessage(
  messages: AgentMessage[],
  entry: SessionMessageEntry,
  onProblem?: OnContextProblem,
): void {
  const message = entry.message;
  if (!isStoredObject(message)) {
    onProblem?.({ entryId: entry.id, reason: "no-message" });
    return;
  }
  switch (message.role) {
    case "user":
    case "assistant":
    case "toolResult":
      messages.push(isNullish(message.content) ? { ...message, content: [] } : message);
      return;
    case "system":
      messages.push(isNullish(message.content) ? { ...message, content: "" } : message);
      return;
    default:
      messages.push(message);
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

function addBranchSummary(messages: AgentMessage[], entry: BranchSummaryEntry): void {
  if (!entry.summary) return;
  const { summary, fromId } = entry;
  const timestamp = storedTimeMs(entry.timestamp);
  messages.push({ role: "branchSummary", summary, fromId, timestamp });
}

function addCompaction(
  messages: AgentMessage[],
  entry: CompactionEntry,
  onProblem?: OnContextProblem,
): void {
  const { summary, shortSummary, tokensBefore, systemMessage } = entry;
  const short = shortSummary === undefined ? {} : { shortSummary };
  const timestamp = storedTimeMs(entry.timestamp);
  if (isStoredObject(systemMessage)) messages.push(systemMessage);
  else if (systemMessage) onProblem?.({ entryId: entry.id, reason: "no-system-message" });
  messages.push({ role: "compactionSummary", summary, ...short, tokensBefore, timestamp });
}

function isNullish(value: unknown): boolean {
  return value === undefined || value === null;
}

// Context edits change what a model sees of an earlier entry. Edited messages are copies.

/**
 * The last edit for each target id. An edit without a usable replacement does not count, so that an
 * earlier one stays in force.
 * @param onMalformed called with the id of each edit that does not count
 */
function latestEdits(
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

function isReplacement(replacement: unknown): boolean {
  if (replacement === null) return true;
  if (!isStoredObject(replacement) || !("content" in replacement)) return false;
  return typeof replacement.content === "string" || Array.isArray(replacement.content);
}

/**
 * User, assistant, tool result and custom messages get the content, and others stay. Text becomes
 * a text block where content is a list.
 */
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
  // Which blocks fit which role is not checked, as it is not for stored messages.
  return { ...message, content } as AgentMessage;
}
