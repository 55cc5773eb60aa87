/** All sessions, by project, with forks and subagents below their parent. */
import { computed, signal } from "@preact/signals";
import type { VNode } from "preact";
import type { SessionItem } from "../api.ts";
import { moveKeys, useKeys } from "./keyboard.ts";
import { Pending } from "./loading.tsx";
import { formatAge, formatBytes, formatCount, plural } from "./model/formatting.ts";
import { sessionLines } from "./model/session-groups.ts";
import type { SessionLine } from "./model/session-groups.ts";
import { sessionPlace } from "./model/route.ts";
import { Link, go } from "./navigation.tsx";
import { catalog, isFresh, now, sessionItems, titleOf } from "./session-catalog.ts";
import { VirtualList } from "./virtual-list.tsx";

type Agent = SessionItem["agent"];

/** Module state, so that Back returns to the same list. */
const filterText = signal("");
const agents = signal<ReadonlySet<Agent>>(new Set());
const chosenKey = signal<string | null>(null);

const lines = computed(() =>
  sessionLines(sessionItems.value, { text: filterText.value, agents: agents.value }),
);

const projectHeight = 44;
const sessionHeight = 40;

export function SessionsView(): VNode {
  const shown = lines.value;
  const index = shown.findIndex((line) => keyOf(line) === chosenKey.value);
  const move = (step: number): void => {
    let next = index + step;
    while (shown[next]?.kind === "project") next += step;
    const line = shown[next];
    if (line?.kind === "session") chosenKey.value = line.item.key;
  };
  useKeys({
    ...moveKeys(move),
    Enter: () => {
      if (chosenKey.value !== null) go(sessionPlace(chosenKey.value));
    },
    "/": () => document.querySelector<HTMLInputElement>(".filter input")?.focus(),
  });
  return (
    <section class="sessions">
      <h1 class="visually-hidden">Sessions</h1>
      <Filter count={shown.filter(({ kind }) => kind === "session").length} />
      {catalog.value.isLoaded ? (
        <VirtualList
          label="Sessions by project"
          count={shown.length}
          heightOf={(at) => (shown[at]?.kind === "project" ? projectHeight : sessionHeight)}
          keyOf={(at) => keyOf(shown[at])}
          render={(at) => <LineView line={shown[at]} />}
          chosen={index < 0 ? null : index}
        />
      ) : (
        <Pending failure={catalog.value.failure} />
      )}
    </section>
  );
}

function keyOf(line: SessionLine | undefined): string {
  if (line === undefined) return "";
  return line.kind === "project" ? `project ${line.cwd}` : line.item.key;
}

function Filter({ count }: { readonly count: number }): VNode {
  const known = [...new Set(sessionItems.value.map(({ agent }) => agent))].sort();
  return (
    <div class="filter">
      <input
        type="search"
        placeholder="Filter sessions"
        aria-label="Filter sessions"
        value={filterText.value}
        onInput={({ currentTarget }) => (filterText.value = currentTarget.value)}
        onKeyDown={({ key, currentTarget }) => {
          if (key === "Escape" || key === "Enter") currentTarget.blur();
        }}
      />
      {known.length < 2 ? null : known.map((agent) => <AgentChip key={agent} agent={agent} />)}
      <span class="count" role="status">
        {plural(count, "session")}
        {catalog.value.isComplete ? "" : ", reading…"}
      </span>
    </div>
  );
}

function AgentChip({ agent }: { readonly agent: Agent }): VNode {
  const isOn = agents.value.has(agent);
  const toggle = (): void => {
    const next = new Set(agents.value);
    if (isOn) next.delete(agent);
    else next.add(agent);
    agents.value = next;
  };
  return (
    <button type="button" class={`agent agent-${agent}`} aria-pressed={isOn} onClick={toggle}>
      {agent}
    </button>
  );
}

function LineView({ line }: { readonly line: SessionLine | undefined }): VNode {
  if (line?.kind !== "session") {
    return (
      <h2 class="project" title={line?.cwd}>
        <bdi>{line?.cwd}</bdi> <span class="count">{line?.count}</span>
      </h2>
    );
  }
  const { item, depth } = line;
  return (
    <Link
      class="session-line"
      to={sessionPlace(item.key)}
      title={item.path}
      isCurrent={item.key === chosenKey.value}
    >
      <span class="session-name" style={{ paddingLeft: `${depth * 22}px` }}>
        {depth === 0 ? null : <span class="below">└ </span>}
        {item.parentKey === null ? null : (
          <span class="chip">{item.isSubagent ? "subagent" : "fork"}</span>
        )}
        <span class={item.name === null ? "unnamed" : "named"}>{titleOf(item)}</span>
      </span>
      {isFresh(item) ? <span class="chip live">live</span> : null}
      <span class={`agent agent-${item.agent}`}>{item.agent}</span>
      <span class="number messages" title={plural(item.messageCount, "message")}>
        {formatCount(item.messageCount)}
      </span>
      <span class="number size">{formatBytes(item.sizeBytes)}</span>
      <span class="number age">{formatAge(item.modifiedMs, now.value)}</span>
    </Link>
  );
}
