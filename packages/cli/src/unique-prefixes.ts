/** The unique form of each id: a prefix, or a prefix and a suffix. Pure. */

/** At least one; the whole id if another begins with it. Equal ids, in any case, are one. */
export function uniquePrefixes(ids: readonly string[]): ReadonlyMap<string, number> {
  const sorted = Array.from(new Set(ids.map((id) => id.toLowerCase()))).sort();
  const lengths = new Map<string, number>();
  for (const [at, id] of sorted.entries()) {
    const shared = Math.max(sharedStart(id, sorted[at - 1]), sharedStart(id, sorted[at + 1]));
    lengths.set(id, Math.min(shared + 1, id.length));
  }
  return new Map(ids.map((id) => [id, lengths.get(id.toLowerCase()) ?? id.length]));
}

export interface ShortId {
  readonly text: string;
  /** How many of its characters distinguish it from the others. */
  readonly units: number;
}

/** The start that each id has at least. */
const startUnits = 8;
const endUnitsMin = 4;
/**
 * Ids with a longer one are shortened in the middle: those of subagents start like their session's.
 */
const prefixUnitsMax = 20;

/** Each id, shortened so that `resolveSession` takes it for that id. */
export function shortIds(ids: readonly string[]): ReadonlyMap<string, ShortId> {
  const prefixes = uniquePrefixes(ids);
  const ends = endsAmong(ids);
  return new Map(
    ids.map((id) => {
      const units = prefixes.get(id) ?? id.length;
      const end = Math.max(endUnitsMin, ends.get(id) ?? id.length);
      const isCut = units > prefixUnitsMax && startUnits + 1 + end < id.length;
      if (!isCut) return [id, { text: id.slice(0, Math.max(startUnits, units)), units }];
      const text = `${id.slice(0, startUnits)}…${id.slice(-end)}`;
      return [id, { text, units: text.length }];
    }),
  );
}

/** How much of its end distinguishes an id from those with the same start. */
function endsAmong(ids: readonly string[]): ReadonlyMap<string, number> {
  const groups = new Map<string, string[]>();
  for (const id of ids) {
    const start = id.slice(0, startUnits).toLowerCase();
    const group = groups.get(start) ?? [];
    groups.set(start, group);
    group.push(id);
  }
  const ends = new Map<string, number>();
  for (const group of groups.values()) {
    const reversed = uniquePrefixes(group.map(reverse));
    for (const id of group) ends.set(id, reversed.get(reverse(id)) ?? id.length);
  }
  return ends;
}

function reverse(text: string): string {
  return Array.from(text).toReversed().join("");
}

function sharedStart(one: string, other: string = ""): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
}
