/** Turns samples into a report: one JSON document, and the same as Markdown tables. Pure. */
import { caseFacts, type CaseFacts, type Scale, type SubjectRole } from "./bench-case.ts";
import type { MachineFacts } from "./machine.ts";
import type { RuntimeName } from "./peer-folders.ts";
import type { SubjectSamples } from "./process-case.ts";
import { spread, summarize, type Summary } from "./statistics.ts";

/** All figures of one subject, each summarized over its runs. */
export interface SubjectReport {
  readonly name: string;
  readonly role: SubjectRole;
  readonly runtime: RuntimeName;
  readonly runs: number;
  /**
   * How many times as much time as ours, the first subject of ours on this runtime, or else the
   * first of all; where the case compares a figure, of that; of a rate, how many times as slow.
   * Left out where there is none.
   */
  readonly ratio?: number;
  readonly wallMs: Summary;
  readonly cpuMs: Summary;
  readonly processMs: Summary;
  readonly peakRssBytes: Summary;
  readonly figures: Readonly<Record<string, Summary>>;
}

/** A peer that has no figures, and why. */
export interface FailedPeer {
  readonly name: string;
  readonly reason: string;
}

/** One case, answered or failed. */
export interface CaseReport extends CaseFacts {
  readonly subjects: readonly SubjectReport[];
  /** Peers that crashed, or answered wrongly. */
  readonly failedPeers: readonly FailedPeer[];
  /** Why the case counts for nothing. */
  readonly failure?: string;
}

/** Of the form of {@link BenchReport}, which docs/benchmarks/schema.json describes. */
const schemaVersion = 1;

/** A whole run. */
export interface BenchReport {
  readonly schemaVersion: number;
  readonly machine: MachineFacts;
  readonly scale: string;
  readonly cases: readonly CaseReport[];
}

/** The report of a run that has just ended. */
export function createReport(
  machine: MachineFacts,
  scale: Scale,
  cases: readonly CaseReport[],
): BenchReport {
  return { schemaVersion, machine, scale, cases };
}

/** Summarizes the samples of a case. */
export function reportCase(facts: CaseFacts, results: readonly SubjectSamples[]): CaseReport {
  const answered = results.filter(({ failure }) => failure === undefined);
  const subjects = withRatios(answered.map(reportSubject), facts.comparedBy);
  const failedPeers = results.flatMap(({ name, failure }) =>
    failure === undefined ? [] : [{ name, reason: failure }],
  );
  return { ...caseFacts(facts), subjects, failedPeers };
}

/** A case that failed. */
export function reportFailure(facts: CaseFacts, failure: string): CaseReport {
  return { ...caseFacts(facts), subjects: [], failedPeers: [], failure };
}

function withRatios(
  subjects: readonly SubjectReport[],
  comparedBy: string | undefined,
): readonly SubjectReport[] {
  const costOf = ({ wallMs, figures }: SubjectReport): number => {
    if (comparedBy === undefined) return wallMs.median;
    const median = figures[comparedBy]?.median ?? Number.NaN;
    return isRate(comparedBy) ? 1 / median : median;
  };
  const ours = subjects.filter(({ role }) => role === "ours");
  return subjects.map((subject) => {
    const like = ours.find(({ runtime }) => runtime === subject.runtime) ?? ours[0];
    const ratio = like === undefined ? Number.NaN : costOf(subject) / costOf(like);
    return Number.isFinite(ratio) ? { ...subject, ratio } : subject;
  });
}

/** Whether more of a unit is better, as of `MB/s`. */
export function isRate(unit: string): boolean {
  return /\/m?s\b/.test(unit);
}

/** The report as Markdown; with the names of the pictures of cases, if they lie beside it. */
export function toMarkdown(
  { machine, scale, cases }: BenchReport,
  plotOf?: (caseName: string) => string,
): string {
  const memory = (machine.memoryBytes / 2 ** 30).toFixed(0);
  const lines = [
    "# Benchmarks",
    "",
    `${machine.processor}, ${machine.cores} cores, ${memory} GiB, ${machine.system}, ` +
      `Node ${machine.node}, commit ${machine.commit}, ${machine.date.slice(0, 10)}` +
      (scale === "quick" ? ", small inputs" : ""),
    "",
    "Each run is a process of its own; times are medians, with the distance from the fastest to " +
      "the slowest run in percent of the median. Every answer was checked before it counted. " +
      "Times are of the question alone, memory is the peak of the whole process. A ratio says " +
      "how many times as much of what the case compares as the first subject of ours on the same " +
      "runtime: of the time, unless the case names a figure.",
  ];
  return `${[...lines, ...cases.flatMap((report) => caseLines(report, plotOf))].join("\n")}\n`;
}

function caseLines(
  report: CaseReport,
  plotOf: ((caseName: string) => string) | undefined,
): readonly string[] {
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
    ...(plotOf === undefined ? [] : ["", `![${report.name}](${plotOf(report.name)})`]),
  ];
}

function subjectLine(subject: SubjectReport): string {
  const figures = Object.entries(subject.figures).map(
    ([unit, { median }]) => `${formatNumber(median)} ${unit}`,
  );
  const name = subject.role === "ours" ? `**${subject.name}**` : subject.name;
  return `| ${[
    name,
    formatMs(subject.wallMs.median),
    `${(spread(subject.wallMs) * 100).toFixed(0)} %`,
    subject.ratio === undefined ? "" : formatNumber(subject.ratio),
    figures.join(", "),
    formatMs(subject.cpuMs.median),
    `${(subject.peakRssBytes.median / 1e6).toFixed(0)} MB`,
    String(subject.runs),
  ].join(" | ")} |`;
}

function reportSubject({ name, role, runtime = "node", samples }: SubjectSamples): SubjectReport {
  const units = Object.keys(samples[0]?.figures ?? {});
  return {
    name,
    role,
    runtime,
    runs: samples.length,
    wallMs: summarize(samples.map(({ wallMs }) => wallMs)),
    cpuMs: summarize(samples.map(({ cpuMs }) => cpuMs)),
    processMs: summarize(samples.map(({ processMs }) => processMs)),
    peakRssBytes: summarize(samples.map(({ peakRssBytes }) => peakRssBytes)),
    figures: Object.fromEntries(
      units.map((unit) => [unit, summarize(samples.map(({ figures }) => figures[unit] ?? 0))]),
    ),
  };
}

/** Milliseconds in the unit that reads best. */
export function formatMs(ms: number): string {
  if (ms >= 1000) return `${(ms / 1000).toFixed(2)} s`;
  if (ms >= 1) return `${formatNumber(ms)} ms`;
  return `${formatNumber(ms * 1000)} µs`;
}

/** Three significant digits, thousands separated. */
export function formatNumber(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString("en-US");
  return String(Number(value.toPrecision(3)));
}
