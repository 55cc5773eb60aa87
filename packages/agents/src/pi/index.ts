/** `@branchlog/core/pi`: pi's session layer on the engine of Branchlog. */
export { SessionManager } from "./session-manager.ts";
export type { ManagerFactory, ReadonlySessionManager } from "./session-manager.ts";
export type { NewSessionOptions } from "@branchlog/core/internal";
export type { SessionTreeNode } from "./tree-nodes.ts";
export type { SessionInfo, SessionListProgress } from "./session-directory.ts";
export { findMostRecentSession } from "./session-lookup.ts";
export { getAgentDir, getDefaultSessionDir } from "@branchlog/library/internal";
export { assertValidSessionId } from "@branchlog/core/internal";
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
} from "@branchlog/core/internal";

export type {
  ContextProblem,
  ContextProblemReason,
  OnContextProblem,
  ProjectedEntries,
  ProjectedEntry as ProjectedSessionEntry,
  SessionProjection,
} from "@branchlog/core/internal";
export type { SessionContext } from "@branchlog/core";

export { convertToLlm } from "@branchlog/core/entries";
export type { LlmMessage } from "@branchlog/core/entries";
export type { ModelReference } from "@branchlog/core/entries";
export type { PathSettings } from "@branchlog/core/types";
export type { Diagnostic } from "@branchlog/core";
export type { DiagnosticKind } from "@branchlog/core/types";
export { BranchlogError, isBranchlogError } from "@branchlog/core";
export type { ErrorCode } from "@branchlog/core";
export type { ErrorFacts } from "@branchlog/core/errors";
export type {
  BranchSummaryEntry,
  CompactionEntry,
  ContextEditEntry,
  CustomEntry,
  CustomMessageEntry,
  FileEntry,
  LabelEntry,
  ModelChangeEntry,
  SessionEntryBase,
  SessionInfoEntry,
  SessionMessageEntry,
  ThinkingLevelChangeEntry,
  UsageEntry,
} from "@branchlog/core/entries";
export type { ContextEditReplacement } from "@branchlog/core/internal";
export type { SessionEntry, SessionHeader } from "@branchlog/core";

export type { AgentMessage } from "@branchlog/core";
export type {
  AssistantContent,
  ContentBlock,
  SystemTool,
  UsageCost,
  UserContent,
} from "@branchlog/core/internal";
export type {
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
} from "@branchlog/core/entries";
export type { DivergedListener } from "./manager-position.ts";
