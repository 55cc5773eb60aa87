/** What a turn, or a branch, took and changed. */
import type { ComponentChildren, VNode } from "preact";
import type { TurnHead } from "../api.ts";
import {
  formatCost,
  formatCount,
  formatDuration,
  formatShortTime,
  formatTime,
  plural,
  shortPath,
} from "./model/formatting.ts";
import { now } from "./session-catalog.ts";

interface HeadProps {
  readonly head: TurnHead;
}

interface HeadFactsProps extends HeadProps {
  /** What comes first. */
  readonly children?: ComponentChildren;
}

export function HeadFacts({ head, children }: HeadFactsProps): VNode {
  const { usage } = head;
  // As in the header and in every command; what was cached is named apart.
  const tokens = usage.input + usage.output;
  const about = head.isPartial ? "≥ " : "";
  const split = [
    `${formatCount(usage.input)} in`,
    `${formatCount(usage.output)} out`,
    `${formatCount(usage.cacheRead)} read from cache`,
    `${formatCount(usage.cacheWrite)} written to cache`,
    ...head.models,
  ];
  return (
    <p class="turn-facts">
      {children}
      <time title={formatTime(head.startedMs)}>{formatShortTime(head.startedMs, now.value)}</time>
      {head.durationMs > 0 ? <span>{formatDuration(head.durationMs)}</span> : null}
      {head.calls > 0 ? <span>{plural(head.calls, "call")}</span> : null}
      {head.errors > 0 ? (
        <span class="failed">
          {about}
          {head.errors} failed
        </span>
      ) : null}
      {tokens > 0 ? (
        <span title={split.join(", ")}>
          {about}
          {formatCount(tokens)} tokens
        </span>
      ) : null}
      {usage.cost === null ? null : (
        <strong class="turn-cost" title={head.isEstimate ? "from list prices" : "as stored"}>
          {about}
          {head.isEstimate ? "~" : ""}
          {formatCost(usage.cost)}
        </strong>
      )}
    </p>
  );
}

const filesMax = 6;

export function Files({ head: { files, isPartial } }: HeadProps): VNode | null {
  if (files.length === 0) return null;
  const more = files.length - filesMax;
  const rest = isPartial
    ? `≥ ${plural(files.length, "file")}`
    : more > 0
      ? plural(more, "more file")
      : "";
  return (
    <p class="turn-files">
      {files.slice(0, filesMax).map(({ path, added, removed }) => (
        <span key={path} title={path}>
          {shortPath(path).replace("…/", "")} <span class="added">+{added}</span>{" "}
          <span class="removed">−{removed}</span>
        </span>
      ))}
      {rest === "" ? null : <span>{rest}</span>}
    </p>
  );
}
