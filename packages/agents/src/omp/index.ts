/** `@branchlog/agents/omp`: omp's session layer on the engine of Branchlog. */
export { SessionManager } from "./session-manager.ts";
export type { ManagerFactory, ReadonlySessionManager } from "./session-manager.ts";
export {
  OmpSessionStorage,
  OmpSessionWriter,
  ompSessionStorage,
} from "./storage/session-storage.ts";
export type {
  OmpStorageOptions,
  OmpTitleUpdate,
  OmpWriteOptions,
  OmpWriterOptions,
} from "./storage/session-storage.ts";
export type { CredentialPin } from "./credential-pins.ts";
export type { TurnBudgetState } from "./turn-budget.ts";
export type { NewSessionOptions } from "@branchlog/core/engine";
export type { TitleSource } from "@branchlog/core/rows";
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
} from "./entry-types.ts";
export type { SessionTreeNode } from "../pi/tree-nodes.ts";
export { findMostRecentSession } from "./session-list.ts";
export type { SessionInfo } from "./session-list.ts";
export type { SessionContext } from "./log-context.ts";
export type { UsageTotals, DiagnosticKind } from "@branchlog/core/types";
export { getAgentDir, getBlobsDir, getDefaultSessionDir } from "./omp-directory.ts";
export { buildSessionContext } from "./log-context.ts";
export { getLatestCompactionEntry } from "../pi/entry-arrays.ts";
export { convertToLlm } from "./llm-messages.ts";
export type {
  LlmMessage,
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
export { resolveBlobs } from "./resolve-blobs.ts";
export type { BlobOptions, BlobProblem } from "./resolve-blobs.ts";
export {
  CURRENT_SESSION_VERSION,
  loadEntriesFromFile,
  migrateSessionEntries,
  parseSessionEntries,
} from "../pi/session-records.ts";
export type {
  Diagnostic,
  ErrorCode,
  SessionEntry,
  SessionHeader,
  AgentMessage,
} from "@branchlog/core";
export { BranchlogError, isBranchlogError } from "@branchlog/core";
export type { ErrorFacts } from "@branchlog/core/errors";
export type { OmpState, ServiceTier } from "./omp-state.ts";
export { ompStateOfPath } from "./omp-state.ts";
