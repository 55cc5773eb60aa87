/** Progress on one line that fits a terminal. Pure. */
import type { Pace } from "../progress-pace.ts";
import { oneLine } from "./clean-text.ts";
import { fitted } from "./display-width.ts";
import { numberText, sizeText } from "./quantities.ts";

export interface ShownProgress {
  /** `reading work.jsonl`, `searching`. */
  readonly what: string;
  readonly unit: "bytes" | "sessions";
  readonly done: number;
  readonly total: number;
  readonly pace: Pace | undefined;
}

/** The description is shortened first. */
export function progressText({ what, ...progress }: ShownProgress, columns: number): string {
  const facts = factsOf(progress);
  // A line that fills the last column would be broken by some terminals.
  const room = columns - facts.length - 2;
  const shown = room < 1 ? facts : `${fitted(oneLine(what, 400), room)} ${facts}`;
  return fitted(shown, Math.max(1, columns - 1));
}

function factsOf({ unit, done, total, pace }: Omit<ShownProgress, "what">): string {
  const isBytes = unit === "bytes";
  const place = isBytes
    ? `${Math.floor(Math.min(1, total === 0 ? 0 : done / total) * 100)} %`
    : `${numberText(done)} of ${numberText(total)} ${unit}`;
  if (pace === undefined) return place;
  const rate = isBytes ? sizeText(pace.perSecond) : rateText(pace.perSecond);
  return `${place}, ${rate}/s, ${leftText(pace.msLeft)} left`;
}

function rateText(perSecond: number): string {
  return perSecond < 10 ? perSecond.toFixed(1) : numberText(perSecond);
}

/** `3 s`, `2 min 5 s`, `1 h 20 min`. */
function leftText(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${numberText(Math.floor(minutes / 60))} h ${minutes % 60} min`;
}
