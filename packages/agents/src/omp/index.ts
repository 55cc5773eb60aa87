/** `@branchlog/core/omp`: omp's session layer on the engine of Branchlog. */
export { SessionManager } from "./session-manager.ts";
export type { ManagerFactory, ReadonlySessionManager } from "./session-manager.ts";
export type { NewSessionOptions } from "@branchlog/core/internal";
export type { SessionTreeNode } from "../pi/tree-nodes.ts";
export { findMostRecentSession } from "./session-list.ts";
export type { SessionInfo } from "./session-list.ts";
export type { SessionContext } from "./log-context.ts";
export type { OmpState, ServiceTier } from "@branchlog/core/internal";
export type { UsageTotals } from "@branchlog/core/types";
export type { TitleSource } from "@branchlog/core/internal";
export {
  getBlobsDir,
  ompAgentDir as getAgentDir,
  ompDefaultSessionDir as getDefaultSessionDir,
} from "@branchlog/library/internal";
export { buildSessionContext } from "./log-context.ts";
export { getLatestCompactionEntry } from "../pi/entry-arrays.ts";
export { convertToLlm } from "./llm-messages.ts";
export type { LlmMessage } from "@branchlog/core/entries";
export { resolveBlobs } from "@branchlog/core/entries";
export type { BlobOptions, BlobProblem } from "@branchlog/core/entries";
export {
  CURRENT_SESSION_VERSION,
  loadEntriesFromFile,
  migrateSessionEntries,
  parseSessionEntries,
} from "../pi/session-records.ts";

export type { Diagnostic } from "@branchlog/core";
export type { DiagnosticKind } from "@branchlog/core/types";
export { BranchlogError, isBranchlogError } from "@branchlog/core";
export type { ErrorCode } from "@branchlog/core";
export type { ErrorFacts } from "@branchlog/core/errors";
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
} from "@branchlog/core/internal";

export type {
  BranchSummaryEntry,
  CompactionEntry,
  CustomEntry,
  CustomMessageEntry,
  LabelEntry,
  ModelChangeEntry,
  SessionEntryBase,
  SessionMessageEntry,
  ThinkingLevelChangeEntry,
} from "@branchlog/core/entries";
export type { SessionEntry, SessionHeader } from "@branchlog/core";

export type { AgentMessage } from "@branchlog/core";
