/**
 * Runs a case in processes of its own: for each subject a warm-up and then N runs, the subjects
 * taking turns so that a slow minute of the machine hits them all. A run of ours or of a baseline
 * that fails, or fails its check, makes the case fail; of a peer it is the peer's result.
 */
import { execFile } from "node:child_process";
import { performance } from "node:perf_hooks";
import { env, execPath } from "node:process";
import { fileURLToPath } from "node:url";
import {
  type BenchCase,
  type CaseInput,
  type InputSpec,
  type Measurement,
  noFacts,
  type Sample,
  type Scale,
  type SubjectFacts,
} from "./bench-case.ts";
import type { ChildRequest } from "./case-child.ts";
import { type CachedInput, ensureInput as ensureCachedInput } from "./input-cache.ts";
import { type PeerSet, runtimePath } from "./peer-folders.ts";
import { describeFailure } from "./run-failure.ts";
import { makeScratch, removeScratch, watchOver } from "./running-processes.ts";

/** How cases are run. */
export interface RunOptions {
  readonly scale: Scale;
  readonly runs: number;
  /** Runs before those that count. Default 1. */
  readonly warmups?: number;
  /** URL of the module that a process runs. Default: that of this package, which is built. */
  readonly childUrl?: string;
  /** URL of the built module of a case. */
  readonly caseUrlOf: (name: string) => string;
  /** Default: found or made in the usual folder. */
  readonly ensureInput?: (spec: InputSpec) => CachedInput;
  /** Flags before those of the case, for children that are not built. Default: none. */
  readonly launchFlags?: readonly string[];
  /** A child that takes longer is ended and the case fails. Default 600,000. */
  readonly runMsMax?: number;
  /** What is installed to compare with; subjects that need more are left out. Default: nothing. */
  readonly peerSets?: ReadonlySet<PeerSet>;
}

const builtChildUrl = new URL("../dist/case-child.js", import.meta.url).href;

/** All samples of one subject. */
export interface SubjectSamples extends SubjectFacts {
  readonly samples: readonly Sample[];
  /** Of a peer: why it has none. */
  readonly failure?: string;
}

/** A child that did not answer, most often because its check failed. */
export class CaseFailure extends Error {
  override readonly name: string = "CaseFailure";
  /** The same in one line, without the names of case and subject. */
  readonly reason: string;

  constructor(message: string, reason: string) {
    super(message);
    this.reason = reason;
  }
}

/** Runs every subject. Rejects with {@link CaseFailure} at the first run that fails. */
export async function runProcessCase(
  benchCase: BenchCase,
  options: RunOptions,
): Promise<readonly SubjectSamples[]> {
  const { scale, runs, warmups = 1, peerSets, ensureInput = ensureCachedInput } = options;
  const failures = new Map<SubjectFacts, string>();
  const measured = benchCase.subjects
    .filter(({ needs }) => needs === undefined || peerSets?.has(needs) === true)
    .map((subject) => {
      const spec = (subject.input ?? benchCase.input)(scale);
      const generated = spec === null ? { path: "", facts: noFacts } : ensureInput(spec);
      const samples: Sample[] = [];
      return { subject, input: { scale, ...generated }, samples };
    });
  for (let run = -warmups; run < runs; run++) {
    for (const { subject, input, samples } of measured) {
      if (failures.has(subject)) continue;
      try {
        const sample = await runOnce(benchCase, subject, input, options);
        if (run >= 0) samples.push(sample);
      } catch (error) {
        if (subject.role !== "peer" || !(error instanceof CaseFailure)) throw error;
        failures.set(subject, error.reason);
      }
    }
  }
  return measured.map(({ subject, samples }) => {
    const failure = failures.get(subject);
    return failure === undefined ? { ...subject, samples } : { ...subject, samples: [], failure };
  });
}

async function runOnce(
  benchCase: BenchCase,
  subject: SubjectFacts,
  input: Omit<CaseInput, "scratch">,
  options: RunOptions,
): Promise<Sample> {
  const { childUrl = builtChildUrl, launchFlags = [], runMsMax = 600_000 } = options;
  const scratch = makeScratch();
  const request: ChildRequest = {
    caseUrl: options.caseUrlOf(benchCase.name),
    caseName: benchCase.name,
    subject: subject.name,
    input: { ...input, scratch },
  };
  const { role, runtime = "node", nodeFlags = benchCase.nodeFlags } = subject;
  const flags = runtime === "bun" ? [] : [...launchFlags, ...nodeFlags];
  const startMs = performance.now();
  try {
    const answer = await answerOf(
      runtime === "node" ? execPath : runtimePath(runtime),
      [...flags, fileURLToPath(childUrl)],
      JSON.stringify(request),
      {
        // Others read settings at home, and may leave something there.
        env: role === "peer" ? { ...env, HOME: scratch, USERPROFILE: scratch } : env,
        timeout: runMsMax,
      },
    );
    return { ...answer, processMs: performance.now() - startMs };
  } catch (error) {
    if (!(error instanceof CaseFailure)) throw error;
    throw new CaseFailure(`${benchCase.name}, ${subject.name}: ${error.message}`, error.reason);
  } finally {
    removeScratch(scratch);
  }
}

function answerOf(
  program: string,
  args: readonly string[],
  request: string,
  options: { readonly env: NodeJS.ProcessEnv; readonly timeout: number },
): Promise<Measurement> {
  return new Promise((resolve, reject) => {
    const limits = { ...options, maxBuffer: Number.POSITIVE_INFINITY };
    const child = execFile(program, args, limits, (error, output, complaints) => {
      const answer = error === null ? measurementIn(output) : undefined;
      if (answer !== undefined) {
        resolve(answer);
        return;
      }
      const { code = null, signal = null, killed = false } = error ?? { code: 0 };
      if (typeof code === "string") {
        const message = error?.message ?? code;
        reject(new CaseFailure(message, `crashes: ${message}`));
        return;
      }
      const isLate = killed && signal === "SIGTERM";
      const reason = describeFailure({ code, signal, complaints, isLate });
      const end = code === 0 ? reason : `ended with ${signal ?? `code ${code}`}`;
      reject(new CaseFailure(`${end}\n${complaints}`, reason));
    });
    watchOver(child);
    // A child that dies at once closes its end; its exit code says more than this error.
    child.stdin?.on("error", () => {}).end(request);
  });
}

/** The last line that is a measurement: what others print comes before or after it. */
function measurementIn(output: string): Measurement | undefined {
  for (const line of output.split("\n").reverse()) {
    if (!line.startsWith(`{"wallMs":`)) continue;
    try {
      // Decoding boundary: the child wrote it.
      return JSON.parse(line) as Measurement;
    } catch {
      // Printed by the subject.
    }
  }
  return undefined;
}
