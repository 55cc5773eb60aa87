/**
 * Runs cases one after the other and gathers their reports. A case that fails is reported as failed
 * and makes the whole run fail, but does not keep the others from running.
 */
import { setImmediate as turn } from "node:timers/promises";
import type { BenchCase } from "./bench-case.ts";
import { type RunOptions, runProcessCase } from "./process-case.ts";
import { type CaseReport, reportCase, reportFailure } from "./report.ts";

/** How cases are run, and what is reported. */
export interface SuiteOptions extends RunOptions {
  readonly onStart?: (benchCase: BenchCase) => void;
  readonly onReport?: (report: CaseReport) => void;
}

/** The reports of all cases, in their order. */
export async function runSuite(
  cases: readonly BenchCase[],
  options: SuiteOptions,
): Promise<readonly CaseReport[]> {
  const reports: CaseReport[] = [];
  for (const benchCase of cases) {
    // Making inputs blocks: an interrupt is handled between two cases.
    await turn();
    options.onStart?.(benchCase);
    const report = await runCase(benchCase, options);
    reports.push(report);
    options.onReport?.(report);
  }
  return reports;
}

async function runCase(benchCase: BenchCase, options: RunOptions): Promise<CaseReport> {
  try {
    return reportCase(benchCase, await runProcessCase(benchCase, options));
  } catch (error) {
    return reportFailure(benchCase, error instanceof Error ? error.message : String(error));
  }
}
