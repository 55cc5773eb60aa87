/** The pictures of a report on growth, by the names of their files. Pure. */
import { type CostCurve, growthPlot } from "../plots/growth-plot.ts";
import { formatMs, formatNumber } from "../report.ts";
import type { GrowthSample, OperationGrowth } from "./growth-report.ts";

/** Time and memory against entries, and time against files. */
export function growthPlots(
  operations: readonly OperationGrowth[],
): Readonly<Record<string, string>> {
  const onLogs = operations.filter(({ unit }) => unit === "entries");
  const onDirectories = operations.filter(({ unit }) => unit === "files");
  const time = ({ ms }: GrowthSample): number => ms;
  const memory = ({ peakRssBytes }: GrowthSample): number => peakRssBytes / 1e6;
  return {
    "growth-time.svg": growthPlot(curvesOf(onLogs, time), {
      title: "Time of one operation against the entries of the log",
      sizeLabel: "entries",
      costLabel: formatMs,
    }),
    "growth-memory.svg": growthPlot(curvesOf(onLogs, memory), {
      title: "Peak memory of the process against the entries of the log",
      sizeLabel: "entries",
      costLabel: (megabytes) => `${formatNumber(megabytes)} MB`,
    }),
    "growth-list.svg": growthPlot(curvesOf(onDirectories, time), {
      title: "Time of a list against the sessions of the directory",
      sizeLabel: "sessions",
      costLabel: formatMs,
    }),
  };
}

function curvesOf(
  operations: readonly OperationGrowth[],
  costOf: (sample: GrowthSample) => number,
): readonly CostCurve[] {
  return operations.map(({ operation, samples }) => ({
    name: operation,
    points: samples.map((sample) => ({ size: sample.size, cost: costOf(sample) })),
  }));
}
