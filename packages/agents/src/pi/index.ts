/** `@branchlog/agents/pi`: pi's session layer on the engine of Branchlog. */
export { SessionManager } from "./session-manager.ts";
export type { ManagerFactory, ReadonlySessionManager } from "./session-manager.ts";
export type { NewSessionOptions } from "@branchlog/core/engine";
export type {
  ContextProblem,
  ContextProblemReason,
  OnContextProblem,
  ProjectedEntries,
  ProjectedEntry as ProjectedSessionEntry,
  SessionProjection,
} from "@branchlog/core/rows";
export type { SessionTreeNode } from "./tree-nodes.ts";
export type { SessionInfo, SessionListProgress } from "./session-directory.ts";
export { findMostRecentSession } from "./session-lookup.ts";
export { getAgentDir, getDefaultSessionDir } from "./pi-directory.ts";
export {
  assertValidSessionId,
  entryMessages as sessionEntryToContextMessages,
  projectEntry as projectContextEntry,
} from "@branchlog/core/rows";
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
export type {
  SessionContext,
  Diagnostic,
  ErrorCode,
  SessionEntry,
  SessionHeader,
  AgentMessage,
} from "@branchlog/core";
export { convertToLlm } from "@branchlog/core/entries";
export type {
  LlmMessage,
  ModelReference,
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
  ContextEditReplacement,
  AssistantContent,
  ContentBlock,
  SystemTool,
  UsageCost,
  UserContent,
} from "@branchlog/core/entries";
export type { PathSettings, DiagnosticKind } from "@branchlog/core/types";
export { BranchlogError, isBranchlogError } from "@branchlog/core";
export type { ErrorFacts } from "@branchlog/core/errors";
export type { DivergedListener } from "./manager-position.ts";
export { fileOperations } from "./file-operations.ts";
export type { FileOperations } from "./file-operations.ts";
export { computeSystemMessage } from "./system-message.ts";
