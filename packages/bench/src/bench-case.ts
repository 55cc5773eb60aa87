/**
 * What a benchmark case is: one question, the input it is asked about, the subjects that answer it,
 * and a check that every answer must pass before its time counts.
 */
import { performance } from "node:perf_hooks";
import { cpuUsage, resourceUsage } from "node:process";
import type { GeneratorOptions, SessionFacts } from "./generator/index.ts";
import type { PeerSet, RuntimeName } from "./peer-folders.ts";
import { wrongAnswerName } from "./run-failure.ts";

/** A generated session, described by the options of the generator. */
export interface InputSpec extends Omit<GeneratorOptions, "chunkBytes"> {
  readonly seed: number;
  /** A directory of so many sessions, each of the size; without it, one file. */
  readonly files?: number;
}

/** What is true of a generated session; the generator counts it while it writes. */
export interface InputFacts extends Omit<
  SessionFacts,
  "sessionId" | "bytesByType" | "name" | "labels"
> {
  /** 1, but of a directory. */
  readonly files: number;
}

/** The facts of no session, for cases that need none. */
export const noFacts: InputFacts = {
  files: 1,
  bytes: 0,
  entries: 0,
  entriesByType: {},
  roots: 0,
  tips: 0,
  leafId: null,
  leafDepth: 0,
  contextMessages: 0,
  customTypes: {},
};

/** How large the inputs are: `full` as the questions say, `quick` to see that all works. */
export type Scale = "full" | "quick";

/** What a subject gets. */
export interface CaseInput {
  readonly scale: Scale;
  /** The generated file or directory, not to be changed; "" for a case without input. */
  readonly path: string;
  readonly facts: InputFacts;
  /** An empty directory of this run, removed after it. */
  readonly scratch: string;
}

/** The timed part. */
export type TimedWork<Result> = () => Result | Promise<Result>;

/** Whether a subject is what we built, what we compare with, or the engine of another project. */
export type SubjectRole = "ours" | "baseline" | "peer";

/** The subject of a measurement, its input, and its flags of node. */
export interface SubjectFacts {
  readonly name: string;
  readonly role: SubjectRole;
  /** Default: those of the case. A runtime that is no node gets none. */
  readonly nodeFlags?: readonly string[];
  /** Default: the Node that runs the suite. */
  readonly runtime?: RuntimeName;
  /** What must be installed; without it the subject is left out. Default: nothing. */
  readonly needs?: PeerSet;
  /** Its own input, where what is compared are inputs. Default: that of the case. */
  readonly input?: (scale: Scale) => InputSpec;
}

/** One way to answer the question. */
export interface Subject<Result> extends SubjectFacts {
  /** Does everything that is not timed and returns the part that is. */
  readonly prepare: (input: CaseInput) => TimedWork<Result> | Promise<TimedWork<Result>>;
}

/** Figures by unit, like `MB/s`; the first is the one that the report leads with. */
export type Figures = Readonly<Record<string, number>>;

/** What a report needs to know of a case. */
export interface CaseFacts {
  readonly name: string;
  readonly question: string;
  /** What is aimed at, in words. */
  readonly goal: string;
  /** Flags of the node processes. */
  readonly nodeFlags: readonly string[];
  /**
   * The figure by which subjects are compared: the less the better, but of a rate, like `MB/s`, the
   * more. Default: the time.
   */
  readonly comparedBy?: string;
}

/** One question, as it is written down. */
export interface CaseDefinition<Result> extends Omit<CaseFacts, "nodeFlags"> {
  /** Default: none. */
  readonly nodeFlags?: readonly string[];
  /** Null, the default: the case needs no generated session. */
  readonly input?: (scale: Scale) => InputSpec | null;
  /** Inputs so large that the case runs only when it is asked for. */
  readonly needs?: "huge";
  readonly subjects: readonly Subject<Result>[];
  /** Throws if the result is wrong; then the run fails and nothing is reported for the case. */
  readonly check: (result: Result, input: CaseInput) => void | Promise<void>;
  /** What the report says beyond time and memory. */
  readonly figures: (result: Result, wallMs: number, input: CaseInput) => Figures;
}

/** One question, ready to be run. A module exports it as `benchCase`, or several as `cases`. */
export interface BenchCase extends CaseFacts {
  readonly needs?: "huge";
  readonly input: (scale: Scale) => InputSpec | null;
  readonly subjects: readonly SubjectFacts[];
  /** Runs a subject once, in this process. Rejects with what the check throws. */
  readonly run: (subject: string, input: CaseInput) => Promise<Measurement>;
}

/** What one run of one subject took. */
export interface Measurement {
  /** Of the timed part. */
  readonly wallMs: number;
  /** User and system time of the timed part, all threads. */
  readonly cpuMs: number;
  /** Of the whole process at the end of the timed part, before the check. */
  readonly peakRssBytes: number;
  readonly figures: Figures;
}

/** A measurement, and from the start of its process to the end. */
export interface Sample extends Measurement {
  readonly processMs: number;
}

/** What a check threw: there was an answer, and it is wrong. */
class WrongAnswer extends Error {
  override readonly name: string = wrongAnswerName;
}

/** Makes a case runnable, so that no result is measured without its check. */
export function defineCase<Result>(definition: CaseDefinition<Result>): BenchCase {
  const { needs, subjects, input = () => null, nodeFlags = [] } = definition;
  return {
    ...caseFacts({ ...definition, nodeFlags }),
    ...(needs === undefined ? {} : { needs }),
    input,
    subjects,
    run: (subject, caseInput) => runSubject(definition, subject, caseInput),
  };
}

/** A subject that is ours. */
export function ours<Result>(
  name: string,
  prepare: Subject<Result>["prepare"],
  more: Partial<SubjectFacts> = {},
): Subject<Result> {
  return { name, role: "ours", prepare, ...more };
}

/** A subject that says what the task costs without an engine. */
export function baseline<Result>(
  name: string,
  prepare: Subject<Result>["prepare"],
): Subject<Result> {
  return { name, role: "baseline", prepare };
}

/** What a report repeats of a case. */
export function caseFacts({ name, question, goal, nodeFlags, comparedBy }: CaseFacts): CaseFacts {
  const more = comparedBy === undefined ? {} : { comparedBy };
  return { name, question, goal, nodeFlags, ...more };
}

async function runSubject<Result>(
  definition: CaseDefinition<Result>,
  subjectName: string,
  input: CaseInput,
): Promise<Measurement> {
  const subject = definition.subjects.find(({ name }) => name === subjectName);
  if (subject === undefined) {
    throw new RangeError(`${definition.name} has no subject "${subjectName}"`);
  }
  const work = await subject.prepare(input);
  const cpuBefore = cpuUsage();
  const startMs = performance.now();
  const result = await work();
  const wallMs = performance.now() - startMs;
  const cpu = cpuUsage(cpuBefore);
  const peakRssBytes = resourceUsage().maxRSS * 1024;
  try {
    await definition.check(result, input);
  } catch (error) {
    throw new WrongAnswer(error instanceof Error ? error.message : String(error), { cause: error });
  }
  const figures = definition.figures(result, wallMs, input);
  return { wallMs, cpuMs: (cpu.user + cpu.system) / 1000, peakRssBytes, figures };
}
