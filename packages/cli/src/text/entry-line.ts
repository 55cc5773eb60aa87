/** An entry as one line: id, time, kind, and as much of its text as fits. Pure. */
import type { AnyEntry } from "@branchlog/core/entries";
import type { Style } from "../style.ts";
import { oneLine } from "./clean-text.ts";
import { gistOf, paintOf } from "./entry-gist.ts";
import { timeText } from "./quantities.ts";

/** The line, with its newline. */
export function entryLine(
  entry: AnyEntry,
  { columns, style }: { readonly columns: number; readonly style: Style },
): string {
  const id = oneLine(entry.id, 40).padEnd(8);
  const time = timeText(Date.parse(entry.timestamp));
  const taken = id.length + time.length + 6;
  const { kind, text } = gistOf(entry, Math.max(textUnitsMin, columns - taken - kindUnits));
  return `${id}  ${style.faint(time)}  ${paintOf(kind, style)(kind)}  ${text}`
    .trimEnd()
    .concat("\n");
}

const textUnitsMin = 20;
/** Width of most kinds. */
const kindUnits = 14;
