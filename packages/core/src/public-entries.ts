/**
 * `@branchlog/core/entries`: what sessions hold. The types of drafts, stored entries and messages,
 * and pure functions over them. In reading order.
 */
export type {
  AnyDraft,
  EntryDraft,
  KnownDraft,
  NamespacedDraft,
  OmpDraft,
  OmpModelChangeDraft,
  UnknownDraft,
} from "./entries/entry-draft.ts";

export { isKnownEntry } from "./entries/entry-types.ts";
export type {
  AnyEntry,
  BranchSummaryEntry,
  CompactionEntry,
  ContextEditEntry,
  CustomEntry,
  CustomMessageEntry,
  FileEntry,
  LabelEntry,
  ModelChangeEntry,
  SessionEntry,
  SessionEntryBase,
  SessionHeader,
  SessionInfoEntry,
  SessionMessageEntry,
  ThinkingLevelChangeEntry,
  UnknownEntry,
  UsageEntry,
  ContextEditReplacement,
} from "./entries/entry-types.ts";

export type {
  AgentMessage,
  AssistantMessage,
  BashExecutionMessage,
  BranchSummaryMessage,
  CompactionSummaryMessage,
  CustomMessage,
  ImageContent,
  StopReason,
  SystemMessage,
  TextContent,
  ThinkingContent,
  ThinkingLevel,
  ToolCall,
  ToolResultMessage,
  Usage,
  UserMessage,
  AssistantContent,
  UserContent,
  ContentBlock,
  SystemTool,
  UsageCost,
} from "./entries/message-types.ts";

export { normalizeName } from "./entries/identifiers.ts";
export type { DialectName } from "./dialects/dialect.ts";
export type { ModelReference } from "./dialects/model-reference.ts";
export { convertToLlm } from "./projections/llm-messages.ts";
export type { LlmMessage } from "./projections/llm-messages.ts";
export { entryParts, messageParts, textOfParts } from "./projections/entry-parts.ts";
export type {
  EntryPart,
  SaidParts,
  ShellPart,
  Speaker,
  ToolCallPart,
} from "./projections/entry-parts.ts";
