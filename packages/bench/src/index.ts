/** The parts of the benchmark suite that its tests and further cases are built on. */
export { defineCase } from "./bench-case.ts";
export type {
  BenchCase,
  CaseDefinition,
  CaseInput,
  InputFacts,
  InputSpec,
  Measurement,
  Sample,
  Scale,
  Subject,
} from "./bench-case.ts";
export { timeOperation } from "./harness.ts";
export type { OperationOptions, OperationTime } from "./harness.ts";
export { CaseFailure, runProcessCase } from "./process-case.ts";
export type { RunOptions } from "./process-case.ts";
export { runSuite } from "./suite.ts";
export type { SuiteOptions } from "./suite.ts";
export { ensureInput } from "./input-cache.ts";
export type { CachedInput } from "./input-cache.ts";
export { createReport, toMarkdown } from "./report.ts";
export type { BenchReport, CaseReport, FailedPeer, SubjectReport } from "./report.ts";
export { readMachine } from "./machine.ts";
export type { MachineFacts } from "./machine.ts";
export {
  type DirectoryFacts,
  type GeneratorOptions,
  type GrowthFacts,
  type GrowthOptions,
  grownChunks,
  growSession,
  type IdStyle,
  idStyles,
  type Mix,
  mixes,
  realisticSession,
  sessionChunks,
  type SessionFacts,
  shapes,
  writeSessionDirectory,
  writeSessionFile,
} from "./generator/index.ts";
