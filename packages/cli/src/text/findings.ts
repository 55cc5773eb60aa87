/** Counts of diagnostics. The engine keeps the start of each list; longer lists are marked. */
import { numberText } from "./quantities.ts";

/** The most findings of a kind that the engine keeps. */
const findingsMax = 1_000;

/** `bad-line 3`, `bad-line 1,000 or more`. */
export function kindText(kind: string, count: number): string {
  return `${kind} ${numberText(count)}${count < findingsMax ? "" : " or more"}`;
}
