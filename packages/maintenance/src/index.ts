/**
 * `@branchlog/maintenance`: verifies, repairs, migrates, deletes, archives, prunes and moves
 * sessions, takes back what it did, compares and counts. In reading order.
 */
export { verifySession } from "./verify/verify-session.ts";
export type { VerifyOptions, VerifyReport } from "./verify/verify-session.ts";
export { isDamaged } from "./verify/finding.ts";
export type {
  Finding,
  FindingKind,
  FindingWeight,
  BadLine,
  BadLineKind,
  ChangedLine,
  CheckpointDifference,
  Checksums,
  DamagedEntry,
  DuplicateId,
  LinePlace,
  Orphan,
  ParentCycle,
  PendingEnd,
} from "./verify/finding.ts";
export { openedFindings } from "./verify/opened-findings.ts";
export type { TreeFindings } from "./verify/tree-check.ts";
export { deleteSession } from "./removal/delete-session.ts";
export type { DeleteOptions, DeleteResult } from "./removal/delete-session.ts";
export {
  archiveSessions,
  archivedCopies,
  archivedSessions,
  findArchived,
  restoreSession,
} from "./keeping/archive-sessions.ts";
export type {
  ArchiveOptions,
  ArchivedCopy,
  ArchivedSession,
  RestoreOptions,
  RestoreResult,
} from "./keeping/archive-sessions.ts";
export type { Removal } from "./keeping/remove-sessions.ts";
export { planPrune } from "./keeping/plan-prune.ts";
export type { PruneRules } from "./keeping/plan-prune.ts";
export { moveSessions } from "./keeping/move-sessions.ts";
export type { MoveOptions, MoveResult, MovedSession } from "./keeping/move-sessions.ts";
export { operations, undoOperation } from "./keeping/undo.ts";
export type { RecordedOperation, UndoOptions, UndoResult } from "./keeping/undo.ts";
export { recordReplacement } from "./keeping/record-replacement.ts";
export type { Replacement } from "./keeping/record-replacement.ts";
export { dataDirectory } from "./keeping/kept-files.ts";
export type { KeepingOptions } from "./keeping/kept-files.ts";
export type {
  FileChange,
  KeptFacts,
  Operation,
  OperationKind,
  PackedFile,
} from "./keeping/operation.ts";
export { migrateSession } from "./migrate-session.ts";
export type { MigrateOptions, MigrationResult } from "./migrate-session.ts";
export { applyRepair } from "./repair/apply-repair.ts";
export type { ApplyOptions, RepairResult } from "./repair/apply-repair.ts";
export { planRepair } from "./repair/plan-repair.ts";
export type { PlanOptions } from "./repair/plan-repair.ts";
export { isSound } from "./repair/repair-plan.ts";
export type {
  HeaderSource,
  HeaderStep,
  KeepStep,
  OrphanedEntry,
  RecoverStep,
  RemainingDamage,
  RepairChange,
  RepairPlan,
  RepairStep,
  SetAsideReason,
  SetAsideStep,
  StandInStep,
  TerminateStep,
} from "./repair/repair-plan.ts";
export { salvagedBytes } from "./repair/salvage-lines.ts";
export type { SalvageLine } from "./repair/salvage-lines.ts";
export { diffBranches } from "./compare/branch-difference.ts";
export type { BranchDifference, ComparedPlace } from "./compare/branch-difference.ts";
export { diffContexts } from "./compare/context-difference.ts";
export type { ContextDifference } from "./compare/context-difference.ts";
export { usageStatistics } from "./statistics/usage-statistics.ts";
export type { StatisticsOptions, UsageStatistics } from "./statistics/usage-statistics.ts";
export type { SpentGrouping, SpentGroups, SpentSums } from "./statistics/spent-sums.ts";
