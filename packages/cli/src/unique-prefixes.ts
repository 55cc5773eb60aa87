/** How many characters of each id tell it from all others. Pure. */

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

function sharedStart(one: string, other: string = ""): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
}
