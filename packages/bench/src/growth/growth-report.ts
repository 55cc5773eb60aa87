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
    "`pnpm bench --growth` measures each operation on logs, or directories, of several sizes, " +
      "every run in a process of its own. The power is the slope of the least squares through " +
      "the logarithms of size and cost; a base and a cost for each come from those of a straight " +
      "line. Few sizes cannot tell O(1) from O(log n). That the counts behind the times keep " +
      "their order is tested without clocks, in `test/core/session/cost-growth.test.ts`.",
    "",
    "| operation | order | power | base | for each | memory: power | base | for each |",
    "|---|---|--:|--:|--:|--:|--:|--:|",
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
    formatMs(Math.max(0, time.base)),
    `${formatNumber(time.perUnit * 1e6)} ns/${each}`,
    power(memory),
    `${formatNumber(memory.base / 1e6)} MB`,
    `${formatNumber(memory.perUnit)} B/${each}`,
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

function power({ exponent }: Growth): string {
  return Number.isFinite(exponent) ? exponent.toFixed(2) : "";
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}
