/** Branchlog: sessions of coding agents as append-only logs, read as trees. In reading order. */
export { createSession, memorySession, openSession } from "./open.ts";
export type { CreateOptions, OpenOptions } from "./open.ts";
export type { Session } from "./live/session.ts";
export type { SessionWriter } from "./session/session-writer.ts";
export type { SessionSnapshot } from "./live/session-snapshot.ts";
export type { WaitTarget, WaitOptions } from "./live/wait-for.ts";
export { live } from "./live/live.ts";
export type { LiveViews } from "./live/live-views.ts";
export { sessions$ } from "./live/live-sessions.ts";
export type { LiveSessions, LiveSessionsOptions } from "./live/live-sessions.ts";
export type { SessionListDifference } from "./live/session-list-changes.ts";
export { findSessions, knownPlaces } from "./directories/find-sessions.ts";
export type { FindOptions, FoundSessions } from "./directories/find-sessions.ts";
export { sessionGroups } from "./directories/session-groups.ts";
export type { GroupedSession, SessionGroup, SessionParent } from "./directories/session-groups.ts";
export type { ListedAgent } from "./directories/agent-file.ts";
export { resolveSession } from "./directories/resolve-session.ts";
export { forkSession } from "./copies/fork-session.ts";
export type { ForkOptions, ForkResult } from "./copies/fork-session.ts";
export type { ConversionTarget } from "./dialects/convert-entry.ts";
export { searchSessions } from "./catalog/session-search.ts";
export type { SearchHit, SearchOptions, Snippet } from "./catalog/session-search.ts";
export type { ListedSession } from "./catalog/listed-session.ts";
export type { Live } from "./live/live-value.ts";
export type { LiveStatus } from "./live/log-watch.ts";
export type { EntryEvent, EntryEventOptions } from "./live/entry-events.ts";
export type { ListView } from "./live/list-view.ts";
export type { LiveContext } from "./live/live-context.ts";
export type { LiveTree } from "./live/live-tree.ts";
export type { SessionView } from "./session/session-view.ts";
export type { ContextOptions } from "./session/context-load.ts";
export type { AnyTypeOptions, AppendOptions } from "./append/request.ts";
export type { Durability, EngineOptions } from "./log/engine-options.ts";
export type { Recovery } from "./session/recovery.ts";
export { resolveBlobs } from "./session/resolve-blobs.ts";
export type { BlobOptions, BlobProblem } from "./session/resolve-blobs.ts";
export type { AppendResult, Position } from "./append/outcome.ts";
export type { OnDiverged } from "./append/request.ts";
export type { EntryLine, EntryQuery } from "./session/entry-query.ts";
export type {
  BadLine,
  BadLineKind,
  ChangedLine,
  CheckpointDifference,
  Checksums,
  DamagedEntry,
  DuplicateId,
  Orphan,
  ParentCycle,
  PendingEnd,
} from "./session/verify-findings.ts";
export type { VerifyReport } from "./session/verify.ts";
export type { UnknownType } from "./index-table/unknown-types.ts";
export type { EntryPlace } from "./index-table/entry-place.ts";
export type { Envelope, KindCount, TreeView } from "./projections/tree.ts";
export type { SourceKind } from "./dialects/foreign-record.ts";
export type { PathContext, SessionContext } from "./projections/context.ts";
export type { Label, Labels } from "./projections/labels.ts";
export type { DialectName } from "./dialects/dialect.ts";
export type { ModelReference } from "./dialects/model-reference.ts";
export type { PathSettings } from "./projections/settings.ts";
export type { SessionSummary } from "./projections/summary.ts";
export type { SessionUsage, UsageTotals } from "./projections/usage.ts";
export { toolCallText, turnTotals, turnsOfEntries } from "./projections/turns.ts";
export type {
  SessionTurn,
  TurnFields,
  TurnNotes,
  TurnSummary,
  TurnTotals,
} from "./projections/turns.ts";
export type { Projection, ProjectionRecord } from "./projections/projection.ts";
export { fileOperations } from "./projections/file-operations.ts";
export type { FileOperations } from "./projections/file-operations.ts";
export { convertToLlm } from "./projections/llm-messages.ts";
export type { LlmMessage } from "./projections/llm-messages.ts";
export type { Diagnostic, DiagnosticKind } from "./index-table/diagnostics.ts";
export { BranchlogError, errorCodes, isBranchlogError } from "./errors.ts";
export type { ErrorCode, ErrorFacts, LockFacts, LockHolder } from "./errors.ts";
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
} from "./entries/message-types.ts";
export { normalizeName } from "./entries/identifiers.ts";
export { ManualClock } from "./store/clock.ts";
export { createSeededIds } from "./store/ids.ts";
export type { ChangeHints, Clock, FileLock, FileSystem, IdSource, Ports } from "./store/ports.ts";
