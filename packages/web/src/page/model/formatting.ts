/** Numbers and times as short text. Always the same form, whatever the language of the browser. */

const byteUnits = ["B", "kB", "MB", "GB", "TB"] as const;
const countUnits = ["", "k", "M", "G"] as const;

export function formatBytes(bytes: number): string {
  return scaled(bytes, byteUnits, " ");
}

export function formatCount(count: number): string {
  return scaled(count, countUnits, "");
}

/** Whole numbers below a thousand, else three digits: 999, 1.5k, 12.3k, 123k. */
function scaled(value: number, units: readonly string[], space: string): string {
  let rest = value;
  let unit = 0;
  // 999.5 would be rounded to a fourth digit.
  while (rest >= 999.5 && unit < units.length - 1) {
    rest /= 1000;
    unit += 1;
  }
  const digits = unit === 0 || rest >= 99.95 ? 0 : 1;
  return `${rest.toFixed(digits).replace(/\.0$/, "")}${space}${units[unit] ?? ""}`;
}

const ageUnits = [
  [60, "s"],
  [60, "min"],
  [24, "h"],
  [30, "d"],
  [12.17, "mo"],
  [Number.POSITIVE_INFINITY, "y"],
] as const;

/** How long ago: "now", "5 min", "3 d". Clocks differ, so the future is now. */
export function formatAge(timeMs: number, nowMs: number): string {
  let value = (nowMs - timeMs) / 1000;
  if (value < 10) return "now";
  for (const [size, unit] of ageUnits) {
    if (value < size) return `${Math.floor(value)} ${unit}`;
    value /= size;
  }
  return "";
}

/** Two units at most: "45 s", "12 min", "3 h 5", "2 d 4". */
export function formatDuration(spanMs: number): string {
  const seconds = Math.round(spanMs / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  if (hours < 24) return rest === 0 ? `${hours} h` : `${hours} h ${rest}`;
  const [days, restHours] = [Math.floor(hours / 24), hours % 24];
  return restHours === 0 ? `${days} d` : `${days} d ${restHours}`;
}

/** Local date and time; empty for a time that is unknown. */
export function formatTime(timeMs: number): string {
  if (!Number.isFinite(timeMs) || timeMs <= 0) return "";
  const time = new Date(timeMs);
  const date = [time.getFullYear(), time.getMonth() + 1, time.getDate()];
  const clock = [time.getHours(), time.getMinutes(), time.getSeconds()];
  return `${date.map(twoDigits).join("-")} ${clock.map(twoDigits).join(":")}`;
}

/** Hours and minutes today, else the day. */
export function formatShortTime(timeMs: number, nowMs: number): string {
  const full = formatTime(timeMs);
  if (full === "") return "";
  const isToday = full.slice(0, 10) === formatTime(nowMs).slice(0, 10);
  return isToday ? full.slice(11, 16) : full.slice(5, 16);
}

function twoDigits(value: number): string {
  return String(value).padStart(2, "0");
}

/** A price, with a mark if a part of it is unknown: "$1.20", "≥ $1.20, 3 unpriced", "unknown". */
export function formatCost(cost: number | null, unpriced = 0): string {
  if (cost === null) return "unknown";
  const price = `$${cost < 0.1 && cost > 0 ? cost.toFixed(4) : cost.toFixed(2)}`;
  return unpriced > 0 ? `≥ ${price}, ${formatCount(unpriced)} unpriced` : price;
}

/** The last two parts of a path. */
export function shortPath(path: string): string {
  const parts = path.split(/[/\\]/).filter((part) => part !== "");
  return parts.length <= 2 ? path : `…/${parts.slice(-2).join("/")}`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** The output of a command without the escape sequences that colour it in a terminal. */
export function withoutEscapes(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replaceAll(/\u001B(\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(\u0007|\u001B\\)?)/g, "");
}
