/**
 * The whole session in the height of the view, beside the rows: where branches start, where labels
 * are, and where the leaf is. A click goes there.
 */
import { useMemo } from "preact/hooks";
import type { VNode } from "preact";
import type { SessionFacts } from "../api.ts";
import type { RowScroller } from "./row-scroller.ts";

/** The strip is stretched to the height of the view; lines in it keep their width. */
const unitHeight = 1000;

interface OverviewProps {
  readonly facts: SessionFacts;
  readonly active: number;
  readonly scroller: RowScroller;
}

export function OverviewStrip({ facts, active, scroller }: OverviewProps): VNode {
  const { rowCount, branchRows, labels, leafRow } = facts;
  const branches = useMemo(() => ticks(branchRows, rowCount, "H5"), [facts]);
  const labelled = useMemo(
    () =>
      ticks(
        labels.map(({ row }) => row),
        rowCount,
        "m5 0h5",
      ),
    [facts],
  );
  const jump = (event: MouseEvent): void => {
    if (!(event.currentTarget instanceof Element)) return;
    const { top, height } = event.currentTarget.getBoundingClientRect();
    scroller.reveal(Math.floor(((event.clientY - top) / height) * rowCount), true);
  };
  const { viewHeight, rowHeight } = scroller.scale;
  const shown = Math.min(1, viewHeight / Math.max(1, rowCount * rowHeight));
  const from = scroller.offset.value / Math.max(1, rowCount * rowHeight);
  return (
    <svg
      class="overview"
      viewBox={`0 0 10 ${unitHeight}`}
      preserveAspectRatio="none"
      aria-hidden="true"
      onClick={jump}
    >
      <rect
        class="overview-view"
        width="10"
        y={from * unitHeight}
        height={Math.max(4, shown * unitHeight)}
      />
      <path class="overview-branches" d={branches} />
      <path class="overview-labels" d={labelled} />
      <path class="overview-active" d={ticks([active], rowCount, "H10")} />
      {leafRow === null ? null : (
        <path class="overview-leaf" d={ticks([leafRow], rowCount, "H10")} />
      )}
    </svg>
  );
}

/** A short line at each row; `line` is drawn from the left side of the strip. */
function ticks(rows: readonly number[], rowCount: number, line: string): string {
  if (rowCount === 0) return "";
  const places = rows.map((row) => Math.round(((row + 0.5) / rowCount) * unitHeight));
  return [...new Set(places)].map((y) => `M0 ${y}${line}`).join("");
}
