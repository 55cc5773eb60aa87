/**
 * Micro cases: one synchronous function, called so often that its mean time can be told, by the
 * `benchmark` package, which only this file imports. Not for anything asynchronous or slower than a
 * few milliseconds: there the package's numbers are wrong, see process-case.ts.
 */
import Benchmark from "benchmark";

/** How long one call takes. */
export interface OperationTime {
  readonly microseconds: number;
  /** Half the width of the 95 % confidence interval, as a share of the time. */
  readonly marginOfError: number;
  /** Batches of calls that were measured. */
  readonly samples: number;
}

/** How thoroughly to measure. */
export interface OperationOptions {
  /** Seconds of measurement at most. Default 2. */
  readonly secondsMax?: number;
  /** Checked once before and once after; throws if the function does not do its work. */
  readonly check: () => void;
}

/** Measures `operation`. Throws what it throws, and what the check throws. */
export function timeOperation(operation: () => void, options: OperationOptions): OperationTime {
  operation();
  options.check();
  const measured = new Benchmark(operation, {
    async: false,
    maxTime: options.secondsMax ?? 2,
    minSamples: 10,
  }).run();
  // The package keeps what the function threw instead of throwing it.
  const { error } = measured;
  if (error !== undefined) throw error instanceof Error ? error : new Error(String(error));
  options.check();
  return {
    microseconds: measured.stats.mean * 1e6,
    marginOfError: measured.stats.rme / 100,
    samples: measured.stats.sample.length,
  };
}
