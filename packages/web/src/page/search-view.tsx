/**
 * Search over all sessions. Hits appear as they are found, below the session that they are in, and
 * are narrowed down by agent, project, kind, role, tool and date.
 */
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { VNode } from "preact";
import type { SearchEnd, SearchHitItem } from "../api.ts";
import { messageOf, streamSearch } from "./client.ts";
import { moveKeys, useKeys } from "./keyboard.ts";
import { Failure } from "./loading.tsx";
import { formatAge, formatCount, plural, shortPath } from "./model/formatting.ts";
import { searchPlace, sessionPlace } from "./model/route.ts";
import { facetValues, facetsOf, toggledFacet } from "./model/search-facets.ts";
import type { SearchFacets } from "./model/search-facets.ts";
import { Link, refine } from "./navigation.tsx";
import { now } from "./session-catalog.ts";

/** Enough to see that the words must be narrowed down. */
const hitsMax = 1000;
/** Between two letters: the index answers faster than one types. */
const settleMs = 80;
/** Of one session, before it is opened. */
const hitsAtFirst = 5;

interface Found {
  readonly hits: readonly SearchHitItem[];
  readonly end: SearchEnd | null;
  readonly failure: string | null;
}

const nothing: Found = { hits: [], end: null, failure: null };
const found = signal<Found>(nothing);
/** Sessions of which all hits are shown. */
const openedKeys = signal<ReadonlySet<string>>(new Set());

interface SearchViewProps {
  readonly query: string;
  readonly isRegex: boolean;
  readonly facets: SearchFacets;
}

export function SearchView(props: SearchViewProps): VNode {
  useSearch(props);
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
      <SearchField {...props} onLeave={() => move(1)} />
      <Progress {...props} />
      <div class="search-body">
        <Facets {...props} />
        <div ref={list}>
          {groupsOf(found.value.hits).map((hits) => (
            <HitGroup key={hits[0]?.key} hits={hits} />
          ))}
        </div>
      </div>
    </section>
  );
}

function SearchField({
  query,
  isRegex,
  facets,
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
          refine(searchPlace({ query: value, isRegex, facets }))
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
          onChange={() => refine(searchPlace({ query, isRegex: !isRegex, facets }))}
        />
        Regular expression
      </label>
    </div>
  );
}

function useSearch({ query, isRegex, facets }: SearchViewProps): void {
  useEffect(() => {
    const stop = new AbortController();
    const values = {
      q: query,
      ...(isRegex ? { regex: 1 } : {}),
      ...facetValues(facets, Date.now()),
    };
    const timer = setTimeout(() => void runSearch(values, stop), settleMs);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [query, isRegex, JSON.stringify(facets)]);
}

async function runSearch(
  values: Readonly<Record<string, string | number>> & { readonly q: string },
  stop: AbortController,
): Promise<void> {
  found.value = nothing;
  openedKeys.value = new Set();
  if (values.q.trim() === "") return;
  try {
    await streamSearch(values, stop.signal, (lines) => {
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

function Progress({ query, facets }: SearchViewProps): VNode {
  const { hits, end, failure } = found.value;
  if (failure !== null) return <Failure text={failure} />;
  let text = "Searching…";
  if (query.trim() === "") {
    text = 'All words, in any order; "quoted words" as a phrase; or a regular expression.';
  } else if (end !== null && end.hits === 0) {
    const isNarrow = Object.keys(facets).length > 0;
    text = isNarrow ? "No hits with these filters." : "No hits for these words.";
  } else if (end !== null) {
    const sessions = plural(groupsOf(hits).length, "session");
    text = `${plural(end.hits, "hit")} in ${sessions}, of ${formatCount(end.searched)} searched`;
  } else if (hits.length === hitsMax) text = `The first ${formatCount(hitsMax)} hits`;
  return (
    <p class="count" role="status">
      {text}
    </p>
  );
}

/** Each choice narrows the search down, and is cleared when it is pressed again. */
function Facets({ query, isRegex, facets }: SearchViewProps): VNode | null {
  const shown = facetsOf(found.value.hits, facets, now.value);
  if (shown.length === 0) return null;
  return (
    <div class="facets">
      {shown.map(({ name, choices }) => (
        <div key={name} role="group" aria-label={name}>
          <h2>{name}</h2>
          {choices.map(({ value, count }) => (
            <button
              type="button"
              key={value}
              title={value}
              aria-pressed={facets[name] === value}
              onClick={() =>
                refine(searchPlace({ query, isRegex, facets: toggledFacet(facets, name, value) }))
              }
            >
              <span>{name === "project" ? shortPath(value) : value}</span>{" "}
              <span class="count">{formatCount(count)}</span>
            </button>
          ))}
        </div>
      ))}
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
  const { key, title, agent, project } = first;
  const isOpen = openedKeys.value.has(key);
  const shown = isOpen ? hits : hits.slice(0, hitsAtFirst);
  return (
    <section class="hits">
      <h2>
        <Link to={sessionPlace(key)}>{title}</Link>{" "}
        <span class={`agent agent-${agent}`}>{agent}</span>{" "}
        <span class="count">{shortPath(project)}</span>
      </h2>
      {shown.map((hit, index) => (
        <Link
          key={index}
          class="hit"
          to={{ kind: "session", key, row: null, entryId: hit.entryId }}
        >
          <span class="row-kind" data-role={hit.role} title={hit.tool ?? undefined}>
            {kindOf(hit)}
          </span>
          <span class="snippet">
            {hit.before}
            <mark>{hit.match}</mark>
            {hit.after}
          </span>
          <span class="number">{hit.timeMs === null ? "" : formatAge(hit.timeMs, now.value)}</span>
        </Link>
      ))}
      {shown.length === hits.length ? null : (
        <button
          type="button"
          class="more"
          onClick={() => (openedKeys.value = new Set([...openedKeys.value, key]))}
        >
          {hits.length - shown.length} more
        </button>
      )}
    </section>
  );
}

/** Who said it, or the tool that it is of. */
function kindOf({ kind, role, tool }: SearchHitItem): string {
  if (kind === "message") return role ?? kind;
  return (kind === "call" || kind === "result") && tool !== null ? tool : kind;
}
