/** Runs the operations at each size, one process after the other, and fits what they cost. */
import type { BenchCase, InputSpec, Scale } from "../bench-case.ts";
import { benchCase as listCase } from "../cases/list-sessions.ts";
import { type CachedInput } from "../input-cache.ts";
import { runProcessCase, type SubjectSamples } from "../process-case.ts";
import { summarize } from "../statistics.ts";
import { benchCase as logCase } from "./growth-case.ts";
import { type GrowthSample, operationGrowth, type OperationGrowth } from "./growth-report.ts";

/** What this needs from outside. */
export interface GrowthOptions {
  readonly scale: Scale;
  readonly runs: number;
  /** Runs before those that count. Default 1. */
  readonly warmups?: number;
  readonly childUrl: string;
  /** URL of the built module of a case, given without its ending. */
  readonly moduleUrlOf: (path: string) => string;
  readonly ensureInput: (spec: InputSpec) => CachedInput;
  readonly launchFlags?: readonly string[];
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
const listOperation = "SessionManager.list(), for the first time";

/** All operations, in the order of the report. Rejects if an answer is wrong. */
export async function measureGrowth(options: GrowthOptions): Promise<readonly OperationGrowth[]> {
  const { scale } = options;
  const logSpecs = logBytes[scale].map((bytes) => ({ bytes, seed: 7 }));
  const logs = await measureAt(logCase, "growth/growth-case", logSpecs, options);
  const bytes = scale === "full" ? 437_000 : 50_000;
  const listSpecs = directoryFiles[scale].map((files) => ({ bytes, files, seed: 7 }));
  const lists = await measureAt(listCase, "cases/list-sessions", listSpecs, options);
  return [
    ...logCase.subjects.map(({ name }) =>
      operationGrowth(
        name,
        "entries",
        logs.flatMap(({ input, samples }) => sampleOf(samples, name, input.facts.entries)),
      ),
    ),
    operationGrowth(
      "list",
      "files",
      lists.flatMap(({ input, samples }) => sampleOf(samples, listOperation, input.facts.files)),
    ),
  ];
}

interface AtSize {
  readonly input: CachedInput;
  readonly samples: readonly SubjectSamples[];
}

async function measureAt(
  benchCase: BenchCase,
  module: string,
  specs: readonly InputSpec[],
  options: GrowthOptions,
): Promise<readonly AtSize[]> {
  const {
    scale,
    runs,
    warmups = 1,
    childUrl,
    moduleUrlOf,
    ensureInput,
    launchFlags,
    onSize,
  } = options;
  const results: AtSize[] = [];
  for (const spec of specs) {
    const input = ensureInput(spec);
    onSize?.(`${benchCase.name}: ${input.facts.files} files, ${input.facts.entries} entries`);
    const samples = await runProcessCase(benchCase, {
      runs,
      warmups,
      childUrl,
      caseUrl: moduleUrlOf(module),
      input: { scale, ...input },
      isIncluded: ({ name, role, needs }) =>
        role === "ours" &&
        needs === undefined &&
        (benchCase !== listCase || name === listOperation),
      ...(launchFlags === undefined ? {} : { launchFlags }),
    });
    results.push({ input, samples });
  }
  return results;
}

function sampleOf(
  subjects: readonly SubjectSamples[],
  name: string,
  size: number,
): readonly GrowthSample[] {
  const samples = subjects.find((subject) => subject.name === name)?.samples ?? [];
  if (samples.length === 0) return [];
  const ms = summarize(samples.map(({ wallMs, figures }) => figures["ms each"] ?? wallMs)).median;
  const { median: peakRssBytes } = summarize(samples.map((sample) => sample.peakRssBytes));
  return [{ size, ms, peakRssBytes }];
}
