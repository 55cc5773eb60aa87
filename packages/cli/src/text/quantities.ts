/** Numbers, sizes and times as text, in English and UTC. Pure. */

/** `1,234`. Not by Intl, which takes as long to load as all of a short command. */
export function numberText(value: number): string {
  return value.toFixed(0).replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
}

/** `1 entry`, `12 entries`. */
export function countText(count: number, one: string, many: string = `${one}s`): string {
  return `${numberText(count)} ${count === 1 ? one : many}`;
}

/** `812 bytes`, `3.5 kB`, `1.07 GB`; decimal prefixes. */
export function sizeText(bytes: number): string {
  if (bytes < 1000) return countText(bytes, "byte");
  const steps = Math.min(Math.floor(Math.log10(bytes) / 3), 4);
  const value = bytes / 1000 ** steps;
  return `${value.toPrecision(value < 999.5 ? 3 : 4)} ${["", "kB", "MB", "GB", "TB"][steps] ?? ""}`;
}

/** `2025-06-04 09:00:06Z`; `no time` for an invalid one. */
export function timeText(epochMs: number): string {
  const time = new Date(epochMs);
  if (Number.isNaN(time.getTime())) return "no time";
  return `${time.toISOString().slice(0, -5).replace("T", " ")}Z`;
}

/** `2025-06-04T09:00:06.000Z`; null for an invalid one. */
export function isoTime(epochMs: number): string | null {
  const time = new Date(epochMs);
  return Number.isNaN(time.getTime()) ? null : time.toISOString();
}

/** `3.2 ms`, `1.25 s`. */
export function durationText(ms: number): string {
  return ms < 1000 ? `${ms.toFixed(ms < 10 ? 1 : 0)} ms` : `${(ms / 1000).toFixed(2)} s`;
}

const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000];

/** `now`, `5 min`, `3 h`, `12 days`, `4 months`, `2 years`. */
export function ageText(ms: number): string {
  if (ms < minuteMs) return "now";
  if (ms < hourMs) return `${Math.floor(ms / minuteMs)} min`;
  if (ms < dayMs) return `${Math.floor(ms / hourMs)} h`;
  const days = Math.floor(ms / dayMs);
  if (days < 60) return countText(days, "day");
  return days < 730 ? `${Math.floor(days / 30)} months` : `${Math.floor(days / 365)} years`;
}

/** The columns of the longest age, `24 months ago`. */
const agoColumns = 13;

/** On a terminal, which has a `nowMs`, how long ago; else exact. Ages have the same width. */
export function whenText(epochMs: number, nowMs: number | undefined): string {
  return nowMs === undefined ? timeText(epochMs) : agoText(epochMs, nowMs).padEnd(agoColumns);
}

/** `now`, `3 h ago`, `12 days ago`; `no time` for an invalid one. */
export function agoText(epochMs: number, nowMs: number): string {
  if (Number.isNaN(new Date(epochMs).getTime())) return timeText(epochMs);
  const age = ageText(nowMs - epochMs);
  return age === "now" ? age : `${age} ago`;
}

/**
 * Null for a sum of 0: agents, and imports from agents that store no cost, store 0 for an unknown
 * price.
 */
export function knownCost(dollars: number): number | null {
  return dollars > 0 ? dollars : null;
}

/** `$12.34`, small amounts with more digits. */
export function costText(dollars: number, unknown: string = "cost unknown"): string {
  const known = knownCost(dollars);
  return known === null ? unknown : `$${known.toFixed(known >= 1 ? 2 : 4)}`;
}

/** `~$12.34`, of list prices. */
export function estimateText(
  dollars: number | undefined,
  unknown: string = "cost unknown",
): string {
  return dollars === undefined ? unknown : `~${costText(dollars, "$0")}`;
}

/** `, 1,200 tokens read from cache, 30 written to it`; empty without any. */
export function cacheText(read: number, written: number): string {
  if (read === 0 && written === 0) return "";
  return `, ${countText(read, "token")} read from cache, ${numberText(written)} written to it`;
}
