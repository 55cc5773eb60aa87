/** Where a query was found, as one line: which entry, when, who said it, and what is around it. */
import type { SearchHit } from "@branchlog/core";
import type { Style } from "../style.ts";
import { oneLine } from "./clean-text.ts";
import { timeText } from "./quantities.ts";

/** The line, with its newline. What was looked for is marked. */
export function hitLine(
  { entryId, kind, role, timestamp, snippet }: SearchHit,
  { columns, style }: { readonly columns: number; readonly style: Style },
): string {
  const who = role ?? kind;
  const time = timeText(Date.parse(timestamp));
  const id = oneLine(entryId, 40).padEnd(8);
  const unitsMax = Math.max(textUnitsMin, columns - id.length - time.length - who.length - 8);
  const { text, matchStart, matchEnd } = snippet;
  const match = text.slice(matchStart, matchEnd);
  const before = text.slice(0, matchStart);
  // Of what does not fit, the beginning goes first: the match is to be seen.
  const half = Math.max(0, Math.floor((unitsMax - match.length) / 2));
  const start = lastUnits(before, Math.min(before.length, half));
  const end = oneLine(text.slice(matchEnd), Math.max(1, unitsMax - start.length - match.length));
  const found = style.label(oneLine(match, unitsMax));
  const shown = `${start}${found}${spaceAfter(text, matchEnd)}${end}`;
  return `${id}  ${style.faint(time)}  ${who}  ${shown}`.trimEnd().concat("\n");
}

const textUnitsMin = 20;

/** The last units of a text on one line, with the space that it ends in. */
function lastUnits(text: string, unitsMax: number): string {
  const cut = text.length > unitsMax;
  const piece = cut ? text.slice(text.length - Math.max(0, unitsMax - 1)) : text;
  const line = oneLine(piece, Math.max(1, unitsMax));
  const space = /\s$/u.test(piece) && line !== "" ? " " : "";
  return `${cut ? "…" : ""}${line}${space}`;
}

function spaceAfter(text: string, at: number): string {
  return /^\s/u.test(text.slice(at)) ? " " : "";
}
