/** Counts of what the engine found wrong. It keeps the start of each list; longer ones say so. */
import { countText, numberText } from "./quantities.ts";

/** The engine keeps so many findings of a kind. */
const findingsMax = 1_000;

/** `3 cycles of parents`, `at least 1,000 cycles of parents`. */
export function findingsText(count: number, one: string, many: string): string {
  return `${count < findingsMax ? "" : "at least "}${countText(count, one, many)}`;
}

/** `bad-line 3`, `bad-line 1,000 or more`. */
export function kindText(kind: string, count: number): string {
  return `${kind} ${numberText(count)}${count < findingsMax ? "" : " or more"}`;
}
