/**
 * The times that `--since`, `--until` and `--older-than` take. Days are those of the local time
 * zone; the time of now is given. Pure.
 */
import { UsageError } from "./failure.ts";

export interface TimeRange {
  /** In epoch ms, itself included; undefined: from the first on. */
  readonly sinceMs: number | undefined;
  /** In epoch ms, itself left out; undefined: to the last. */
  readonly untilMs: number | undefined;
}

/** The options of a command line. */
export interface GivenRange {
  readonly since: string | undefined;
  readonly until: string | undefined;
}

/** A day is in the range as a whole, at either end. Throws `UsageError`. */
export function timeRange({ since, until }: GivenRange, nowMs: number): TimeRange {
  const sinceMs = since === undefined ? undefined : timeOf(since, nowMs, "since").startMs;
  const untilMs = until === undefined ? undefined : timeOf(until, nowMs, "until").endMs;
  if (sinceMs !== undefined && untilMs !== undefined && sinceMs >= untilMs) {
    throw new UsageError(`--since ${since} is not before --until ${until}: swap them.`);
  }
  return { sinceMs, untilMs };
}

/** Throws `UsageError`. */
export function timeBefore(given: string | undefined, nowMs: number): number | undefined {
  return given === undefined ? undefined : timeOf(given, nowMs, "older-than").startMs;
}

interface Span {
  readonly startMs: number;
  readonly endMs: number;
}

const unitsMs = new Map([
  ["m", 60_000],
  ["h", 3_600_000],
  ["d", 86_400_000],
  ["w", 604_800_000],
]);

const weekdays = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

function timeOf(given: string, nowMs: number, option: string): Span {
  const word = given.trim().toLowerCase();
  const found = durationAgo(word, nowMs) ?? namedDay(word, nowMs) ?? writtenTime(given.trim());
  if (found !== undefined) return found;
  throw new UsageError(
    `--${option} takes 30m, 12h, 7d, 2w, today, yesterday, a weekday such as monday, a date ` +
      `such as 2026-11-24 or a time such as 2026-11-24T18:00, not ${given}.`,
  );
}

function durationAgo(word: string, nowMs: number): Span | undefined {
  const [, count, unit = ""] = /^(\d+)([mhdw])$/.exec(word) ?? [];
  const unitMs = unitsMs.get(unit);
  return unitMs === undefined ? undefined : instant(nowMs - Number(count) * unitMs);
}

/** A weekday is the last one before today, as git has it. */
function namedDay(word: string, nowMs: number): Span | undefined {
  const now = new Date(nowMs);
  const daysAgo = (days: number): Span =>
    localDay(now.getFullYear(), now.getMonth(), now.getDate() - days);
  if (word === "today") return daysAgo(0);
  if (word === "yesterday") return daysAgo(1);
  const day = weekdays.findIndex((name) => name === word || name.slice(0, 3) === word);
  if (day < 0) return undefined;
  return daysAgo((now.getDay() - day + 7) % 7 || 7);
}

function writtenTime(text: string): Span | undefined {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? [];
  if (year !== undefined) {
    const [monthIndex, dayOfMonth] = [Number(month) - 1, Number(day)];
    const span = localDay(Number(year), monthIndex, dayOfMonth);
    const start = new Date(span.startMs);
    const isDay = start.getMonth() === monthIndex && start.getDate() === dayOfMonth;
    return isDay ? span : undefined;
  }
  const timeMs = /^\d{4}-/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(timeMs) ? undefined : instant(timeMs);
}

function instant(timeMs: number): Span {
  return { startMs: timeMs, endMs: timeMs };
}

/** As long as the clocks have it: 23 or 25 hours where they change. */
function localDay(year: number, month: number, day: number): Span {
  const at = (days: number): number => {
    const date = new Date(2000, 0, 1);
    // Not by the constructor, for which years below 100 are of another century.
    date.setFullYear(year, month, day + days);
    return date.getTime();
  };
  return { startMs: at(0), endMs: at(1) };
}
