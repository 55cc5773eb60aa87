/**
 * Micro cases: the mean time of one synchronous function over many calls, by the `benchmark`
 * package. Its numbers are wrong for anything asynchronous or slower than a few milliseconds.
 */
import Benchmark from "benchmark";

export interface OperationTime {
  readonly microseconds: number;
  /** Half the width of the 95 % confidence interval, as a share of the time. */
  readonly marginOfError: number;
  readonly samples: number;
}

export function timeOperation(
  operation: () => void,
  { secondsMax = 2, check }: { readonly secondsMax?: number; readonly check: () => void },
): OperationTime {
  operation();
  check();
  const { error, stats } = new Benchmark(operation, {
    async: false,
    maxTime: secondsMax,
    minSamples: 10,
  }).run();
  // The package keeps what the function threw instead of throwing it.
  if (error !== undefined) throw error instanceof Error ? error : new Error(String(error));
  check();
  return {
    microseconds: stats.mean * 1e6,
    marginOfError: stats.rme / 100,
    samples: stats.sample.length,
  };
}
