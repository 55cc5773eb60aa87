/** The lines of a tree: the branches as a graph, with the entries next to it. Pure. */
import type { OutlineRow } from "../tree-outline.ts";
import type { Style } from "../style.ts";
import { oneLine } from "./clean-text.ts";
import { paintOf } from "./entry-lines.ts";
import type { Gist } from "./entry-lines.ts";
import { countText, whenText } from "./quantities.ts";

export interface TreeLine extends Gist {
  readonly id: string;
  readonly time: number;
  readonly label: string | undefined;
  readonly isLeaf: boolean;
  /** Why the entry starts a tree although it has a parent. */
  readonly problem: string | undefined;
  readonly lastMessage: Gist | undefined;
}

export interface TreePlace {
  readonly columns: number;
  readonly style: Style;
  /** On a terminal: times are shown as ages. */
  readonly nowMs?: number | undefined;
}

const textUnitsMax = 72;
const textUnitsMin = 20;

/** With its newline; `line` makes the text of a node. */
export function treeLineText(
  row: OutlineRow,
  line: TreeLine | undefined,
  { columns, style, nowMs }: TreePlace,
): string {
  const graph = graphOf(row);
  if (row.kind === "run") return `${graph}${style.faint(`⋮ ${entries(row.nodes)}`)}\n`;
  if (row.kind === "hidden") {
    const branches = countText(row.branches, "branch", "branches");
    return `${graph}${style.faint(`⋯ ${branches}, ${entries(row.nodes)}`)}\n`;
  }
  if (line === undefined) return `${graph}●\n`;
  const notes = notesOf(row.branches, line, style);
  const place = `${oneLine(line.id, 40)} ${whenText(line.time, nowMs).trimEnd()}`;
  const taken = graph.length + line.kind.length + place.length + plainLength(notes) + 7;
  const room = Math.max(textUnitsMin, Math.min(textUnitsMax, columns - taken));
  const text = saidAt(line, room);
  const dot = line.isLeaf ? style.good("◉") : "●";
  const kind = paintOf(line.kind, style)(line.kind);
  const said = text === "" ? "" : `  ${text}`;
  const painted = notes.map(({ text: note, paint }) => `  ${paint(note)}`).join("");
  return `${graph}${dot} ${kind}${said}  ${style.faint(place)}${painted}\n`;
}

interface Note {
  readonly text: string;
  readonly paint: (text: string) => string;
}

function notesOf(branches: number, line: TreeLine, style: Style): Note[] {
  const notes: Note[] = [];
  if (line.label !== undefined) {
    notes.push({ text: `[${oneLine(line.label, 40)}]`, paint: style.label });
  }
  if (branches > 1) notes.push({ text: `${branches} branches`, paint: style.heading });
  if (line.problem !== undefined) notes.push({ text: line.problem, paint: style.bad });
  if (line.isLeaf) notes.push({ text: "← leaf", paint: style.good });
  return notes;
}

function plainLength(notes: readonly Note[]): number {
  return notes.reduce((length, { text }) => length + text.length + 2, 0);
}

function saidAt({ text, lastMessage }: TreeLine, unitsMax: number): string {
  if (lastMessage === undefined) return oneLine(text, unitsMax);
  const own = text === "" ? "" : `${oneLine(text, Math.floor(unitsMax / 2))}, `;
  return oneLine(`${own}after ${lastMessage.kind}: ${lastMessage.text}`, unitsMax);
}

function graphOf({ level, isBranch }: OutlineRow): string {
  return isBranch ? `${"│ ".repeat(level - 1)}├─` : "│ ".repeat(level);
}

function entries(count: number): string {
  return countText(count, "entry", "entries");
}
