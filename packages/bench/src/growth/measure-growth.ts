/** Runs the operations at each size, one process after the other, and fits what they cost. */
import type { BenchCase, InputSpec, Scale } from "../bench-case.ts";
import { cases as logCases } from "../cases/growth.ts";
import { cases as listCases } from "../cases/list.ts";
import type { CachedInput } from "../input-cache.ts";
import { runSuite, type SuiteOptions } from "../suite.ts";
import { type GrowthSample, operationGrowth, type OperationGrowth } from "./growth-report.ts";

/** What this needs from outside. */
export interface GrowthOptions extends SuiteOptions {
  readonly ensureInput: (spec: InputSpec) => CachedInput;
  /** Told what happens. */
  readonly onSize?: (what: string) => void;
}

const logBytes: Readonly<Record<Scale, readonly number[]>> = {
  full: [4e6, 16e6, 64e6, 256e6],
  quick: [300_000, 1_200_000, 4_800_000],
};
const directoryFiles: Readonly<Record<Scale, readonly number[]>> = {
  full: [50, 200, 800],
  quick: [5, 20, 80],
};
/** What is measured of lists, and its name in the report. */
const listSubject = "SessionManager.list(), for the first time";
const listOperation = "list";

/** All operations, in the order of the report. Rejects if an answer is wrong. */
export async function measureGrowth(options: GrowthOptions): Promise<readonly OperationGrowth[]> {
  const { scale } = options;
  const bytesEach = scale === "full" ? 437_000 : 50_000;
  const logs = logBytes[scale].map((bytes) => ({ bytes, seed: 7 }));
  const lists = directoryFiles[scale].map((files) => ({ bytes: bytesEach, files, seed: 7 }));
  const listCase = listCases.map((one) => ({
    ...one,
    subjects: one.subjects.filter(({ name }) => name === listSubject),
  }));
  return [
    ...(await measureAt(logCases, "entries", logs, options)),
    ...(await measureAt(listCase, "files", lists, options)),
  ];
}

async function measureAt(
  cases: readonly BenchCase[],
  unit: OperationGrowth["unit"],
  specs: readonly InputSpec[],
  options: GrowthOptions,
): Promise<readonly OperationGrowth[]> {
  const samples = new Map<string, GrowthSample[]>();
  for (const spec of specs) {
    const { facts } = options.ensureInput(spec);
    options.onSize?.(`${facts.files} files, ${facts.entries} entries`);
    const sized = cases.map((one) => ({ ...one, input: () => spec }));
    for (const { failure, subjects } of await runSuite(sized, options)) {
      if (failure !== undefined) throw new Error(failure);
      for (const { name, wallMs, figures, peakRssBytes } of subjects) {
        const { median: ms } = figures["ms each"] ?? wallMs;
        const sample = { size: facts[unit], ms, peakRssBytes: peakRssBytes.median };
        samples.set(name, [...(samples.get(name) ?? []), sample]);
      }
    }
  }
  return [...samples].map(([name, all]) =>
    operationGrowth(name === listSubject ? listOperation : name, unit, all),
  );
}
