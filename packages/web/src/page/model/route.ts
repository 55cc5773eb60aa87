/**
 * The places of the page and their addresses. Every place has exactly one address, so that a link,
 * the history of the browser and the palette all lead to the same view.
 */

import type { CostFilter, CostGrouping } from "../../api.ts";
import { facetNames } from "./search-facets.ts";
import type { SearchFacets } from "./search-facets.ts";
import { noFilter } from "./session-groups.ts";
import type { SessionFilter } from "./session-groups.ts";

export type CostDimension = CostGrouping;

export type Route =
  /** Without a filter: all of them. */
  | { readonly kind: "sessions"; readonly filter?: ListFilter }
  /** The conversation; `entryId` is resolved to a row by the server first. */
  | {
      readonly kind: "session";
      readonly key: string;
      readonly row: number | null;
      readonly entryId: string | null;
    }
  /** The rows of the file; `row` is the open entry. */
  | { readonly kind: "entries"; readonly key: string; readonly row: number | null }
  | { readonly kind: "context"; readonly key: string; readonly row: number }
  | { readonly kind: "compare"; readonly key: string; readonly from: number; readonly to: number }
  | {
      readonly kind: "search";
      readonly query: string;
      readonly isRegex: boolean;
      /** Without them: all hits. */
      readonly facets?: SearchFacets;
    }
  /** Without a filter: of all sessions and days. */
  | { readonly kind: "costs"; readonly by: CostDimension; readonly filter?: CostFilter }
  | { readonly kind: "absent"; readonly path: string };

/** What of the list is shown, and how. */
export interface ListFilter extends SessionFilter {
  readonly isArchivedShown: boolean;
}

export const everySession: ListFilter = { ...noFilter, isArchivedShown: false };

/** The list, with a filter in its address: a bookmark keeps it. */
export function sessionsPlace(filter: ListFilter): Route {
  const isEverything = routeQuery(filterQuery(filter)) === "";
  return isEverything ? { kind: "sessions" } : { kind: "sessions", filter };
}

function filterIn(search: URLSearchParams): ListFilter {
  return {
    text: search.get("q") ?? "",
    agents: (search.get("agent") ?? "").split(",").filter(Boolean),
    by: search.get("by") === "project" ? "project" : "time",
    isArchivedShown: search.get("archived") === "1",
  };
}

function filterQuery(filter: ListFilter = everySession): Query {
  return {
    q: filter.text,
    agent: filter.agents.join(","),
    by: filter.by === "time" ? null : filter.by,
    archived: filter.isArchivedShown ? 1 : null,
  };
}

/** The entries of a session, with one open or without. */
export function entriesPlace(key: string, row: number | null = null): Route {
  return { kind: "entries", key, row };
}

/** The conversation of a session, at an entry or at its end. */
export function sessionPlace(key: string, row: number | null = null): Route {
  return { kind: "session", key, row, entryId: null };
}

export const costDimensions: readonly CostDimension[] = [
  "project",
  "day",
  "model",
  "agent",
  "session",
  "turn",
];

/** The place that an address names; `absent` for an unknown address. */
export function parseRoute(path: string, query: string): Route {
  const search = new URLSearchParams(query);
  const parts = path.split("/").filter((part) => part !== "");
  const [first, encodedKey, view] = parts;
  if (first === undefined) return sessionsPlace(filterIn(search));
  if (parts.length === 1 && first === "search") {
    return searchRoute(search);
  }
  if (parts.length === 1 && first === "costs") return costsPlace(search);
  const key = decoded(encodedKey);
  if (first !== "s" || key === null || parts.length > 3) return { kind: "absent", path };
  return sessionRoute(key, view, search) ?? { kind: "absent", path };
}

function sessionRoute(
  key: string,
  view: string | undefined,
  search: URLSearchParams,
): Route | undefined {
  const row = rowOf(search, "row");
  if (view === "entries") return entriesPlace(key, row);
  if (view === undefined) return { kind: "session", key, row, entryId: search.get("id") };
  if (view === "context" && row !== null) return { kind: "context", key, row };
  const from = rowOf(search, "from");
  const to = rowOf(search, "to");
  if (view === "compare" && from !== null && to !== null) return { kind: "compare", key, from, to };
  return undefined;
}

/** The address of a place, relative to the server. */
export function routePath(route: Route): string {
  switch (route.kind) {
    case "sessions":
      return withQuery("/", filterQuery(route.filter));
    case "session":
      return withQuery(sessionPath(route.key), { row: route.row, id: route.entryId });
    case "entries":
      return withQuery(`${sessionPath(route.key)}/entries`, { row: route.row });
    case "context":
      return withQuery(`${sessionPath(route.key)}/context`, { row: route.row });
    case "compare":
      return withQuery(`${sessionPath(route.key)}/compare`, { from: route.from, to: route.to });
    case "search":
      return withQuery("/search", {
        q: route.query,
        regex: route.isRegex ? 1 : null,
        ...route.facets,
      });
    case "costs":
      return withQuery("/costs", {
        by: route.by,
        day: route.filter?.day ?? null,
        session: route.filter?.session ?? null,
      });
    case "absent":
      return route.path;
  }
}

function sessionPath(key: string): string {
  return `/s/${encodeURIComponent(key)}`;
}

type Query = Readonly<Record<string, string | number | null>>;

function withQuery(path: string, values: Query): string {
  const text = routeQuery(values);
  return text === "" ? path : `${path}?${text}`;
}

function routeQuery(values: Query): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== null && value !== "") search.set(name, String(value));
  }
  return search.toString();
}

function rowOf(search: URLSearchParams, name: string): number | null {
  const text = search.get(name);
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : null;
}

function searchRoute(search: URLSearchParams): Route {
  const chosen = facetNames.flatMap((name) => {
    const value = search.get(name);
    return value === null || value === "" ? [] : [[name, value] as const];
  });
  return searchPlace({
    query: search.get("q") ?? "",
    isRegex: search.get("regex") === "1",
    facets: Object.fromEntries(chosen),
  });
}

export function searchPlace(asked: {
  readonly query: string;
  readonly isRegex: boolean;
  readonly facets: SearchFacets;
}): Route {
  const { query, isRegex, facets } = asked;
  const place = { kind: "search", query, isRegex } as const;
  return Object.keys(facets).length === 0 ? place : { ...place, facets };
}

function costsPlace(search: URLSearchParams): Route {
  const [day, session] = [search.get("day"), search.get("session")];
  const filter = { ...(day ? { day } : {}), ...(session ? { session } : {}) };
  const isFiltered = Object.keys(filter).length > 0;
  return { kind: "costs", by: dimensionOf(search), ...(isFiltered ? { filter } : {}) };
}

function dimensionOf(search: URLSearchParams): CostDimension {
  return costDimensions.find((by) => by === search.get("by")) ?? "project";
}

/** The address is typed by people too: what cannot be decoded names no session. */
function decoded(part: string | undefined): string | null {
  if (part === undefined) return null;
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}
