/** One session in the list: what was asked, by which agent, for how long, at what cost. */
import type { VNode } from "preact";
import type { SessionItem } from "../api.ts";
import { chosenKeys, toggleChosen } from "./archiving.ts";
import { formatAge, formatCost, formatDuration, plural, shortPath } from "./model/formatting.ts";
import type { GroupLine, OneSessionLine, SessionLine } from "./model/session-groups.ts";
import { BranchSign } from "./branch-sign.tsx";
import { sessionPlace } from "./model/route.ts";
import { promptBelow, titleOf } from "./model/session-title.ts";
import { Link } from "./navigation.tsx";
import { catalog, isFresh, now } from "./session-catalog.ts";
import { Sparkline } from "./sparkline.tsx";

export function GroupHeading({ line }: { readonly line: SessionLine | undefined }): VNode | null {
  if (line?.kind !== "group") return null;
  const { name, count, cost }: GroupLine = line;
  return (
    <h2 class="group" title={name}>
      <bdi>{name === "" ? "No working directory" : name}</bdi>
      <span class="count">{plural(count, "session")}</span>
      {cost === 0 ? null : <span class="count">{formatCost(cost)}</span>}
    </h2>
  );
}

interface SessionLineProps {
  readonly line: OneSessionLine;
  readonly isCurrent: boolean;
  readonly isProjectShown: boolean;
  readonly onPoint: () => void;
}

export function SessionEntryLine(props: SessionLineProps): VNode {
  const { line, isCurrent, onPoint } = props;
  const { item, depth } = line;
  const { key } = item;
  return (
    <div
      class="session-line"
      data-archived={item.isArchived}
      data-current={isCurrent}
      style={{ paddingLeft: `${16 + depth * 24}px` }}
      onPointerEnter={onPoint}
    >
      {catalog.value.canWrite ? (
        <input
          type="checkbox"
          aria-label={`Choose ${titleOf(item)}`}
          checked={chosenKeys.value.has(key)}
          onChange={() => toggleChosen(key)}
        />
      ) : null}
      {item.isArchived ? (
        <span class="session-link">
          <LineFacts {...props} />
        </span>
      ) : (
        <Link class="session-link" to={sessionPlace(key)} title={item.path} isCurrent={isCurrent}>
          <LineFacts {...props} />
        </Link>
      )}
    </div>
  );
}

function LineFacts({ line: { item }, isProjectShown }: SessionLineProps): VNode {
  const { activity, agent, models, parentKey } = item;
  const below = promptBelow(item);
  return (
    <>
      <span class="session-texts">
        <span class="session-name">
          {parentKey === null ? null : (
            <span class="chip">{item.isSubagent ? "subagent" : "fork"}</span>
          )}
          {isFresh(item) ? <span class="chip live">live</span> : null}
          {item.isArchived ? <span class="chip">archived</span> : null}
          <span class={item.name === null ? "unnamed" : "named"}>{titleOf(item)}</span>
        </span>
        <span class="session-below">
          {isProjectShown && item.cwd !== "" ? (
            <bdi class="session-project" title={item.cwd}>
              {shortPath(item.cwd)}
            </bdi>
          ) : null}
          {below}
        </span>
      </span>
      <span class="session-who">
        <span class={`agent agent-${agent}`}>{agent}</span>
        <span class="session-model" title={models.join(", ")}>
          {models.length > 1 ? `${models[0] ?? ""} +${models.length - 1}` : models[0]}
        </span>
      </span>
      <span class="session-busy">
        {activity === null ? null : <Sparkline activity={activity} />}
      </span>
      <span class="session-counts number">
        {activity === null ? null : <ActivityCounts item={item} />}
      </span>
      <span class="session-money number">
        <span class="price" title={item.isEstimate ? "From list prices" : undefined}>
          {item.cost === null ? "" : formatCost(item.cost)}
        </span>
        <span class="age">{formatAge(item.modifiedMs, now.value)}</span>
      </span>
    </>
  );
}

function ActivityCounts({ item: { activity } }: { readonly item: SessionItem }): VNode | null {
  if (activity === null) return null;
  const { turns, branchCount, activeMs } = activity;
  return (
    <>
      <span>
        {plural(turns, "turn")}
        {branchCount > 1 ? (
          <b title={plural(branchCount, "branch", "branches")}>
            <BranchSign />
            {branchCount}
          </b>
        ) : null}
      </span>
      <span title="Active time">{formatDuration(activeMs)}</span>
    </>
  );
}
