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
