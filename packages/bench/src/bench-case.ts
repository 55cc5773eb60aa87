/** A benchmark case: one question, its input, its subjects, and the check of each answer. */
import { readFileSync } from "node:fs";
import { performance } from "node:perf_hooks";
import { cpuUsage, platform, resourceUsage } from "node:process";
import type { GeneratorOptions } from "./generator/options.ts";
import type { SessionFacts } from "./generator/session-log.ts";

export interface InputSpec extends Omit<GeneratorOptions, "chunkBytes" | "compactionEvery"> {
  readonly seed: number;
  /** A directory of so many sessions, each of the size; without it, one file. */
  readonly files?: number;
}

type UsedFacts = "bytes" | "entries" | "entriesByType" | "leafId" | "leafDepth" | "contextMessages";
export type InputFacts = Pick<SessionFacts, UsedFacts> & { readonly files: number };

export const noFacts: InputFacts = {
  files: 1,
  bytes: 0,
  entries: 0,
  entriesByType: {},
  leafId: null,
  leafDepth: 0,
  contextMessages: 0,
};

export type Scale = "full" | "quick";
export type Counts = Readonly<Record<Scale, number>>;
export type ScaledInput = (scale: Scale) => InputSpec;

export interface CaseInput {
  readonly scale: Scale;
  /** The generated file or directory, not to be changed; "" for a case without input. */
  readonly path: string;
  readonly facts: InputFacts;
  readonly scratch: string;
}

export type TimedWork<Result> = () => Result | Promise<Result>;
export type Prepare<Result> = (input: CaseInput) => TimedWork<Result> | Promise<TimedWork<Result>>;

export type PeerSet = "peers" | "omp" | "stores";

export type RuntimeName = "node" | "node-24" | "bun";

export interface SubjectFacts {
  readonly name: string;
  /** Our code, a baseline without an engine, or another engine. */
  readonly role: "ours" | "baseline" | "peer";
  /** Default: those of the case. Bun gets none. */
  readonly nodeFlags?: readonly string[];
  readonly runtime?: RuntimeName;
  readonly needs?: PeerSet;
  /** Its own input, where inputs are compared. Default: that of the case. */
  readonly input?: ScaledInput;
}

export interface Subject<Result> extends SubjectFacts {
  readonly prepare: Prepare<Result>;
}

export interface CaseFacts {
  readonly name: string;
  readonly question: string;
  readonly goal: string;
  readonly nodeFlags: readonly string[];
  /** The figure by which subjects are compared, of a rate like `MB/s` the more the better. */
  readonly comparedBy?: string | undefined;
}

export interface CaseDefinition<Result> extends Omit<CaseFacts, "nodeFlags"> {
  readonly nodeFlags?: readonly string[];
  readonly input?: ScaledInput;
  readonly needs?: "huge" | "growth" | "stores";
  readonly subjects: readonly Subject<Result>[];
  /** Throws if the result is wrong; then the run fails and nothing is reported for the case. */
  readonly check: (result: Result, input: CaseInput) => void | Promise<void>;
  readonly figures: (
    result: Result,
    wallMs: number,
    input: CaseInput,
    peakRssBytes: number,
  ) => Readonly<Record<string, number>>;
}

export interface BenchCase extends CaseFacts {
  readonly input?: ScaledInput;
  readonly needs?: "huge" | "growth" | "stores";
  readonly subjects: readonly SubjectFacts[];
  readonly run: (subject: string, input: CaseInput) => Promise<Measurement>;
}

/** One run of one subject. Times are of the timed part, in CPU time of all threads. */
export interface Measurement {
  readonly wallMs: number;
  readonly cpuMs: number;
  /** Of the whole process at the end of the timed part, before the check. */
  readonly peakRssBytes: number;
  /** By unit, like `MB/s`; the report leads with the first. */
  readonly figures: Readonly<Record<string, number>>;
}

export interface Sample extends Measurement {
  readonly processMs: number;
}

export const wrongAnswerCode = 3;

// Known by its name: its class may be loaded more than once.
export const wrongAnswerName = "WrongAnswer";

export function defineCase<Result>(definition: CaseDefinition<Result>): BenchCase {
  const { nodeFlags = [], check, figures, ...facts } = definition;
  const run = async (subjectName: string, input: CaseInput): Promise<Measurement> => {
    const subject = facts.subjects.find(({ name }) => name === subjectName);
    if (subject === undefined) throw new RangeError(`${facts.name} has no subject ${subjectName}`);
    const work = await subject.prepare(input);
    const cpuBefore = cpuUsage();
    const startMs = performance.now();
    const result = await work();
    const wallMs = performance.now() - startMs;
    const cpu = cpuUsage(cpuBefore);
    const peakRssBytes = peakRss();
    try {
      await check(result, input);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      throw Object.assign(new Error(message, { cause: error }), { name: wrongAnswerName });
    }
    const cpuMs = (cpu.user + cpu.system) / 1000;
    return { wallMs, cpuMs, peakRssBytes, figures: figures(result, wallMs, input, peakRssBytes) };
  };
  return { ...facts, nodeFlags, run };
}

/** On Linux, of this program only; elsewhere, it may include that of the parent process. */
function peakRss(): number {
  if (platform !== "linux") return resourceUsage().maxRSS * 1024;
  const [, kilobytes] = /VmHWM:\s+(\d+) kB/u.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
  return Number(kilobytes) * 1024;
}

export function ours<Result>(
  name: string,
  prepare: Prepare<Result>,
  more: Partial<SubjectFacts> = {},
): Subject<Result> {
  return { name, role: "ours", prepare, ...more };
}

export function baseline<Result>(name: string, prepare: Prepare<Result>): Subject<Result> {
  return { name, role: "baseline", prepare };
}
