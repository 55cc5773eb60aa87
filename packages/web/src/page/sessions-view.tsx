/** All sessions, by time or by project, with a preview of the one that is chosen. */
import { computed, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { VNode } from "preact";
import { archiveChosen, chosenKeys, restoreChosen, toggleChosen } from "./archiving.ts";
import { useKeys, moveKeys } from "./keyboard.ts";
import { Pending } from "./loading.tsx";
import { plural } from "./model/formatting.ts";
import { sessionLines } from "./model/session-groups.ts";
import type { Grouping, SessionLine } from "./model/session-groups.ts";
import { everySession, sessionPlace, sessionsPlace } from "./model/route.ts";
import type { ListFilter } from "./model/route.ts";
import { go, refine, route } from "./navigation.tsx";
import { attempt } from "./notice.tsx";
import { archivedItems, catalog, loadArchived, now, sessionItems } from "./session-catalog.ts";
import { GroupHeading, SessionEntryLine } from "./session-line.tsx";
import { SessionPreview } from "./session-preview.tsx";
import { VirtualList } from "./virtual-list.tsx";

/** Module state, so that Back returns to the same list. */
const currentKey = signal<string | null>(null);
/** Below the pointer; null: the preview is that of the current one. */
const pointedKey = signal<string | null>(null);

const filter = computed<ListFilter>(() => {
  const place = route.value;
  return (place.kind === "sessions" ? place.filter : undefined) ?? everySession;
});

const lines = computed(() => {
  const archived = filter.value.isArchivedShown ? (archivedItems.value ?? []) : [];
  // Ages change all the time, the parts of time hardly ever.
  const nowMs = Math.floor(now.value / 60_000) * 60_000;
  return sessionLines([...sessionItems.value, ...archived], filter.value, nowMs);
});

const groupHeight = 40;
const sessionHeight = 56;

export function SessionsView(): VNode {
  const shown = lines.value;
  const { isArchivedShown } = filter.value;
  useEffect(() => {
    if (isArchivedShown) attempt(loadArchived);
  }, [isArchivedShown]);
  const index = shown.findIndex((line) => keyOf(line) === currentKey.value);
  const move = (step: number): void => {
    let next = index + step;
    while (shown[next]?.kind === "group") next += step;
    const line = shown[next];
    if (line?.kind !== "session") return;
    currentKey.value = line.item.key;
    pointedKey.value = null;
  };
  useKeys({
    ...moveKeys(move),
    Enter: () => {
      const line = shown[index];
      if (line?.kind === "session" && !line.item.isArchived) go(sessionPlace(line.item.key));
    },
    "/": focusFilter,
    p: () => refine(sessionsPlace({ ...filter.value, by: other(filter.value.by) })),
    x: () => {
      if (catalog.value.canWrite && currentKey.value !== null) toggleChosen(currentKey.value);
    },
  });
  const sessions = shown.flatMap((line) => (line.kind === "session" ? [line.item] : []));
  const previewed =
    sessions.find(({ key }) => key === (pointedKey.value ?? currentKey.value)) ?? sessions[0];
  return (
    <section class="sessions">
      <h1 class="visually-hidden">Sessions</h1>
      <FilterBar count={sessions.length} />
      <div class="sessions-body">
        {catalog.value.isLoaded ? (
          <ListOrEmpty lines={shown} current={index < 0 ? null : index} />
        ) : (
          <ListPending />
        )}
        {previewed === undefined ? null : <SessionPreview item={previewed} />}
      </div>
    </section>
  );
}

function other(by: Grouping): Grouping {
  return by === "time" ? "project" : "time";
}

function focusFilter(): void {
  document.querySelector<HTMLInputElement>(".filter input")?.focus();
}

function keyOf(line: SessionLine | undefined): string {
  if (line === undefined) return "";
  return line.kind === "group" ? `group ${line.name}` : line.item.key;
}

/** The shape of the list before it is there. */
function ListPending(): VNode {
  if (catalog.value.failure !== null) return <Pending failure={catalog.value.failure} />;
  return (
    <div class="list-pending" role="status" aria-label="Loading sessions">
      {Array.from({ length: 8 }, (_, at) => (
        <span key={at} class="skeleton-bar" />
      ))}
    </div>
  );
}

interface ListProps {
  readonly lines: readonly SessionLine[];
  readonly current: number | null;
}

function ListOrEmpty({ lines: shown, current }: ListProps): VNode {
  if (shown.length === 0) return <NoSessions />;
  return (
    <VirtualList
      label={`Sessions by ${filter.value.by}`}
      count={shown.length}
      heightOf={(at) => (shown[at]?.kind === "group" ? groupHeight : sessionHeight)}
      keyOf={(at) => keyOf(shown[at])}
      render={(at) => {
        const line = shown[at];
        return line?.kind === "session" ? (
          <SessionEntryLine
            line={line}
            isCurrent={line.item.key === currentKey.value}
            isProjectShown={filter.value.by === "time"}
            onPoint={() => (pointedKey.value = line.item.key)}
          />
        ) : (
          <GroupHeading line={line} />
        );
      }}
      chosen={current}
    />
  );
}

function NoSessions(): VNode {
  const isFiltered = filter.value.text !== "" || filter.value.agents.length > 0;
  if (!catalog.value.isComplete) return <p class="pending">Reading sessions…</p>;
  if (!isFiltered) {
    return (
      <p class="pending">
        There are no sessions here yet. Start an agent, or give <code>branchlog serve</code> a
        directory.
      </p>
    );
  }
  return (
    <p class="pending">
      No sessions match these words.{" "}
      <button type="button" onClick={() => refine({ kind: "sessions" })}>
        Show all
      </button>
    </p>
  );
}

function FilterBar({ count }: { readonly count: number }): VNode {
  const known = [...new Set(sessionItems.value.map(({ agent }) => agent))].sort();
  const { text, agents, by, isArchivedShown } = filter.value;
  const change = (part: Partial<ListFilter>): void =>
    refine(sessionsPlace({ ...filter.value, ...part }));
  const toggle = (agent: string): void => {
    const isOn = agents.includes(agent);
    change({ agents: isOn ? agents.filter((one) => one !== agent) : [...agents, agent] });
  };
  return (
    <div class="filter">
      <input
        type="search"
        placeholder="Filter by title, prompt, project, model"
        aria-label="Filter sessions"
        value={text}
        onInput={({ currentTarget }) => change({ text: currentTarget.value })}
        onKeyDown={({ key, currentTarget }) => {
          if (key === "Escape" || key === "Enter") currentTarget.blur();
        }}
      />
      {known.length < 2
        ? null
        : known.map((agent) => (
            <button
              type="button"
              key={agent}
              class={`agent agent-${agent}`}
              aria-pressed={agents.includes(agent)}
              onClick={() => toggle(agent)}
            >
              {agent}
            </button>
          ))}
      <button
        type="button"
        aria-pressed={by === "project"}
        title="By project, or by time (p)"
        onClick={() => change({ by: other(by) })}
      >
        By project
      </button>
      <button
        type="button"
        aria-pressed={isArchivedShown}
        onClick={() => change({ isArchivedShown: !isArchivedShown })}
      >
        Archived
      </button>
      <ChosenActions />
      <span class="count" role="status">
        {plural(count, "session")}
        {catalog.value.isComplete ? "" : ", reading…"}
        {catalog.value.isLoaded && !catalog.value.canWrite ? " · read-only" : ""}
      </span>
    </div>
  );
}

/** What can be done with the sessions that are ticked. */
function ChosenActions(): VNode | null {
  const chosen = chosenKeys.value;
  if (chosen.size === 0) return null;
  const items = [...sessionItems.value, ...(archivedItems.value ?? [])];
  const archived = items.filter(({ key, isArchived }) => isArchived && chosen.has(key));
  const present = items.filter(({ key, isArchived }) => !isArchived && chosen.has(key));
  return (
    <span class="buttons">
      {present.length === 0 ? null : (
        <button type="button" class="primary" onClick={() => archiveChosen(present)}>
          Archive {present.length}
        </button>
      )}
      {archived.length === 0 ? null : (
        <button type="button" class="primary" onClick={() => restoreChosen(archived)}>
          Restore {archived.length}
        </button>
      )}
      <button type="button" onClick={() => (chosenKeys.value = new Set())}>
        Untick
      </button>
    </span>
  );
}
