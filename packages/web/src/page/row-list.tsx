/** The rows of a session that are in view, in an element that scrolls over all of them. */
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { VNode } from "preact";
import type { Row, SessionFacts } from "../api.ts";
import { pathLanes } from "./model/lane-geometry.ts";
import type { LaneSize } from "./model/lane-geometry.ts";
import { drawnRows, elementHeight } from "./model/scroll-scale.ts";
import { RowLine, SkeletonRow, rowElementId } from "./row-line.tsx";
import { rowHeight } from "./row-scroller.ts";
import type { RowScroller } from "./row-scroller.ts";
import type { RowStore } from "./row-store.ts";
import { now } from "./session-catalog.ts";

const overscan = 12;
/** How far below the view the next entry of the path is looked for. */
const lookAhead = 600;
const narrowWidth = 640;

interface RowListProps {
  readonly store: RowStore;
  readonly facts: SessionFacts;
  readonly scroller: RowScroller;
  readonly active: number;
  readonly onOpen: (row: number) => void;
}

export function RowList(props: RowListProps): VNode {
  const { store, facts, scroller, active } = props;
  const element = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (element.current === null) return undefined;
    return scroller.attach(element.current);
  }, [scroller]);
  useLayoutEffect(() => scroller.setRowCount(facts.rowCount), [scroller, facts.rowCount]);

  const scale = { ...scroller.scale, rowCount: facts.rowCount };
  const { first, end, shift } = drawnRows(scale, scroller.offset.value, overscan);
  const version = store.version.value;
  useEffect(() => store.require(first, end), [store, version, first, end]);
  return (
    <div class="rows-frame">
      <div
        class="rows"
        ref={element}
        role="tree"
        tabIndex={0}
        aria-label="Entries"
        aria-activedescendant={active >= first && active < end ? rowElementId(active) : undefined}
      >
        <div class="rows-range" role="presentation" style={{ height: `${elementHeight(scale)}px` }}>
          <div
            class="rows-drawn"
            role="presentation"
            style={{ transform: `translateY(${Math.round(scroller.scrollTop + shift)}px)` }}
          >
            {drawn(props, first, end)}
          </div>
        </div>
      </div>
    </div>
  );
}

function drawn({ store, facts, active, onOpen }: RowListProps, first: number, end: number) {
  const rows: (Row | undefined)[] = [...store.rowsFrom(first, end - first)];
  const lanes = pathLanes(rows, store.rowsFrom(end, lookAhead));
  const isNarrow = window.innerWidth < narrowWidth;
  const size: LaneSize = {
    laneCount: facts.tree?.laneCount ?? 1,
    laneWidth: isNarrow ? 10 : 16,
    rowHeight,
  };
  return rows.map((row, index) =>
    row === undefined ? (
      <SkeletonRow key={first + index} row={first + index} rowCount={facts.rowCount} />
    ) : (
      <RowLine
        key={row.row}
        row={row}
        pathLane={lanes[index] ?? null}
        size={size}
        rowCount={facts.rowCount}
        isActive={row.row === active}
        nowMs={now.value}
        onOpen={onOpen}
      />
    ),
  );
}
