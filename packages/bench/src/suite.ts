/**
 * Runs cases one after the other and gathers their reports. A case that fails is reported as failed
 * and makes the whole run fail, but does not keep the others from running.
 */
import { setImmediate as turn } from "node:timers/promises";
import {
  type BenchCase,
  type CaseInput,
  type InputSpec,
  noFacts,
  type Scale,
} from "./bench-case.ts";
import { type CachedInput, ensureInput as ensureCachedInput } from "./input-cache.ts";
import type { PeerSet } from "./peer-folders.ts";
import { type ProcessCaseOptions, runProcessCase } from "./process-case.ts";
import { type CaseReport, reportCase, reportFailure } from "./report.ts";

/** What a suite needs from outside. */
export interface SuiteOptions {
  readonly scale: Scale;
  readonly runs: number;
  /** URL of the module that a process runs. Default: that of this package, which is built. */
  readonly childUrl?: string;
  /** URL of the built module of a case. */
  readonly caseUrlOf: (name: string) => string;
  /** Default: found or made in the usual folder. */
  readonly ensureInput?: (spec: InputSpec) => CachedInput;
  readonly launchFlags?: readonly string[];
  /** What is installed to compare with. Default: nothing. */
  readonly peerSets?: ReadonlySet<PeerSet>;
  /** Told what happens. */
  readonly onStart?: (benchCase: BenchCase) => void;
  readonly onReport?: (report: CaseReport) => void;
}

const builtChildUrl = new URL("../dist/case-child.js", import.meta.url).href;

/** The reports of all cases, in their order. */
export async function runSuite(
  cases: readonly BenchCase[],
  options: SuiteOptions,
): Promise<readonly CaseReport[]> {
  const reports: CaseReport[] = [];
  for (const benchCase of cases) {
    // Making inputs blocks: whoever interrupts is heard between two cases.
    await turn();
    options.onStart?.(benchCase);
    const report = await runCase(benchCase, options);
    reports.push(report);
    options.onReport?.(report);
  }
  return reports;
}

async function runCase(benchCase: BenchCase, options: SuiteOptions): Promise<CaseReport> {
  try {
    const samples = await runProcessCase(benchCase, processOptions(benchCase, options));
    return reportCase(benchCase, samples);
  } catch (error) {
    return reportFailure(benchCase, error instanceof Error ? error.message : String(error));
  }
}

function processOptions(benchCase: BenchCase, options: SuiteOptions): ProcessCaseOptions {
  const { scale, runs, childUrl = builtChildUrl, caseUrlOf, launchFlags } = options;
  return {
    runs,
    warmups: 1,
    childUrl,
    caseUrl: caseUrlOf(benchCase.name),
    input: inputOf(benchCase.input(scale), options),
    inputOf: (subject) => inputOf((subject.input ?? benchCase.input)(scale), options),
    isIncluded: ({ needs }) => needs === undefined || options.peerSets?.has(needs) === true,
    ...(launchFlags === undefined ? {} : { launchFlags }),
  };
}

function inputOf(spec: InputSpec | null, options: SuiteOptions): Omit<CaseInput, "scratch"> {
  const { scale, ensureInput = ensureCachedInput } = options;
  if (spec === null) return { scale, path: "", facts: noFacts };
  return { scale, ...ensureInput(spec) };
}
