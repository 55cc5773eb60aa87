/** Medians, spreads and lines of least squares; the only importer of `simple-statistics`. Pure. */
import {
  linearRegression,
  linearRegressionLine,
  max,
  mean,
  median,
  min,
  rSquared,
} from "simple-statistics";

/** The middle of several measurements and how far they lie apart. */
export interface Summary {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** Throws RangeError for an empty list. */
export function summarize(values: readonly number[]): Summary {
  if (values.length === 0) throw new RangeError("nothing to summarize");
  const list = [...values];
  return { median: median(list), min: min(list), max: max(list) };
}

/** The distance from the least to the greatest value, as a share of the median. */
export function spread(summary: Summary): number {
  return summary.median === 0 ? 0 : (summary.max - summary.min) / summary.median;
}

/** The value that a share of all values does not reach: the middle one for 0.5; 0 of nothing. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length * share)] ?? 0;
}

/** What repeated work takes: the mean, in `µs/<unit>`, the middle, and nearly the worst. */
export function timesFigures(timesMs: readonly number[], unit: string): Record<string, number> {
  return {
    [`µs/${unit}`]: mean([...timesMs]) * 1000,
    "µs median": quantile(timesMs, 0.5) * 1000,
    "µs for 99 of 100": quantile(timesMs, 0.99) * 1000,
  };
}

/** A straight line. */
export interface Line {
  readonly base: number;
  readonly slope: number;
  /** The share of the variance that it explains, from 0 to 1. */
  readonly explained: number;
}

/** The line of the least squares; NaN without two different places. */
export function fitLine(points: readonly (readonly [number, number])[]): Line {
  const sound = points.filter((point) => point.every(Number.isFinite)).map(([x, y]) => [x, y]);
  if (new Set(sound.map(([x]) => x)).size < 2) {
    return { base: Number.NaN, slope: Number.NaN, explained: Number.NaN };
  }
  const line = linearRegression(sound);
  const explained = rSquared(sound, linearRegressionLine(line));
  return { base: line.b, slope: line.m, explained };
}
