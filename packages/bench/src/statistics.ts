/** Medians and spreads. Pure. */

/** The middle of several measurements and how far they lie apart. */
export interface Summary {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** Throws RangeError for an empty list. */
export function summarize(values: readonly number[]): Summary {
  const sorted = [...values].sort((a, b) => a - b);
  const upper = sorted[sorted.length >> 1];
  const lower = sorted[(sorted.length - 1) >> 1];
  const min = sorted[0];
  const max = sorted.at(-1);
  if (upper === undefined || lower === undefined || min === undefined || max === undefined) {
    throw new RangeError("nothing to summarize");
  }
  return { median: (lower + upper) / 2, min, max };
}

/** The distance from the least to the greatest value, as a share of the median. */
export function spread({ median, min, max }: Summary): number {
  return median === 0 ? 0 : (max - min) / median;
}

/** The value that a share of all values does not reach: the middle one for 0.5; 0 of nothing. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length * share)] ?? 0;
}

/** What repeated work takes: the mean, in `µs/<unit>`, the middle, and nearly the worst. */
export function timesFigures(timesMs: readonly number[], unit: string): Record<string, number> {
  const sumMs = timesMs.reduce((sum, ms) => sum + ms, 0);
  return {
    [`µs/${unit}`]: (sumMs * 1000) / timesMs.length,
    "µs median": quantile(timesMs, 0.5) * 1000,
    "µs for 99 of 100": quantile(timesMs, 0.99) * 1000,
  };
}
