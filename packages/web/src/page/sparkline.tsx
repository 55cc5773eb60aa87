/** When a session was busy: a bar for each part of its time, as high as it has entries. */
import type { VNode } from "preact";
import type { SessionActivity } from "../api.ts";
import { formatDuration } from "./model/formatting.ts";

const partWidth = 4;
const height = 24;

export function Sparkline({ activity }: { readonly activity: SessionActivity }): VNode {
  const { counts, partMs } = activity;
  const most = Math.max(1, ...counts);
  const path = counts
    .map((count, at) => {
      if (count === 0) return "";
      // Few entries beside many are still seen.
      const barHeight = Math.max(2, Math.sqrt(count / most) * height);
      return `M${at * partWidth + 1.5} ${height}v-${barHeight.toFixed(1)}`;
    })
    .join("");
  const label = `Entries in parts of ${formatDuration(partMs)}`;
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${24 * partWidth} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <path d={path} />
    </svg>
  );
}
