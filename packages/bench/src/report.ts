/** Samples as a report: one JSON document, described by docs/benchmarks/schema.json, and tables. */
import { spawnSync } from "node:child_process";
import { cpus, release, totalmem, type } from "node:os";
import { version } from "node:process";
import type { CaseFacts, RuntimeName, Sample, Scale, SubjectFacts } from "./bench-case.ts";
import { spread, summarize, type Summary } from "./statistics.ts";

export interface MachineFacts {
  readonly processor: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly system: string;
  readonly node: string;
  readonly commit: string;
  readonly date: string;
}

export interface SubjectSamples extends SubjectFacts {
  readonly samples: readonly Sample[];
  readonly failure?: string;
}

type Measure = "wallMs" | "cpuMs" | "processMs" | "peakRssBytes";

export interface SubjectReport
  extends Pick<SubjectFacts, "name" | "role">, Readonly<Record<Measure, Summary>> {
  readonly runtime: RuntimeName;
  readonly runs: number;
  /**
   * The cost as a multiple of that of the first subject of ours on this runtime, or else of the
   * first of ours. A cost is the time or the figure that the case compares, of a rate the inverse.
   */
  readonly ratio?: number;
  readonly figures: Readonly<Record<string, Summary>>;
}

export interface CaseReport extends CaseFacts {
  readonly subjects: readonly SubjectReport[];
  readonly failedPeers: readonly { readonly name: string; readonly reason: string }[];
  readonly failure?: string | undefined;
}

export interface BenchReport {
  readonly schemaVersion: number;
  readonly machine: MachineFacts;
  readonly scale: string;
  readonly cases: readonly CaseReport[];
}

export function readMachine(root: string): MachineFacts {
  const git = (...args: readonly string[]): string | undefined => {
    const { status, stdout } = spawnSync("git", args, { cwd: root, encoding: "utf8" });
    return status === 0 ? stdout.trim() : undefined;
  };
  const head = git("rev-parse", "--short", "HEAD") ?? "none";
  const isClean = head === "none" || git("status", "--porcelain") === "";
  const processors = cpus();
  return {
    processor: processors[0]?.model.trim() ?? "unknown",
    cores: processors.length,
    memoryBytes: totalmem(),
    system: `${type()} ${release()}`,
    node: version,
    commit: isClean ? head : `${head}+changes`,
    date: new Date().toISOString(),
  };
}

export function createReport(
  machine: MachineFacts,
  scale: Scale,
  cases: readonly CaseReport[],
): BenchReport {
  return { schemaVersion: 1, machine, scale, cases };
}

export function reportCase(
  { name, question, goal, nodeFlags, comparedBy }: CaseFacts,
  results: readonly SubjectSamples[],
  failure?: string,
): CaseReport {
  const answered = results.filter((result) => result.failure === undefined);
  return {
    name,
    question,
    goal,
    nodeFlags,
    comparedBy,
    subjects: withRatios(answered.map(reportSubject), comparedBy),
    failedPeers: results.flatMap((result) =>
      result.failure === undefined ? [] : [{ name: result.name, reason: result.failure }],
    ),
    failure,
  };
}

function reportSubject({ name, role, runtime = "node", samples }: SubjectSamples): SubjectReport {
  const summaryOf = (read: (sample: Sample) => number): Summary => summarize(samples.map(read));
  const units = Object.keys(samples[0]?.figures ?? {});
  return {
    name,
    role,
    runtime,
    runs: samples.length,
    wallMs: summaryOf((sample) => sample.wallMs),
    cpuMs: summaryOf((sample) => sample.cpuMs),
    processMs: summaryOf((sample) => sample.processMs),
    peakRssBytes: summaryOf((sample) => sample.peakRssBytes),
    figures: Object.fromEntries(
      units.map((unit) => [unit, summaryOf(({ figures }) => figures[unit] ?? 0)]),
    ),
  };
}

function withRatios(
  subjects: readonly SubjectReport[],
  comparedBy: string | undefined,
): readonly SubjectReport[] {
  const costOf = ({ wallMs, figures }: SubjectReport): number => {
    if (comparedBy === undefined) return wallMs.median;
    const median = figures[comparedBy]?.median ?? Number.NaN;
    // Of a rate, like `MB/s`, more is better.
    return /\/m?s\b/.test(comparedBy) ? 1 / median : median;
  };
  const ours = subjects.filter(({ role }) => role === "ours");
  return subjects.map((subject) => {
    const like = ours.find(({ runtime }) => runtime === subject.runtime) ?? ours[0];
    const ratio = like === undefined ? Number.NaN : costOf(subject) / costOf(like);
    return Number.isFinite(ratio) ? { ...subject, ratio } : subject;
  });
}

export function toMarkdown({ machine, scale, cases }: BenchReport, picture?: string): string {
  const memory = (machine.memoryBytes / 2 ** 30).toFixed(0);
  const lines = [
    "# Benchmarks",
    "",
    `${machine.processor}, ${machine.cores} cores, ${memory} GiB, ${machine.system}, ` +
      `Node ${machine.node}, commit ${machine.commit}, ${machine.date.slice(0, 10)}` +
      (scale === "quick" ? ", small inputs" : ""),
    "",
    "Each run is a separate process; times are medians, with the distance from the fastest to " +
      "the slowest run in percent of the median. Every answer was checked before it counted. " +
      "Times are of the question alone, memory is the peak of the whole process. A ratio " +
      "compares a row with our first subject on the same runtime, by time unless the case " +
      "names a figure.",
    ...(picture === undefined ? [] : ["", `![The fastest other engine of each case](${picture})`]),
  ];
  return `${[...lines, ...cases.flatMap(caseLines)].join("\n")}\n`;
}

function caseLines(report: CaseReport): readonly string[] {
  const flags = report.nodeFlags.length === 0 ? "" : ` (\`${report.nodeFlags.join(" ")}\`)`;
  const head = ["", `## ${report.name}`, "", `${report.question}${flags} Goal: ${report.goal}`, ""];
  if (report.failure !== undefined) return [...head, `Failed: ${report.failure.split("\n")[0]}`];
  const compared = report.comparedBy === undefined ? "" : ` of ${report.comparedBy}`;
  return [
    ...head,
    `| subject | time | ± | ratio${compared} | figures | CPU | peak memory | runs |`,
    "|---|--:|--:|--:|---|--:|--:|--:|",
    ...report.subjects.map((subject) => subjectLine(subject)),
    ...report.failedPeers.map(({ name, reason }) => `| ${name} | | | | ${reason} | | | |`),
  ];
}

function subjectLine(subject: SubjectReport): string {
  const figures = Object.entries(subject.figures).map(
    ([unit, { median }]) => `${formatNumber(median)} ${unit}`,
  );
  return `| ${[
    subject.role === "ours" ? `**${subject.name}**` : subject.name,
    formatMs(subject.wallMs.median),
    `${(spread(subject.wallMs) * 100).toFixed(0)} %`,
    subject.ratio === undefined ? "" : formatNumber(subject.ratio),
    figures.join(", "),
    formatMs(subject.cpuMs.median),
    `${(subject.peakRssBytes.median / 1e6).toFixed(0)} MB`,
    String(subject.runs),
  ].join(" | ")} |`;
}

export function formatMs(ms: number): string {
  if (ms >= 1000) return `${(ms / 1000).toFixed(2)} s`;
  return ms >= 1 ? `${formatNumber(ms)} ms` : `${formatNumber(ms * 1000)} µs`;
}

export function formatNumber(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString("en-US");
  return String(Number(value.toPrecision(3)));
}
