/** The written ConnectOnion document, and the data it cannot hold, as text. Pure. */
import type { ExportedDocument } from "@branchlog/connectonion";
import { oneLine } from "./clean-text.ts";
import { countText, numberText } from "./quantities.ts";

/** The document with its turns, and a line for the data that was left out. */
export function lossText({ path, turns, lost }: ExportedDocument): string {
  const made = `wrote ${oneLine(path, 400)}, ${countText(turns, "turn")}\n`;
  if (lost.length === 0) return made;
  const list = lost.map(({ reason, count }) => `${reason} ${numberText(count)}`).join(", ");
  return `${made}left out   ${list}\n`;
}
