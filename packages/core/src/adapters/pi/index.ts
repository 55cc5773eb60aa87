/** `@branchlog/core/pi`: pi's session layer on the engine of Branchlog. */
export { SessionManager } from "./session-manager.ts";
export type { ManagerFactory, ReadonlySessionManager } from "./session-manager.ts";
export type { NewSessionOptions } from "../../session/new-header.ts";
export type { SessionTreeNode } from "./tree-nodes.ts";
export type { SessionInfo, SessionListProgress } from "./session-directory.ts";
export { findMostRecentSession } from "./session-lookup.ts";
export { getAgentDir, getDefaultSessionDir } from "../../directories/agent-directory.ts";
export { assertValidSessionId } from "../../entries/identifiers.ts";
export {
  buildContextEntries,
  buildSessionContext,
  buildSessionProjection,
  getLatestCompactionEntry,
} from "./entry-arrays.ts";

export type { ContextEditableContent } from "./checked-drafts.ts";
export type { EntriesById } from "./entry-arrays.ts";
export {
  CURRENT_SESSION_VERSION,
  loadEntriesFromFile,
  migrateSessionEntries,
  parseSessionEntries,
} from "./session-records.ts";

export {
  entryMessages as sessionEntryToContextMessages,
  projectEntry as projectContextEntry,
} from "../../projections/context.ts";

export type {
  ContextProblem,
  ContextProblemReason,
  OnContextProblem,
  ProjectedEntries,
  ProjectedEntry as ProjectedSessionEntry,
  SessionContext,
  SessionProjection,
} from "../../projections/context.ts";

export { convertToLlm } from "../../projections/llm-messages.ts";
export type { LlmMessage } from "../../projections/llm-messages.ts";
export type { ModelReference } from "../../dialects/model-reference.ts";
export type { PathSettings } from "../../projections/settings.ts";
export type { Diagnostic, DiagnosticKind } from "../../index-table/diagnostics.ts";
export { BranchlogError, isBranchlogError } from "../../errors.ts";
export type { ErrorCode, ErrorFacts } from "../../errors.ts";
export type {
  BranchSummaryEntry,
  CompactionEntry,
  ContextEditEntry,
  ContextEditReplacement,
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
  UsageEntry,
} from "../../entries/entry-types.ts";

export type {
  AgentMessage,
  AssistantContent,
  AssistantMessage,
  BashExecutionMessage,
  BranchSummaryMessage,
  CompactionSummaryMessage,
  ContentBlock,
  CustomMessage,
  ImageContent,
  StopReason,
  SystemMessage,
  SystemTool,
  TextContent,
  ThinkingContent,
  ThinkingLevel,
  ToolCall,
  ToolResultMessage,
  Usage,
  UsageCost,
  UserContent,
  UserMessage,
} from "../../entries/message-types.ts";
