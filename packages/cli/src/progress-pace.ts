/** How fast work went over its last seconds, and how long the rest takes at that rate. Pure. */

/** So much was done at a time of a monotonic clock. */
export interface Sample {
  readonly ms: number;
  readonly done: number;
}

export interface Pace {
  readonly perSecond: number;
  readonly msLeft: number;
}

/** Long enough for steady numbers, short enough to follow a file that reads slower. */
const windowMs = 3000;

/** With the new one, and none from before the last seconds but the latest of those. */
export function recentSamples(samples: readonly Sample[], now: Sample): readonly Sample[] {
  const first = samples.findLastIndex(({ ms }) => ms <= now.ms - windowMs);
  return [...samples.slice(Math.max(first, 0)), now];
}

/** Undefined until some work was done. */
export function paceOf(samples: readonly Sample[], total: number): Pace | undefined {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined || last.ms <= first.ms) return undefined;
  const perSecond = ((last.done - first.done) * 1000) / (last.ms - first.ms);
  if (perSecond <= 0) return undefined;
  return { perSecond, msLeft: (Math.max(0, total - last.done) * 1000) / perSecond };
}
