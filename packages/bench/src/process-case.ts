/**
 * Runs a case in processes of its own: for each subject a warm-up and then N runs, the subjects
 * taking turns so that a slow minute of the machine hits them all. A run of ours or of a baseline
 * that fails, or fails its check, makes the case fail; of a peer it is the peer's result.
 */
import { spawn } from "node:child_process";
import { performance } from "node:perf_hooks";
import { env, execPath } from "node:process";
import { fileURLToPath } from "node:url";
import type { BenchCase, CaseInput, Measurement, Sample, SubjectFacts } from "./bench-case.ts";
import type { ChildRequest } from "./case-child.ts";
import { runtimePath } from "./peer-folders.ts";
import { describeFailure } from "./run-failure.ts";
import { makeScratch, removeScratch, watchOver } from "./running-processes.ts";

/** How a case is run. */
export interface ProcessCaseOptions {
  readonly runs: number;
  readonly warmups: number;
  /** URL of the built module that the child runs. */
  readonly childUrl: string;
  /** URL of the built module that exports `benchCase`. */
  readonly caseUrl: string;
  readonly input: Omit<CaseInput, "scratch">;
  /** The input of a subject that has its own. */
  readonly inputOf?: (subject: SubjectFacts) => Omit<CaseInput, "scratch">;
  /** Flags before those of the case, for children that are not built. Default: none. */
  readonly launchFlags?: readonly string[];
  /** A child that takes longer is ended and the case fails. Default 600,000. */
  readonly runMsMax?: number;
  /** Which of the case's subjects run. Default: those that need nothing installed. */
  readonly isIncluded?: (subject: SubjectFacts) => boolean;
}

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
  options: ProcessCaseOptions,
): Promise<readonly SubjectSamples[]> {
  const isIncluded = options.isIncluded ?? (({ needs }) => needs === undefined);
  const results = benchCase.subjects.filter(isIncluded).map((subject) => ({
    subject,
    samples: [] as Sample[],
    failure: undefined as string | undefined,
  }));
  for (let run = -options.warmups; run < options.runs; run++) {
    for (const result of results.filter(({ failure }) => failure === undefined)) {
      try {
        const sample = await runOnce(benchCase, result.subject, options);
        if (run >= 0) result.samples.push(sample);
      } catch (error) {
        if (result.subject.role !== "peer" || !(error instanceof CaseFailure)) throw error;
        result.failure = error.reason;
      }
    }
  }
  return results.map(({ subject, samples, failure }) =>
    failure === undefined ? { ...subject, samples } : { ...subject, samples: [], failure },
  );
}

async function runOnce(
  benchCase: BenchCase,
  subject: SubjectFacts,
  options: ProcessCaseOptions,
): Promise<Sample> {
  const scratch = makeScratch();
  const request: ChildRequest = {
    caseUrl: options.caseUrl,
    subject: subject.name,
    input: { ...(options.inputOf?.(subject) ?? options.input), scratch },
  };
  const { role, runtime = "node", nodeFlags = benchCase.nodeFlags } = subject;
  const flags = runtime === "bun" ? [] : [...(options.launchFlags ?? []), ...nodeFlags];
  const startMs = performance.now();
  try {
    const answer = await answerOf({
      program: runtime === "node" ? execPath : runtimePath(runtime),
      args: [...flags, fileURLToPath(options.childUrl)],
      // Others read settings at home, and may leave something there.
      env: role === "peer" ? { ...env, HOME: scratch, USERPROFILE: scratch } : env,
      request: JSON.stringify(request),
      runMsMax: options.runMsMax ?? 600_000,
    });
    return { ...answer, processMs: performance.now() - startMs };
  } catch (error) {
    if (!(error instanceof CaseFailure)) throw error;
    throw new CaseFailure(`${benchCase.name}, ${subject.name}: ${error.message}`, error.reason);
  } finally {
    removeScratch(scratch);
  }
}

interface ChildOptions {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly request: string;
  readonly runMsMax: number;
}

function answerOf({
  program,
  args,
  env: childEnv,
  request,
  runMsMax,
}: ChildOptions): Promise<Measurement> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: "pipe", timeout: runMsMax, env: childEnv });
    watchOver(child);
    const startMs = performance.now();
    let output = "";
    let complaints = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (complaints += text));
    child.on("error", ({ message }) => reject(new CaseFailure(message, `crashes: ${message}`)));
    // A child that dies at once closes its end; its exit code says more than this error.
    child.stdin.on("error", () => {}).end(request);
    child.on("close", (code, signal) => {
      const answer = code === 0 ? measurementIn(output) : undefined;
      if (answer !== undefined) {
        resolve(answer);
        return;
      }
      const isLate = signal === "SIGTERM" && performance.now() - startMs >= runMsMax;
      const reason = describeFailure({ code, signal, complaints, isLate });
      const end = code === 0 ? reason : `ended with ${signal ?? `code ${code}`}`;
      reject(new CaseFailure(`${end}\n${complaints}`, reason));
    });
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
      // Printed by somebody else.
    }
  }
  return undefined;
}
