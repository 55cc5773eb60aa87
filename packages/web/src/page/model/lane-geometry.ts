/**
 * What is drawn next to one row: a line for each lane that passes it, the lines of its own lane, a
 * curve to each branch that starts there. Only numbers and path data; the view makes SVG of it.
 */
import type { Row, RowLanes } from "../../api.ts";

/** Lanes that have a full width; the others share the width of one more. */
const fullLaneCount = 11;
const laneColours = 8;

export interface LaneSize {
  readonly laneCount: number;
  readonly laneWidth: number;
  readonly rowHeight: number;
}

export interface LaneLine {
  readonly path: string;
  /** Which of the colours of lanes it has. */
  readonly colour: number;
  /** Whether it is a part of the path from the root to the leaf. */
  readonly isOnPath: boolean;
}

export interface LaneDrawing {
  readonly lines: readonly LaneLine[];
  readonly x: number;
  readonly y: number;
  readonly colour: number;
}

/** The width of the drawing: the same for all rows of a session. */
export function gutterWidth({ laneCount, laneWidth }: LaneSize): number {
  return (Math.min(laneCount, fullLaneCount + 1) + 1) * laneWidth;
}

/** The middle of a lane. Beyond the full lanes the distance shrinks, but never to 0. */
export function laneX(lane: number, { laneWidth }: LaneSize): number {
  if (lane < fullLaneCount) return (lane + 0.75) * laneWidth;
  const beyond = lane - fullLaneCount;
  return (fullLaneCount + 0.75 + (0.6 * beyond) / (beyond + 4)) * laneWidth;
}

function laneColour(lane: number): number {
  return lane % laneColours;
}

/**
 * The drawing of one row. `pathLane` is the lane in which the path to the leaf leaves the row, or
 * passes it; null: the path ended above.
 */
export function drawLanes(
  row: Pick<Row, "isOnPath" | "lanes">,
  pathLane: number | null,
  size: LaneSize,
): LaneDrawing {
  const { lanes, isOnPath } = row;
  const x = laneX(lanes.lane, size);
  const y = size.rowHeight / 2;
  const lines = lanes.passing.map((lane) =>
    line(lane, `M${round(laneX(lane, size))} 0V${size.rowHeight}`, !isOnPath && lane === pathLane),
  );
  if (lanes.up) lines.push(line(lanes.lane, `M${round(x)} 0V${y}`, isOnPath));
  if (lanes.down) {
    const isPath = isOnPath && pathLane === lanes.lane;
    lines.push(line(lanes.lane, `M${round(x)} ${y}V${size.rowHeight}`, isPath));
  }
  for (const lane of lanes.forks) {
    lines.push(line(lane, forkPath(x, laneX(lane, size), size), isOnPath && pathLane === lane));
  }
  for (const lane of lanes.joins ?? []) {
    lines.push(line(lane, joinPath(laneX(lane, size), x, size), false));
  }
  // The path is drawn last, so that nothing crosses it.
  lines.sort((a, b) => Number(a.isOnPath) - Number(b.isOnPath));
  return { lines, x, y, colour: laneColour(lanes.lane) };
}

function line(lane: number, path: string, isOnPath: boolean): LaneLine {
  return { path, colour: laneColour(lane), isOnPath };
}

/** A quarter turn out of the entry, then down in the other lane. */
function forkPath(from: number, to: number, { rowHeight }: LaneSize): string {
  const y = rowHeight / 2;
  const radius = Math.min(rowHeight / 2, Math.abs(to - from));
  const side = to > from ? 1 : -1;
  const corner = `${round(to - side * radius)} ${y}Q${round(to)} ${y} ${round(to)} ${y + radius}`;
  return `M${round(from)} ${y}L${corner}V${rowHeight}`;
}

/** Down in the other lane, then a quarter turn into the entry. */
function joinPath(from: number, to: number, { rowHeight }: LaneSize): string {
  const y = rowHeight / 2;
  const radius = Math.min(rowHeight / 2, Math.abs(to - from));
  const side = to > from ? 1 : -1;
  const corner = `Q${round(from)} ${y} ${round(from + side * radius)} ${y}`;
  return `M${round(from)} 0V${y - radius}${corner}L${round(to)} ${y}`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/**
 * For each row the lane in which the path to the leaf leaves or passes it. The path at a row is in
 * the lane of the next entry on the path; rows from the leaf on have none. `after` are the rows
 * below, as far as they are known; without an answer in them the own lane is assumed.
 */
export function pathLanes(
  rows: readonly (Pick<Row, "isOnPath" | "isLeaf" | "lanes"> | undefined)[],
  after: Iterable<Pick<Row, "isOnPath" | "lanes"> | undefined>,
): readonly (number | null)[] {
  let next = firstPathLane(after);
  const lanes: (number | null)[] = [];
  for (const row of rows.toReversed()) {
    if (row?.isLeaf === true) next = null;
    lanes.push(next ?? assumedLane(row));
    if (row?.isOnPath === true) next = row.lanes.lane;
  }
  return lanes.toReversed();
}

function firstPathLane(rows: Iterable<Pick<Row, "isOnPath" | "lanes"> | undefined>): number | null {
  for (const row of rows) if (row?.isOnPath === true) return row.lanes.lane;
  return null;
}

function assumedLane(
  row: Pick<Row, "isOnPath" | "isLeaf" | "lanes"> | undefined,
): RowLanes["lane"] | null {
  return row?.isOnPath === true && !row.isLeaf ? row.lanes.lane : null;
}
