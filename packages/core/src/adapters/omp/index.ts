/** `@branchlog/core/omp`: omp's session layer on the engine of Branchlog. */
export { SessionManager } from "./session-manager.ts";
export type { ManagerFactory, ReadonlySessionManager } from "./session-manager.ts";
export type { NewSessionOptions } from "../../session/new-header.ts";
export type { SessionTreeNode } from "../pi/tree-nodes.ts";
export { findMostRecentSession } from "./session-list.ts";
export type { SessionInfo } from "./session-list.ts";
export type { SessionContext } from "./log-context.ts";
export type { OmpState, ServiceTier } from "../../projections/omp-state.ts";
export type { UsageTotals } from "../../projections/usage.ts";
export type { TitleSource } from "../../dialects/title-slot.ts";
export { getAgentDir, getBlobsDir, getDefaultSessionDir } from "./agent-directory.ts";
export { buildSessionContext } from "./log-context.ts";
export { getLatestCompactionEntry } from "../pi/entry-arrays.ts";
export { convertToLlm } from "./llm-messages.ts";
export type { LlmMessage } from "../../projections/llm-messages.ts";
export { resolveBlobs } from "../../session/resolve-blobs.ts";
export type { BlobOptions, BlobProblem } from "../../session/resolve-blobs.ts";
export {
  CURRENT_SESSION_VERSION,
  loadEntriesFromFile,
  migrateSessionEntries,
  parseSessionEntries,
} from "../pi/session-records.ts";

export type { Diagnostic, DiagnosticKind } from "../../index-table/diagnostics.ts";
export { BranchlogError, isBranchlogError } from "../../errors.ts";
export type { ErrorCode, ErrorFacts } from "../../errors.ts";
export type {
  ArchiveEntry,
  ModeChangeEntry,
  OmpSessionEntry,
  ResetBoundaryEntry,
  ServiceTierChangeEntry,
  SessionInit,
  SessionInitEntry,
  TitleChangeEntry,
  TtsrInjectionEntry,
} from "../../entries/omp-entry-types.ts";

export type {
  BranchSummaryEntry,
  CompactionEntry,
  CustomEntry,
  CustomMessageEntry,
  LabelEntry,
  ModelChangeEntry,
  SessionEntry,
  SessionEntryBase,
  SessionHeader,
  SessionMessageEntry,
  ThinkingLevelChangeEntry,
} from "../../entries/entry-types.ts";

export type { AgentMessage } from "../../entries/message-types.ts";
