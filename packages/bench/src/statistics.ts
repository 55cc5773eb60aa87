/** Medians, spreads and quantiles; the only importer of `simple-statistics`. Pure. */
import { max, mean, median, min } from "simple-statistics";

export interface Summary {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export function summarize(values: readonly number[]): Summary {
  if (values.length === 0) throw new RangeError("nothing to summarize");
  const list = [...values];
  return { median: median(list), min: min(list), max: max(list) };
}

export function spread(summary: Summary): number {
  return summary.median === 0 ? 0 : (summary.max - summary.min) / summary.median;
}

/** 0 for an empty list. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length * share)] ?? 0;
}

export function timesFigures(timesMs: readonly number[], unit: string): Record<string, number> {
  return {
    [`µs/${unit}`]: mean([...timesMs]) * 1000,
    "µs median": quantile(timesMs, 0.5) * 1000,
    "µs p99": quantile(timesMs, 0.99) * 1000,
  };
}
