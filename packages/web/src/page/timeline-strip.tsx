/** How full the context was along a conversation: compactions as cliffs, errors as marks. */
import type { VNode } from "preact";
import type { Timeline, TimelinePoint } from "../api.ts";
import { fetchTimeline } from "./client.ts";
import { useLoaded } from "./loading.tsx";
import { formatCount, formatTime, plural } from "./model/formatting.ts";

interface TimelineProps {
  readonly sessionKey: string;
  readonly tip: number | null;
  readonly generation: number;
  readonly sectionCount: number;
  /** The section that is read. */
  readonly active: number;
  readonly onOpen: (section: number) => void;
}

const [width, height] = [1000, 40];
/** A session that grows asks again, but not for each of its entries. */
const settleMs = 250;
const stepSections = 10;
/** Of fewer answers it says nothing. */
const pointsMin = 6;

export function TimelineStrip(props: TimelineProps): VNode | null {
  const { sessionKey, tip, generation, sectionCount, active, onOpen } = props;
  const name = [sessionKey, tip, generation, Math.ceil(sectionCount / stepSections)].join("/");
  const { value } = useLoaded(name, () => fetchTimeline(sessionKey, tip), settleMs);
  const known = value?.points.filter(({ tokens }) => tokens !== null) ?? [];
  if (value === null || known.length < pointsMin) return null;
  const { points, compactions } = value;
  const most = Math.max(...points.map(({ tokens }) => tokens ?? 0));
  const x = (section: number): number => ((section + 0.5) / Math.max(1, sectionCount)) * width;
  const open = ({ offsetX, currentTarget }: MouseEvent & { currentTarget: SVGElement }): void => {
    const share = offsetX / Math.max(1, currentTarget.clientWidth);
    onOpen(nearest(value, share * sectionCount));
  };
  return (
    <div class="timeline">
      <svg
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={summaryOf(value, most)}
        onClick={open}
      >
        <title>{summaryOf(value, most)}</title>
        <path class="timeline-area" d={areaOf(points, x, most)} />
        {compactions.map(({ section, row }) => (
          <path key={row} class="timeline-compaction" d={`M${x(section)} 0V${height}`} />
        ))}
        {points
          .filter(({ isError }) => isError)
          .map(({ section, row }) => (
            <path key={row} class="timeline-error" d={`M${x(section)} ${height - 8}V${height}`} />
          ))}
        <path class="timeline-active" d={`M${x(active)} 0V${height}`} />
      </svg>
      <span class="timeline-most">{formatCount(most)} tokens</span>
    </div>
  );
}

function summaryOf({ points, compactions }: Timeline, most: number): string {
  const [first, last] = [points[0], points.at(-1)];
  return [
    `Context over the session: at most ${formatCount(most)} tokens`,
    last === undefined || last.tokens === null ? null : `at the end ${formatCount(last.tokens)}`,
    plural(compactions.length, "compaction"),
    `${formatTime(first?.timeMs ?? 0)} to ${formatTime(last?.timeMs ?? 0)}`,
  ]
    .filter((part) => part !== null)
    .join(", ");
}

function areaOf(
  points: readonly TimelinePoint[],
  x: (section: number) => number,
  most: number,
): string {
  const known = points.flatMap(({ section, tokens }) =>
    tokens === null ? [] : [{ at: x(section), up: height - (tokens / most) * (height - 4) }],
  );
  const line = known.map(({ at, up }) => `L${at.toFixed(1)} ${up.toFixed(1)}`).join("");
  return `M${known[0]?.at.toFixed(1) ?? 0} ${height}${line}V${height}Z`;
}

/** The nearest mark is used. */
function nearest({ compactions, sectionCount }: Timeline, wanted: number): number {
  const reach = sectionCount / 150;
  const mark = compactions.find(({ section }) => Math.abs(section + 0.5 - wanted) < reach);
  return mark?.section ?? Math.max(0, Math.min(Math.floor(wanted), sectionCount - 1));
}
