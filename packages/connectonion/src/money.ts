/** Sums of costs as ConnectOnion makes them: rounded to four places at each addition. Pure. */

/** The sum of two amounts of US dollars, rounded to four places as Python's `round` does. */
export function addedCost(total: number, cost: number): number {
  return roundedCost(total + cost);
}

/** An amount of US dollars, rounded to four places; halves go to the even digit. */
export function roundedCost(cost: number): number {
  if (!Number.isFinite(cost) || Math.abs(cost) >= 1e15) return cost;
  // A double with five places, the last a 5, is an odd number of 32nds: it stands exactly halfway.
  const isHalfway = Math.abs(cost * 32) % 2 === 1;
  const below = cost.toFixed(5).slice(0, -1);
  const isEven = Number(below.at(-1)) % 2 === 0;
  return Number(isHalfway && isEven ? below : cost.toFixed(4));
}
