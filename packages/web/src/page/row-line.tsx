/** One entry in the list of a session: its piece of the tree, its kind, and a line of its text. */
import type { VNode } from "preact";
import type { Row } from "../api.ts";
import { formatShortTime, formatTime, plural, withoutEscapes } from "./model/formatting.ts";
import { drawLanes, gutterWidth } from "./model/lane-geometry.ts";
import type { LaneSize } from "./model/lane-geometry.ts";
import { rowKind } from "./model/row-kind.ts";
import type { RowMark } from "./model/row-kind.ts";

interface RowLineProps {
  readonly row: Row;
  readonly pathLane: number | null;
  readonly size: LaneSize;
  readonly rowCount: number;
  readonly isActive: boolean;
  readonly nowMs: number;
  readonly onOpen: (row: number) => void;
}

export function RowLine(props: RowLineProps): VNode {
  const { row, size, isActive, onOpen } = props;
  const { mark, word } = rowKind(row);
  return (
    <div
      class="row"
      id={rowElementId(row.row)}
      role="treeitem"
      aria-level={row.lanes.lane + 1}
      aria-setsize={props.rowCount}
      aria-posinset={row.row + 1}
      aria-selected={isActive}
      data-mark={mark}
      data-on-path={row.isOnPath}
      data-leaf={row.isLeaf}
      onClick={() => onOpen(row.row)}
    >
      <LaneGutter row={row} mark={mark} pathLane={props.pathLane} size={size} />
      <span class="row-kind">{word}</span>
      {row.label === null ? null : <span class="chip label">{row.label}</span>}
      {row.isLeaf ? <span class="chip leaf">leaf</span> : null}
      {row.lanes.forks.length === 0 ? null : (
        <span class="chip forks">{plural(row.lanes.forks.length + 1, "branch", "branches")}</span>
      )}
      <span class="row-text">
        {row.tools.map((tool) => (
          <code class="tool">{tool}</code>
        ))}
        {withoutEscapes(row.text)}
      </span>
      <time class="row-time" title={formatTime(row.timeMs)}>
        {formatShortTime(row.timeMs, props.nowMs)}
      </time>
    </div>
  );
}

export function rowElementId(row: number): string {
  return `row-${row}`;
}

/** A row whose entry is still being fetched. */
export function SkeletonRow({
  row,
  rowCount,
}: Pick<RowLineProps, "rowCount"> & SkeletonProps): VNode {
  return (
    <div
      class="row skeleton"
      id={rowElementId(row)}
      role="treeitem"
      aria-level={1}
      aria-setsize={rowCount}
      aria-posinset={row + 1}
      aria-label="Loading"
    >
      <span class="skeleton-bar" style={{ width: `${30 + ((row * 37) % 50)}%` }} />
    </div>
  );
}

interface SkeletonProps {
  readonly row: number;
}

interface GutterProps {
  readonly row: Row;
  readonly mark: RowMark;
  readonly pathLane: number | null;
  readonly size: LaneSize;
}

function LaneGutter({ row, mark, pathLane, size }: GutterProps): VNode {
  const drawing = drawLanes(row, pathLane, size);
  return (
    <svg class="lanes" width={gutterWidth(size)} height={size.rowHeight} aria-hidden="true">
      {drawing.lines.map((line) => (
        <path class={`lane lane-${line.colour}`} d={line.path} data-on-path={line.isOnPath} />
      ))}
      <g class={`dot lane-${drawing.colour}`} transform={`translate(${drawing.x} ${drawing.y})`}>
        {row.isLeaf ? <circle class="leaf-ring" r="7" /> : null}
        <DotShape mark={mark} />
      </g>
    </svg>
  );
}

/** Entries that shorten the context have other shapes than those that are a part of it. */
function DotShape({ mark }: { readonly mark: RowMark }): VNode {
  switch (mark) {
    case "compaction":
      return <rect x="-6" y="-3" width="12" height="6" rx="1" />;
    case "summary":
      return <path d="M0-5.5L5.5 0L0 5.5L-5.5 0Z" />;
    case "damage":
      return <path class="cross" d="M-4-4L4 4M4-4L-4 4" />;
    case "user":
      return <circle r="5" />;
    case "assistant":
    case "error":
      return <circle r="3.8" />;
    case "tool":
    case "note":
      return <circle r="3" />;
  }
}
