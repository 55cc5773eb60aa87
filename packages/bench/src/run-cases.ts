/**
 * Runs cases in processes of their own: for each subject a warm-up and then N runs, the subjects
 * taking turns so that a slow minute of the machine affects all of them. A run of ours or of a
 * baseline that fails, or fails its check, makes its case fail; of a peer it is the result.
 */
import { type ChildProcess, execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { env, execPath, pid } from "node:process";
import { setImmediate as turn } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import {
  type BenchCase,
  type CaseInput,
  type InputSpec,
  type Measurement,
  noFacts,
  type PeerSet,
  type Sample,
  type Scale,
  type SubjectFacts,
  wrongAnswerCode,
} from "./bench-case.ts";
import type { ChildRequest } from "./case-child.ts";
import { type CachedInput, ensureInput as ensureCachedInput } from "./inputs.ts";
import { runtimePath } from "./peers.ts";
import { type CaseReport, reportCase, type SubjectSamples } from "./report.ts";

export interface SuiteOptions {
  readonly scale: Scale;
  readonly runs: number;
  readonly warmups?: number;
  /** Of the module that a process runs. Default: the compiled one of this package. */
  readonly childUrl?: string;
  readonly caseUrlOf: (name: string) => string;
  readonly ensureInput?: (spec: InputSpec) => CachedInput;
  readonly launchFlags?: readonly string[];
  /** A child that takes longer is killed and the case fails. Default 600,000. */
  readonly runMsMax?: number;
  readonly peerSets?: ReadonlySet<PeerSet>;
  readonly onStart?: (benchCase: BenchCase) => void;
}

export class CaseFailure extends Error {
  override readonly name: string = "CaseFailure";
  readonly reason: string;

  constructor(message: string, reason: string) {
    super(message);
    this.reason = reason;
  }
}

export async function runSuite(
  cases: readonly BenchCase[],
  options: SuiteOptions,
): Promise<readonly CaseReport[]> {
  const reports: CaseReport[] = [];
  for (const benchCase of cases) {
    // Making inputs blocks: an interrupt is handled between two cases.
    await turn();
    options.onStart?.(benchCase);
    try {
      reports.push(reportCase(benchCase, await runProcessCase(benchCase, options)));
    } catch (error) {
      const failure = error instanceof Error ? error.message : String(error);
      reports.push(reportCase(benchCase, [], failure));
    }
  }
  return reports;
}

export async function runProcessCase(
  benchCase: BenchCase,
  options: SuiteOptions,
): Promise<readonly SubjectSamples[]> {
  const { scale, runs, warmups = 1, peerSets, ensureInput = ensureCachedInput } = options;
  const failures = new Map<SubjectFacts, string>();
  const measured = benchCase.subjects
    .filter(({ needs }) => needs === undefined || peerSets?.has(needs) === true)
    .map((subject) => {
      const spec = (subject.input ?? benchCase.input)?.(scale);
      const generated = spec === undefined ? { path: "", facts: noFacts } : ensureInput(spec);
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

// For an interrupt.
const processes = new Set<ChildProcess>();
const folders = new Set<string>();

export function endRuns(): void {
  for (const child of processes) child.kill("SIGKILL");
  for (const folder of folders) removeScratch(folder);
}

function removeScratch(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  folders.delete(folder);
}

const builtChildUrl = new URL("../dist/case-child.js", import.meta.url).href;

async function runOnce(
  benchCase: BenchCase,
  subject: SubjectFacts,
  input: Omit<CaseInput, "scratch">,
  options: SuiteOptions,
): Promise<Sample> {
  const { childUrl = builtChildUrl, launchFlags = [], runMsMax = 600_000 } = options;
  const { role, runtime = "node", nodeFlags = benchCase.nodeFlags } = subject;
  const scratch = mkdtempSync(join(tmpdir(), `branchlog-bench-run-${pid}-`));
  folders.add(scratch);
  const request: ChildRequest = {
    caseUrl: options.caseUrlOf(benchCase.name),
    caseName: benchCase.name,
    subject: subject.name,
    input: { ...input, scratch },
  };
  const flags = runtime === "bun" ? [] : [...launchFlags, ...nodeFlags];
  const startMs = performance.now();
  try {
    const program = runtime === "node" ? execPath : runtimePath(runtime);
    const answer = await answerOf(program, [...flags, fileURLToPath(childUrl)], request, {
      // Others read settings at home, and may leave something there.
      env: role === "peer" ? { ...env, HOME: scratch, USERPROFILE: scratch } : env,
      timeout: runMsMax,
    });
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
  request: ChildRequest,
  options: { readonly env: NodeJS.ProcessEnv; readonly timeout: number },
): Promise<Measurement> {
  return new Promise((resolve, reject) => {
    const limits = { ...options, maxBuffer: Number.POSITIVE_INFINITY };
    const child = execFile(program, args, limits, (error, output, complaints) => {
      processes.delete(child);
      const answer = error === null ? measurementIn(output) : undefined;
      const { code = null, signal = null, killed = false, message = "" } = error ?? { code: 0 };
      if (answer !== undefined) resolve(answer);
      else if (typeof code === "string") reject(new CaseFailure(message, `crashes: ${message}`));
      else {
        const isLate = killed && signal === "SIGTERM";
        const reason = describeFailure({ code, signal, complaints, isLate });
        const end = code === 0 ? reason : `ended with ${signal ?? `code ${code}`}`;
        reject(new CaseFailure(`${end}\n${complaints}`, reason));
      }
    });
    processes.add(child);
    // A child that dies at once closes its end; its exit code says more than this error.
    child.stdin?.on("error", () => {}).end(JSON.stringify(request));
  });
}

function measurementIn(output: string): Measurement | undefined {
  const line = output.split("\n").findLast((text) => text.startsWith(`{"wallMs":`));
  // Decoding boundary: the child wrote it.
  return line === undefined ? undefined : (JSON.parse(line) as Measurement);
}

interface ProcessEnd {
  readonly code: number | null;
  readonly signal: string | null;
  readonly complaints: string;
  readonly isLate: boolean;
}

const telling = [/^FATAL ERROR: .*$/m, /^.*(?:Error|Exception|panic)[^:\n]*: .*$/m, /^.*\S.*$/m];

/** Like `crashes: RangeError: …`, for a cell of a table. */
export function describeFailure({ code, signal, complaints, isLate }: ProcessEnd): string {
  const oneLine = (text: string): string =>
    text.trim().replaceAll(/\s+/g, " ").replaceAll("|", "/").slice(0, 160);
  if (isLate) return "does not end in time";
  if (code === 0) return "ended without an answer";
  if (code === wrongAnswerCode) {
    const [message = ""] = complaints.split(/\n {4}at /);
    return `answers wrongly: ${oneLine(message.replace(/^[^]*?WrongAnswer: /, ""))}`;
  }
  const found = telling.map((pattern) => pattern.exec(complaints)?.[0]);
  const line = found.find((text) => text !== undefined) ?? `ended with ${signal ?? `code ${code}`}`;
  return `crashes: ${oneLine(line)}`;
}
