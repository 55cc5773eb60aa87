/**
 * Compares two reports, subject by subject: what is worse counts only if no run of the one was as
 * bad as the best of the other, so that noise is no regression. A single run has no spread, so it
 * must be worse by a share. Pure.
 */
import type { MachineFacts } from "./machine.ts";
import type { BenchReport, CaseReport, SubjectReport } from "./report.ts";
import { formatMs, formatNumber, isRate } from "./report.ts";
import type { Summary } from "./statistics.ts";

/** What became of a measurement: beyond the spread of both, or within it. */
export type Verdict = "better" | "worse" | "same";

/** One measurement of one subject in both reports. */
export interface ComparedMeasure {
  readonly caseName: string;
  readonly subject: string;
  /** `time`, `memory` or the figure that the case compares. */
  readonly measure: string;
  readonly before: Summary;
  readonly after: Summary;
  readonly verdict: Verdict;
}

/** The outcome. */
export interface Comparison {
  readonly measures: readonly ComparedMeasure[];
  /** Cases and subjects that only one report answers, in words. */
  readonly unmatched: readonly string[];
  /** Why the reports may not be comparable, in words. */
  readonly warnings: readonly string[];
  /** Whether something of ours is worse, or is not answered any more. */
  readonly isWorse: boolean;
}

/** By how much the median of a single run must differ. */
const toleranceOfOne = 0.1;

/**
 * Compares what is ours; other subjects say how fast the machine was, and are in the reports.
 * Throws RangeError for reports of different scales.
 */
export function compareReports(before: BenchReport, after: BenchReport): Comparison {
  if (before.scale !== after.scale) {
    const scales = `${before.scale} before, ${after.scale} after`;
    throw new RangeError(`inputs of different sizes cannot be compared: ${scales}`);
  }
  const [old, now] = [answered(before), answered(after)];
  const measures: ComparedMeasure[] = [];
  const gone: string[] = [];
  for (const [name, was] of old) {
    const is = now.get(name);
    if (is === undefined) {
      gone.push(`${name} is not answered any more`);
      continue;
    }
    for (const subject of ours(was)) {
      const found = ours(is).find((one) => one.name === subject.name);
      if (found !== undefined) measures.push(...compareSubject(is, subject, found));
      // Of another runtime: it comes with peers, which only one of the runs may have asked for.
      else if (isOfOwnNode(subject)) gone.push(`${name}: ${subject.name} is not answered any more`);
    }
  }
  const added = [...now.keys()].filter((name) => !old.has(name)).map((name) => `${name} is new`);
  const isWorse = gone.length > 0 || measures.some(({ verdict }) => verdict === "worse");
  const warnings = differences(before.machine, after.machine);
  return { measures, unmatched: [...gone, ...added], warnings, isWorse };
}

/** The comparison as Markdown: what changed first, then how much was the same. */
export function comparisonMarkdown({ measures, unmatched, warnings }: Comparison): string {
  const changed = measures.filter(({ verdict }) => verdict !== "same");
  const rows = changed.map(
    ({ caseName, subject, measure, before, after, verdict }) =>
      `| ${caseName} | ${subject} | ${measure} | ${shown(measure, before)} | ` +
      `${shown(measure, after)} | ${(after.median / before.median).toFixed(2)} | ${verdict} |`,
  );
  const table =
    rows.length === 0
      ? []
      : [
          "| case | subject | of | before | after | ratio | |",
          "|---|---|---|--:|--:|--:|---|",
          ...rows,
        ];
  const same = measures.length - changed.length;
  const rest = `${same} of ${measures.length} are the same, within their spread.`;
  return `${[...warnings, ...table, ...unmatched, rest].join("\n")}\n`;
}

function compareSubject(
  { name: caseName, comparedBy }: CaseReport,
  old: SubjectReport,
  now: SubjectReport,
): readonly ComparedMeasure[] {
  const pairs = [
    // Where something else was asked for, the time of the whole may be anything.
    comparedBy === undefined
      ? (["time", old.wallMs, now.wallMs] as const)
      : ([comparedBy, old.figures[comparedBy], now.figures[comparedBy]] as const),
    ["memory", old.peakRssBytes, now.peakRssBytes] as const,
  ];
  const tolerance = Math.min(old.runs, now.runs) < 2 ? toleranceOfOne : 0;
  return pairs.flatMap(([measure, before, after]) => {
    if (before === undefined || after === undefined) return [];
    const [from, to] = isRate(measure) ? [after, before] : [before, after];
    const verdict = verdictOf(from, to, tolerance);
    return [{ caseName, subject: old.name, measure, before, after, verdict }];
  });
}

/** Reports from before there were runtimes name none. */
function isOfOwnNode({ runtime }: { readonly runtime?: string }): boolean {
  return runtime === undefined || runtime === "node";
}

function verdictOf(before: Summary, after: Summary, tolerance: number): Verdict {
  if (after.min > before.max * (1 + tolerance)) return "worse";
  return after.max * (1 + tolerance) < before.min ? "better" : "same";
}

function differences(before: MachineFacts, after: MachineFacts): readonly string[] {
  const fields = ["processor", "cores", "memoryBytes", "system", "node"] as const;
  return fields
    .filter((field) => before[field] !== after[field])
    .map((field) => `Warning: ${field} was ${before[field]} and is ${after[field]}.`);
}

function answered({ cases }: BenchReport): ReadonlyMap<string, CaseReport> {
  const sound = cases.filter(({ failure }) => failure === undefined);
  return new Map(sound.map((one) => [one.name, one]));
}

function ours({ subjects }: CaseReport): readonly SubjectReport[] {
  return subjects.filter(({ role }) => role === "ours");
}

function shown(measure: ComparedMeasure["measure"], { median }: Summary): string {
  if (measure === "time") return formatMs(median);
  if (measure === "memory") return `${(median / 1e6).toFixed(0)} MB`;
  return `${formatNumber(median)} ${measure}`;
}
