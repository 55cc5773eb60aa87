/**
 * `@branchlog/maintenance`: verifies, repairs, deletes and migrates session files. In reading
 * order.
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
export { deleteSession, hasTrash } from "./removal/delete-session.ts";
export type { DeleteOptions, DeleteResult } from "./removal/delete-session.ts";
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
