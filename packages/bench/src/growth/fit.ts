/** Fits costs against sizes: the power of the size that they grow with, and a line. Pure. */
import { fitLine } from "../statistics.ts";

/** A cost at a size, both above zero to count for a power. */
export interface CostPoint {
  readonly size: number;
  readonly cost: number;
}

/** How a cost grows. */
export interface Growth {
  /** The slope of a line through the logarithms: 0 constant, 1 linear, 2 quadratic. */
  readonly exponent: number;
  /** The same between the last two sizes, where a fixed cost hides the least. */
  readonly endExponent: number;
  /** The cost at size 0 of the straight line. */
  readonly base: number;
  /** What one more adds to it. */
  readonly perUnit: number;
  /** The share of the variance that the straight line explains, from 0 to 1. */
  readonly explained: number;
  readonly order: Order;
}

/** In words, as far as a handful of sizes can tell. */
export type Order =
  | "falls"
  | "O(1) or O(log n)"
  | "below O(n)"
  | "O(n) or O(n log n)"
  | "O(n), and a fixed cost"
  | "above O(n)"
  | "above O(n), and a fixed cost"
  | "unknown";

/** What a straight line must explain, and its rise be of the greatest cost, to be believed. */
const explainedMin = 0.99;
const shareMin = 0.2;

/** What is asked of the end of a curve before it is called steeper than a line. */
const riseMin = 0.3;
const bendMin = 0.5;

/** The end of a curve. */
interface CurveEnd {
  readonly exponent: number;
  /** Whether it turns upwards by more than what the sizes before it waver by. */
  readonly turnsUp: boolean;
}

/** At least two different sizes are needed; without them, everything but `order` is NaN. */
export function fitGrowth(points: readonly CostPoint[]): Growth {
  const straight = fitLine(points.map(({ size, cost }) => [size, cost]));
  const positive = points.filter(
    ({ size, cost }) => size > 0 && cost > 0 && size + cost < Infinity,
  );
  const power = fitLine(positive.map(({ size, cost }) => [Math.log(size), Math.log(cost)]));
  const { base, slope, explained } = straight;
  const largest = Math.max(...points.map(({ size }) => size));
  const share = (slope * largest) / (base + slope * largest);
  const isStraight = explained >= explainedMin && share >= shareMin && base > 0;
  const end = endOf(positive);
  const order = orderOf(power.slope, end, isStraight);
  return {
    exponent: power.slope,
    endExponent: end.exponent,
    base,
    perUnit: slope,
    explained,
    order,
  };
}

/** From the size before the last to the last. */
function endOf(points: readonly CostPoint[]): CurveEnd {
  const ordered = points.toSorted((a, b) => a.size - b.size);
  const [third, second, last] = [ordered.at(-3), ordered.at(-2), ordered.at(-1)];
  if (second === undefined || last === undefined || second.size === last.size) {
    return { exponent: Number.NaN, turnsUp: false };
  }
  const sizes = Math.log(last.size / second.size);
  const exponent = Math.log(last.cost / second.cost) / sizes;
  if (third === undefined) return { exponent, turnsUp: false };
  const rise = (last.cost - second.cost) / last.cost;
  const bend = Math.log(perMore(second, last) / perMore(third, second)) / sizes;
  return {
    exponent,
    turnsUp: rise >= riseMin && bend > bendMin && isFlatBefore(ordered, last.cost - second.cost),
  };
}

// A cost of 24, 18 and 28 ms also turns upwards at its end, and so does one that fell before it:
// what fell by more than a quarter of the last rise says nothing.
function isFlatBefore(ordered: readonly CostPoint[], rise: number): boolean {
  const before = ordered.slice(0, -1);
  const falls = before.map(({ cost }, i) => (before[i - 1]?.cost ?? cost) - cost);
  return Math.max(...falls) <= rise / 4;
}

/** What one more costs between two sizes; what falls counts as next to nothing. */
function perMore(from: CostPoint, to: CostPoint): number {
  return Math.max((to.cost - from.cost) / (to.size - from.size), Number.MIN_VALUE);
}

// A logarithm looks like a power of about 0.1 over the sizes that are measured, and n log n like
// one of 1.1. A fixed cost makes every power look like less: so the end counts as well, and
// whether what one more costs rises, which is so above O(n) only.
function orderOf(exponent: number, end: CurveEnd, isStraight: boolean): Order {
  if (!Number.isFinite(exponent)) return "unknown";
  if (exponent > 1.2 || end.exponent > 1.3) return "above O(n)";
  if (exponent < 0.75) {
    if (isStraight) return "O(n), and a fixed cost";
    if (end.turnsUp) return "above O(n), and a fixed cost";
  }
  if (exponent < -0.15) return "falls";
  if (exponent < 0.25) return "O(1) or O(log n)";
  return exponent < 0.75 ? "below O(n)" : "O(n) or O(n log n)";
}
