/** The basis of custom cases; docs/benchmarks/README.md has an example. */
export { defineCase } from "./bench-case.ts";
export type { BenchCase, CaseDefinition, CaseInput, InputSpec, Subject } from "./bench-case.ts";
export { timeOperation } from "./harness.ts";
export { ensureInput } from "./inputs.ts";
export { createReport, readMachine, toMarkdown } from "./report.ts";
export { runSuite } from "./run-cases.ts";
export type { SuiteOptions } from "./run-cases.ts";
export { sessionChunks, writeSessionDirectory, writeSessionFile } from "./generator/index.ts";
