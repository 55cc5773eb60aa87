/** Counts of what the engine found wrong. It keeps the start of each list; longer ones say so. */
import { numberText } from "./quantities.ts";

/** The engine keeps so many findings of a kind. */
const findingsMax = 1_000;

/** `bad-line 3`, `bad-line 1,000 or more`. */
export function kindText(kind: string, count: number): string {
  return `${kind} ${numberText(count)}${count < findingsMax ? "" : " or more"}`;
}
