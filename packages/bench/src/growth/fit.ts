/**
 * Fits costs against sizes: the power of the size that they grow with, and a straight line. Pure.
 */

/** A cost at a size, both above zero to count for a power. */
export interface CostPoint {
  readonly size: number;
  readonly cost: number;
}

/** How a cost grows. */
export interface Growth {
  /** The slope of a line through the logarithms: 0 constant, 1 linear, 2 quadratic. */
  readonly exponent: number;
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
  | "O(1) or O(log n)"
  | "below O(n)"
  | "O(n)"
  | "O(n), and a fixed cost"
  | "above O(n)"
  | "unknown";

/** What a straight line must explain, and its rise be of the greatest cost, to be believed. */
const explainedMin = 0.99;
const shareMin = 0.5;

interface Line {
  readonly base: number;
  readonly slope: number;
  readonly explained: number;
}

/** At least two different sizes are needed; without them, everything but `order` is NaN. */
export function fitGrowth(points: readonly CostPoint[]): Growth {
  const straight = fitLine(points.map(({ size, cost }) => [size, cost]));
  const positive = points.filter(({ size, cost }) => size > 0 && cost > 0);
  const power = fitLine(positive.map(({ size, cost }) => [Math.log(size), Math.log(cost)]));
  const { base, slope, explained } = straight;
  const largest = Math.max(...points.map(({ size }) => size));
  const share = (slope * largest) / (base + slope * largest);
  const isStraight = explained >= explainedMin && share >= shareMin && base > 0;
  const order = orderOf(power.slope, isStraight);
  return { exponent: power.slope, base, perUnit: slope, explained, order };
}

/** The line of the least squares. */
function fitLine(points: readonly (readonly [number, number])[]): Line {
  const sound = points.filter((point) => point.every(Number.isFinite));
  const meanX = mean(sound.map(([x]) => x));
  const meanY = mean(sound.map(([, y]) => y));
  const sum = (of: (x: number, y: number) => number): number =>
    sound.reduce((total, [x, y]) => total + of(x - meanX, y - meanY), 0);
  const spreadX = sum((x) => x * x);
  if (sound.length < 2 || spreadX === 0) {
    return { base: Number.NaN, slope: Number.NaN, explained: Number.NaN };
  }
  const slope = sum((x, y) => x * y) / spreadX;
  const spreadY = sum((_, y) => y * y);
  const explained = spreadY === 0 ? 1 : (slope * slope * spreadX) / spreadY;
  return { base: meanY - slope * meanX, slope, explained };
}

function mean(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0) / values.length;
}

// A logarithm looks like a power of about 0.1 over the sizes that are measured, and a fixed cost
// makes a linear one look like less than 1.
function orderOf(exponent: number, isStraight: boolean): Order {
  if (!Number.isFinite(exponent)) return "unknown";
  if (exponent < 0.75 && isStraight) return "O(n), and a fixed cost";
  if (exponent < 0.25) return "O(1) or O(log n)";
  if (exponent < 0.75) return "below O(n)";
  return exponent <= 1.2 ? "O(n)" : "above O(n)";
}
