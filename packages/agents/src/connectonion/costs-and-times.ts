/** Costs and times as ConnectOnion's Python writes them, times in the zone of the process. */

export function addedCost(total: number, cost: number): number {
  return roundedCost(total + cost);
}

/** Rounded to four places, half to even. */
export function roundedCost(cost: number): number {
  if (!Number.isFinite(cost) || Math.abs(cost) >= 1e15) return cost;
  // A double with five places, the last a 5, is an odd number of 32nds: exactly halfway.
  const isHalfway = Math.abs(cost * 32) % 2 === 1;
  const below = cost.toFixed(5).slice(0, -1);
  const isEven = Number(below.at(-1)) % 2 === 0;
  return Number(isHalfway && isEven ? below : cost.toFixed(4));
}

/** To the second; empty for an invalid time. */
export function localTimeText(epochMs: number): string {
  const time = new Date(epochMs);
  if (Number.isNaN(time.getTime())) return "";
  const two = (value: number): string => String(value).padStart(2, "0");
  const date = [time.getFullYear(), two(time.getMonth() + 1), two(time.getDate())].join("-");
  return `${date} ${[time.getHours(), time.getMinutes(), time.getSeconds()].map(two).join(":")}`;
}

const form = /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[Tt ]+(\d{1,2}):(\d{2}):(\d{2})(?:\.\d*)?)?$/;

/** NaN for anything else, including times with a zone. */
export function localTimeMs(text: unknown): number {
  const parts = typeof text === "string" ? form.exec(text.trim()) : null;
  if (parts === null) return Number.NaN;
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = parts
    .slice(1)
    .map((part) => (part === undefined ? undefined : Number(part)));
  return new Date(year, month - 1, day, hour, minute, second).getTime();
}
