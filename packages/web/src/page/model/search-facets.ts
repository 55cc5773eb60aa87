/** By what the hits of a search can be narrowed down, and how many hits each choice has. Pure. */
import type { SearchHitItem } from "../../api.ts";

export const facetNames = ["date", "agent", "project", "kind", "role", "tool"] as const;

export type FacetName = (typeof facetNames)[number];

/** At most one value of each; the server looks for these alone. */
export type SearchFacets = Readonly<Partial<Record<FacetName, string>>>;

export interface FacetChoice {
  readonly value: string;
  readonly count: number;
}

export interface Facet {
  readonly name: FacetName;
  /** The most frequent first, dates from the nearest; a chosen value is always among them. */
  readonly choices: readonly FacetChoice[];
}

const choicesMax = 8;
const dayMs = 86_400_000;

/** Days back from the end of today. */
const dateDays: Readonly<Record<string, number>> = { today: 1, week: 7, month: 30, year: 365 };

/** Facets of which more than one value is there, and the chosen ones. */
export function facetsOf(
  hits: readonly SearchHitItem[],
  chosen: SearchFacets,
  nowMs: number,
): readonly Facet[] {
  return facetNames.flatMap((name) => {
    const choices = name === "date" ? datesOf(hits, nowMs) : valuesOf(hits, name);
    const value = chosen[name];
    const isThere = choices.some((choice) => choice.value === value);
    const own = value === undefined || isThere ? [] : [{ value, count: hits.length }];
    if (value !== undefined) {
      return [{ name, choices: [...own, ...choices.filter((choice) => choice.value === value)] }];
    }
    // One date is a choice, too: the other hits are older.
    return choices.length < (name === "date" ? 1 : 2)
      ? []
      : [{ name, choices: choices.slice(0, choicesMax) }];
  });
}

/** What the server is asked for. */
export function facetValues(
  { date, ...others }: SearchFacets,
  nowMs: number,
): Readonly<Record<string, string | number>> {
  const sinceMs = date === undefined ? undefined : startOf(date, nowMs);
  return sinceMs === undefined ? others : { ...others, since: sinceMs };
}

/** With the facet chosen, or no longer, if it was. */
export function toggledFacet(facets: SearchFacets, name: FacetName, value: string): SearchFacets {
  const { [name]: before, ...others } = facets;
  return before === value ? others : { ...others, [name]: value };
}

function valuesOf(
  hits: readonly SearchHitItem[],
  name: Exclude<FacetName, "date">,
): readonly FacetChoice[] {
  const counts = new Map<string, number>();
  for (const { [name]: stored } of hits) {
    // Agents differ in the case of the names of their tools, and searches do not.
    const value = name === "tool" ? stored?.toLowerCase() : stored;
    if (value) counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .toSorted((one, other) => other.count - one.count);
}

/** Each has the hits of those before it. Dates that tell nothing more are left out. */
function datesOf(hits: readonly SearchHitItem[], nowMs: number): readonly FacetChoice[] {
  const choices: FacetChoice[] = [];
  for (const value of Object.keys(dateDays)) {
    const startMs = startOf(value, nowMs) ?? 0;
    const { length: count } = hits.filter(({ timeMs }) => timeMs !== null && timeMs >= startMs);
    const isMore = count > (choices.at(-1)?.count ?? 0);
    if (isMore && count < hits.length) choices.push({ value, count });
  }
  return choices;
}

/** Undefined for an unknown name: of all times. */
function startOf(date: string, nowMs: number): number | undefined {
  const days = dateDays[date];
  if (days === undefined) return undefined;
  const midnight = new Date(nowMs);
  midnight.setHours(0, 0, 0, 0);
  return midnight.getTime() - (days - 1) * dayMs;
}
