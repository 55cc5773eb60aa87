/** Search over all sessions. Hits appear as they are found, below the session that they are in. */
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { VNode } from "preact";
import type { SearchEnd, SearchHitItem } from "../api.ts";
import { messageOf, streamSearch } from "./client.ts";
import { moveKeys, useKeys } from "./keyboard.ts";
import { Failure } from "./loading.tsx";
import { formatAge, formatCount, plural } from "./model/formatting.ts";
import { Link, refine } from "./navigation.tsx";
import { now } from "./session-catalog.ts";

/** Enough to see that the words must be narrowed down. */
const hitsMax = 1000;
/** Between two letters: the index answers faster than one types. */
const settleMs = 80;

interface Found {
  readonly hits: readonly SearchHitItem[];
  readonly end: SearchEnd | null;
  readonly failure: string | null;
}

const nothing: Found = { hits: [], end: null, failure: null };
const found = signal<Found>(nothing);
/** The kind that is shown alone. */
const chosenKind = signal<string | null>(null);

interface SearchViewProps {
  readonly query: string;
  readonly isRegex: boolean;
}

export function SearchView({ query, isRegex }: SearchViewProps): VNode {
  useSearch(query, isRegex);
  const list = useRef<HTMLDivElement>(null);
  const move = (step: number): void => {
    const links = [...(list.current?.querySelectorAll<HTMLElement>("a.hit") ?? [])];
    const at = links.findIndex((link) => link === document.activeElement);
    links[Math.max(0, Math.min(at + step, links.length - 1))]?.focus();
  };
  useKeys({
    ...moveKeys(move),
    "/": () => document.querySelector<HTMLInputElement>(".filter input")?.focus(),
  });
  return (
    <section class="page search">
      <h1 class="visually-hidden">Search</h1>
      <SearchField query={query} isRegex={isRegex} onLeave={() => move(1)} />
      <Progress query={query} />
      <Kinds />
      <div ref={list}>
        {groupsOf(shownHits()).map((hits) => (
          <HitGroup key={hits[0]?.key} hits={hits} />
        ))}
      </div>
    </section>
  );
}

function SearchField({
  query,
  isRegex,
  onLeave,
}: SearchViewProps & { readonly onLeave: () => void }) {
  return (
    <div class="filter">
      <input
        type="search"
        placeholder="Search in all sessions"
        aria-label="Search in all sessions"
        value={query}
        autoFocus
        onInput={({ currentTarget: { value } }) =>
          refine({ kind: "search", query: value, isRegex })
        }
        onKeyDown={(event) => {
          if (event.key !== "Enter" && event.key !== "ArrowDown") return;
          event.preventDefault();
          onLeave();
        }}
      />
      <label>
        <input
          type="checkbox"
          checked={isRegex}
          onChange={() => refine({ kind: "search", query, isRegex: !isRegex })}
        />
        Regular expression
      </label>
    </div>
  );
}

function useSearch(query: string, isRegex: boolean): void {
  useEffect(() => {
    const stop = new AbortController();
    const timer = setTimeout(() => void runSearch(query, isRegex, stop), settleMs);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [query, isRegex]);
}

async function runSearch(query: string, isRegex: boolean, stop: AbortController): Promise<void> {
  found.value = nothing;
  chosenKind.value = null;
  if (query.trim() === "") return;
  try {
    await streamSearch({ q: query, ...(isRegex ? { regex: 1 } : {}) }, stop.signal, (lines) => {
      const hits = lines.filter((line) => "entryId" in line);
      const end = lines.find((line) => "searched" in line) ?? found.value.end;
      const all = [...found.value.hits, ...hits].slice(0, hitsMax);
      found.value = { hits: all, end, failure: null };
      if (all.length === hitsMax) stop.abort();
    });
  } catch (error) {
    if (!stop.signal.aborted) found.value = { ...found.value, failure: messageOf(error) };
  }
}

function Progress({ query }: { readonly query: string }): VNode {
  const { hits, end, failure } = found.value;
  if (failure !== null) return <Failure text={failure} />;
  let text = "Searching…";
  if (query.trim() === "") text = "Words, or a regular expression, in any entry of any session.";
  else if (end !== null) {
    text = `${plural(end.hits, "hit")} in ${plural(end.searched, "session")} searched`;
  } else if (hits.length === hitsMax) text = `The first ${formatCount(hitsMax)} hits`;
  return (
    <p class="count" role="status">
      {text}
    </p>
  );
}

function shownHits(): readonly SearchHitItem[] {
  const kind = chosenKind.value;
  const { hits } = found.value;
  return kind === null ? hits : hits.filter((hit) => hit.kind === kind);
}

/** How many hits each kind has; one of them can be shown alone. */
function Kinds(): VNode | null {
  const counts = new Map<string, number>();
  for (const { kind } of found.value.hits) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  if (counts.size < 2) return null;
  return (
    <div class="facets" role="group" aria-label="Kinds of hits">
      {[...counts].map(([kind, count]) => {
        const isChosen = chosenKind.value === kind;
        const toggle = (): void => {
          chosenKind.value = isChosen ? null : kind;
        };
        return (
          <button type="button" key={kind} aria-pressed={isChosen} onClick={toggle}>
            {kind} <span class="count">{formatCount(count)}</span>
          </button>
        );
      })}
    </div>
  );
}

function groupsOf(hits: readonly SearchHitItem[]): readonly (readonly SearchHitItem[])[] {
  const groups = new Map<string, SearchHitItem[]>();
  for (const hit of hits) {
    const group = groups.get(hit.key);
    if (group === undefined) groups.set(hit.key, [hit]);
    else group.push(hit);
  }
  return [...groups.values()];
}

function HitGroup({ hits }: { readonly hits: readonly SearchHitItem[] }): VNode | null {
  const [first] = hits;
  if (first === undefined) return null;
  return (
    <section class="hits">
      <h2>
        {first.title} <span class="count">{hits.length}</span>
      </h2>
      {hits.map((hit, index) => (
        <Link
          key={index}
          class="hit"
          to={{ kind: "session", key: hit.key, row: null, entryId: hit.entryId }}
        >
          <span class="row-kind">{hit.kind}</span>
          <span class="snippet">
            {hit.before}
            <mark>{hit.match}</mark>
            {hit.after}
          </span>
          <span class="number">{hit.timeMs === null ? "" : formatAge(hit.timeMs, now.value)}</span>
        </Link>
      ))}
    </section>
  );
}
