/** The hits of a search by session, and the position after one of them. */
import { statSync } from "node:fs";
import type { ListedSession, SearchHit } from "@branchlog/library";

/** A session with more hits only in secrets is skipped. */
const triedMax = 40;

/** The hits of one session, which follow each other. */
export interface HitGroup {
  readonly session: ListedSession;
  /** The first ones. */
  readonly hits: readonly SearchHit[];
  readonly count: number;
  readonly mtimeMs: number;
}

/** After a session: the time of its file, and how many of that time are before or at it. */
export interface Place {
  readonly mtimeMs: number;
  readonly count: number;
}

export async function hitsAfter(
  found: AsyncIterable<SearchHit>,
  skipped: number,
  hitsMax: number,
): Promise<{ readonly hits: readonly SearchHit[]; readonly hasMore: boolean }> {
  const hits: SearchHit[] = [];
  let count = 0;
  for await (const hit of found) {
    count += 1;
    if (count <= skipped) continue;
    if (hits.length === hitsMax) return { hits, hasMore: true };
    hits.push(hit);
  }
  return { hits, hasMore: false };
}

export async function* groupsOf(
  found: AsyncIterable<SearchHit>,
  allowed: ReadonlyMap<string, ListedSession>,
): AsyncGenerator<HitGroup> {
  let [path, hits, count]: [string, SearchHit[], number] = ["", [], 0];
  const group = (): HitGroup[] => {
    const session = allowed.get(path);
    return session === undefined ? [] : [{ session, hits, count, mtimeMs: changedMs(path) }];
  };
  for await (const hit of found) {
    if (hit.path !== path) {
      yield* group();
      [path, hits, count] = [hit.path, [], 0];
    }
    count += 1;
    if (hits.length < triedMax) hits.push(hit);
  }
  yield* group();
}

/** 0 for a missing file. */
function changedMs(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

export function placeBehind({ mtimeMs }: HitGroup, before: Place | undefined): Place {
  return { mtimeMs, count: before?.mtimeMs === mtimeMs ? before.count + 1 : 1 };
}

/** What changed since counts as shown: it is the first of another search. */
export function isUpTo(place: Place, end: Place): boolean {
  return place.mtimeMs === end.mtimeMs ? place.count <= end.count : place.mtimeMs > end.mtimeMs;
}
