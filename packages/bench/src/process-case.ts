/**
 * Runs a case in processes of its own: for each subject a warm-up and then N runs, the subjects
 * taking turns so that a slow minute of the machine hits them all. A run whose check fails makes
 * the case fail; there are no partial results.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { execPath } from "node:process";
import { fileURLToPath } from "node:url";
import type {
  BenchCase,
  CaseInput,
  Measurement,
  Sample,
  SubjectFacts,
  SubjectRole,
} from "./bench-case.ts";
import type { ChildRequest } from "./case-child.ts";

/** How a case is run. */
export interface ProcessCaseOptions {
  readonly runs: number;
  readonly warmups: number;
  /** URL of the built module that the child runs. */
  readonly childUrl: string;
  /** URL of the built module that exports `benchCase`. */
  readonly caseUrl: string;
  readonly input: Omit<CaseInput, "scratch">;
  /** Flags before those of the case, for children that are not built. Default: none. */
  readonly launchFlags?: readonly string[];
  /** A child that takes longer is ended and the case fails. Default 600,000. */
  readonly runMsMax?: number;
}

/** All samples of one subject. */
export interface SubjectSamples {
  readonly name: string;
  readonly role: SubjectRole;
  readonly samples: readonly Sample[];
}

/** A child that did not answer, most often because its check failed. */
export class CaseFailure extends Error {
  override readonly name: string = "CaseFailure";
}

/** Runs every subject. Rejects with {@link CaseFailure} at the first run that fails. */
export async function runProcessCase(
  benchCase: BenchCase,
  options: ProcessCaseOptions,
): Promise<readonly SubjectSamples[]> {
  const results = benchCase.subjects.map(({ name, role }) => ({
    name,
    role,
    samples: [] as Sample[],
  }));
  for (let run = -options.warmups; run < options.runs; run++) {
    for (const [position, subject] of benchCase.subjects.entries()) {
      const sample = await runOnce(benchCase, subject, options);
      if (run >= 0) results[position]?.samples.push(sample);
    }
  }
  return results;
}

async function runOnce(
  benchCase: BenchCase,
  subject: SubjectFacts,
  options: ProcessCaseOptions,
): Promise<Sample> {
  const scratch = mkdtempSync(join(tmpdir(), "branchlog-bench-run-"));
  const request: ChildRequest = {
    caseUrl: options.caseUrl,
    subject: subject.name,
    input: { ...options.input, scratch },
  };
  const flags = [...(options.launchFlags ?? []), ...(subject.nodeFlags ?? benchCase.nodeFlags)];
  const args = [...flags, fileURLToPath(options.childUrl)];
  const startMs = performance.now();
  try {
    const answer = await answerOf(args, JSON.stringify(request), options.runMsMax ?? 600_000);
    return { ...answer, processMs: performance.now() - startMs };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CaseFailure(`${benchCase.name}, ${subject.name}: ${reason}`, { cause: error });
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function answerOf(
  args: readonly string[],
  request: string,
  runMsMax: number,
): Promise<Measurement> {
  return new Promise((resolve, reject) => {
    const child = spawn(execPath, args, { stdio: "pipe", timeout: runMsMax });
    let output = "";
    let complaints = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (complaints += text));
    child.on("error", reject);
    // A child that dies at once closes its end; its exit code says more than this error.
    child.stdin.on("error", () => {}).end(request);
    child.on("close", (code, signal) => {
      if (code !== 0) reject(new Error(`ended with ${signal ?? `code ${code}`}\n${complaints}`));
      // Decoding boundary: the child wrote it.
      else resolve(JSON.parse(output) as Measurement);
    });
  });
}
