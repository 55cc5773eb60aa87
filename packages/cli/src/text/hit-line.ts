/** A search hit as one line: entry, time, role, and the text around the match. */
import type { SearchHit } from "@branchlog/core";
import type { Style } from "../style.ts";
import { oneLine } from "./clean-text.ts";
import { timeText } from "./quantities.ts";

/** The line, with its newline. The match is marked. */
export function hitLine(
  { entryId, kind, role, timestamp, snippet }: SearchHit,
  { columns, style }: { readonly columns: number; readonly style: Style },
): string {
  const source = role ?? kind;
  const time = timeText(Date.parse(timestamp));
  const id = oneLine(entryId, 40).padEnd(8);
  const unitsMax = Math.max(textUnitsMin, columns - id.length - time.length - source.length - 8);
  const { text, matchStart, matchEnd } = snippet;
  const match = text.slice(matchStart, matchEnd);
  const before = text.slice(0, matchStart);
  // If the line is too long, its beginning is cut first, so that the match stays visible.
  const half = Math.max(0, Math.floor((unitsMax - match.length) / 2));
  const start = lastUnits(before, Math.min(before.length, half));
  const end = oneLine(text.slice(matchEnd), Math.max(1, unitsMax - start.length - match.length));
  const found = style.label(oneLine(match, unitsMax));
  const shown = `${start}${found}${spaceAfter(text, matchEnd)}${end}`;
  return `${id}  ${style.faint(time)}  ${source}  ${shown}`.trimEnd().concat("\n");
}

const textUnitsMin = 20;

/** The last units of a text on one line, including a trailing space. */
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
