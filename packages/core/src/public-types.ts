/**
 * `@branchlog/core/types`: the names of what functions and methods take and return, where the root,
 * `/entries` and `/live` do not have them. Types only.
 */
export type { SessionView } from "./session/session-view.ts";
export type {
  IndexedPosition,
  ListingStore,
  LogLease,
  LogPart,
  LogRange,
  LogStore,
  LostLine,
  OpenedLog,
  StoredAppend,
  StoredFacts,
  StoredIndex,
  StoredLog,
  StoredPosition,
} from "./store/log-store.ts";
export type { EngineOptions } from "./log/engine-options.ts";
export type {
  ChangeHints,
  Clock,
  FileLock,
  FileSystem,
  IdSource,
  Ports,
  FileStat,
  HeldLock,
} from "./platform/ports.ts";
export type { AnyTypeOptions, AppendAllOptions, OnDiverged } from "./append/append-options.ts";
export type { Position } from "./append/append-result.ts";
export type { Divergence } from "./entries/divergence.ts";
export type { CheckpointDifference } from "./log/checkpoint-check.ts";
export type { ChangedLine, Checksums } from "./log/checksum-findings.ts";
export type { DanglingReference, DivergedEntry } from "./log/findings.ts";
export type { Recovery } from "./session/recovery.ts";
export type { EntryLine } from "./session/entry-query.ts";
export type { ContextOptions } from "./session/context-load.ts";
export type { KindCount } from "./projections/tree.ts";
export type { Label, Labels } from "./projections/labels.ts";
export type { PathSettings } from "./projections/settings.ts";
export type { SessionSummary } from "./projections/summary.ts";
export type { SessionUsage, UsageTotals } from "./projections/usage.ts";
export type { ProjectionRecord } from "./projections/projection.ts";
export type { DiagnosticKind } from "./index-table/diagnostics.ts";
export type { EntryPlace } from "./index-table/diagnostics.ts";
export type { UnknownType } from "./log/findings.ts";
