/**
 * `@branchlog/tools`: verifies, repairs, migrates, compares, counts, exports, redacts and converts
 * sessions. In reading order.
 */
export { verifySession } from "./verify/verify-session.ts";
export type { VerifyOptions, VerifyReport } from "./verify/verify-session.ts";
export { findingKinds, isDamaged } from "./verify/finding.ts";
export type {
  Finding,
  FindingKind,
  FindingWeight,
  BadLine,
  BadLineKind,
  DamagedEntry,
  DuplicateId,
  LinePlace,
  Orphan,
  ParentCycle,
  PendingEnd,
} from "./verify/finding.ts";
export { openedFindings } from "./verify/opened-findings.ts";
export type { TreeFindings } from "./verify/tree-check.ts";
export { migrateSession } from "./migrate/migrate-session.ts";
export type { MigrateOptions, MigrationResult } from "./migrate/migrate-session.ts";
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
export { estimatedCost, estimateOf } from "./usage/estimate.ts";
export type { CostEstimate } from "./usage/estimate.ts";
export { priceTable } from "./usage/prices.ts";
export type { ModelPrice, PriceTable } from "./usage/prices.ts";
export { usageStatistics } from "./usage/usage-statistics.ts";
export type { StatisticsOptions, UsageStatistics } from "./usage/usage-statistics.ts";
export { SpendingLedger } from "./usage/spending-ledger.ts";
export type { LedgerRecord, SpendingTurn } from "./usage/spending-ledger.ts";
export { noSums, plusSpent } from "./usage/spent-sums.ts";
export type { SpentGrouping, SpentGroups, SpentRecord, SpentSums } from "./usage/spent-sums.ts";
export type { RedactionReport } from "./redaction/redactor.ts";
export { Redactor } from "./redaction/redactor.ts";
export { convertSession } from "./convert/convert-session.ts";
export type { ConversionResult, ConvertOptions } from "./convert/convert-session.ts";
export type { ConversionTarget } from "./convert/convert-entry.ts";
export { importDirectory } from "./import/import-directory.ts";
export type { DirectoryImportOptions, DirectoryImportStep } from "./import/import-directory.ts";
export { importTrajectory, isTrajectory } from "./import/import-trajectory.ts";
export type { TrajectoryImport } from "./import/import-trajectory.ts";
export { importSession } from "./import/import-session.ts";
export type { ImportOptions, ImportReport } from "./import/import-session.ts";
export type { LineCounts } from "./import/line-counts.ts";
export {
  exportLinear,
  atifPieces,
  exportAtif,
  exportMarkdown,
  exportShareGpt,
  exportTraceLines,
  linearPieces,
  markdownPieces,
  shareGptPieces,
  traceLinePieces,
} from "./export/export-session.ts";
export type {
  ExportOptions,
  ExportReport,
  ExportSource,
  LinearReport,
} from "./export/export-session.ts";
