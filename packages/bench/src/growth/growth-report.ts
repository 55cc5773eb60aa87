/** The report on how costs grow: each operation at each size, its fit, and what follows. Pure. */
import type { Scale } from "../bench-case.ts";
import type { MachineFacts } from "../machine.ts";
import { formatMs, formatNumber } from "../report.ts";
import { fitGrowth, type Growth } from "./fit.ts";

/** What an operation cost at one size; medians. */
export interface GrowthSample {
  /** Entries of the log, or files of the directory. */
  readonly size: number;
  /** Of one operation. */
  readonly ms: number;
  /** Of the process that did it. */
  readonly peakRssBytes: number;
}

/** One operation at all sizes. */
export interface OperationGrowth {
  readonly operation: string;
  /** What the sizes count. */
  readonly unit: "entries" | "files";
  readonly samples: readonly GrowthSample[];
  /** Milliseconds against the size. */
  readonly time: Growth;
  /** Bytes against the size. */
  readonly memory: Growth;
}

/** The whole report; what `--json` writes. */
export interface GrowthReport {
  readonly schemaVersion: 1;
  readonly machine: MachineFacts;
  readonly scale: Scale;
  readonly operations: readonly OperationGrowth[];
}

/** What a line must explain for its numbers to be shown. */
const explainedMin = 0.9;

/** Fits what was measured of one operation. */
export function operationGrowth(
  operation: string,
  unit: OperationGrowth["unit"],
  samples: readonly GrowthSample[],
): OperationGrowth {
  const time = fitGrowth(samples.map(({ size, ms }) => ({ size, cost: ms })));
  const memory = fitGrowth(samples.map(({ size, peakRssBytes }) => ({ size, cost: peakRssBytes })));
  return { operation, unit, samples, time, memory };
}

/** The report as Markdown; with pictures, if they lie beside it. */
export function growthMarkdown(report: GrowthReport, plots: readonly string[] = []): string {
  const { machine, operations } = report;
  return [
    "# How costs grow",
    "",
    `${machine.processor}, ${machine.cores} cores, ${machine.system}, Node ${machine.node}, ` +
      `commit ${machine.commit}, ${machine.date.slice(0, 10)}` +
      (report.scale === "quick" ? ", small sizes" : ""),
    "",
    "`pnpm bench --growth` measures each operation on logs, or directories, of several " +
      "sizes, every run in a process of its own. The power is the slope of the least squares " +
      "through the logarithms of size and cost, in brackets that between the last two sizes, " +
      "where a fixed cost hides the least; a base and a cost for each come from a straight " +
      "line, where it explains nine tenths of the variance (R²) and neither is negative. Few " +
      "sizes cannot tell O(1) from O(log n), nor O(n) from O(n log n). That the counts behind " +
      "the times keep their order is tested without clocks, in " +
      "`test/core/session/cost-growth.test.ts`.",
    "",
    "| operation | order | power | base | for each | R² " +
      "| memory: power | base | for each | R² |",
    "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ...operations.map((growth) => orderLine(growth)),
    "",
    ...plots.flatMap((plot) => [`![${plot.replace(".svg", "")}](${plot})`, ""]),
    "| operation | size | time | peak memory |",
    "|---|--:|--:|--:|",
    ...operations.flatMap((growth) => sampleLines(growth)),
    "",
  ].join("\n");
}

function orderLine({ operation, unit, time, memory }: OperationGrowth): string {
  const each = unit === "entries" ? "entry" : "file";
  return row([
    operation,
    time.order,
    power(time),
    ...lineCells(time, formatMs, (ms) => `${formatNumber(ms * 1e6)} ns/${each}`),
    power(memory),
    ...lineCells(
      memory,
      (bytes) => `${formatNumber(bytes / 1e6)} MB`,
      (bytes) => `${formatNumber(bytes)} B/${each}`,
    ),
  ]);
}

function sampleLines({ operation, unit, samples }: OperationGrowth): readonly string[] {
  return samples.map(({ size, ms, peakRssBytes }) =>
    row([
      operation,
      `${formatNumber(size)} ${unit}`,
      formatMs(ms),
      `${formatNumber(peakRssBytes / 1e6)} MB`,
    ]),
  );
}

/** Base, cost of one more and R²; the first two only where the costs are such a line. */
function lineCells(
  { base, perUnit, explained }: Growth,
  baseText: (cost: number) => string,
  eachText: (cost: number) => string,
): readonly string[] {
  const isLine = explained >= explainedMin && base >= 0 && perUnit >= 0;
  const share = Number.isFinite(explained) ? explained.toFixed(2) : "";
  return isLine ? [baseText(base), eachText(perUnit), share] : ["", "", share];
}

function power({ exponent, endExponent }: Growth): string {
  if (!Number.isFinite(exponent)) return "";
  return exponent.toFixed(2) + (Number.isFinite(endExponent) ? ` (${endExponent.toFixed(2)})` : "");
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}
