/**
 * The sessions of a search, the best first. Pure but for the search itself; holds one hit for each
 * session.
 */
import type { SearchedKind } from "./entry-texts.ts";
import type { SearchHit } from "./search-terms.ts";

/** A session with hits. */
export interface RankedSession {
  /** The best hit; of equal ones the first in the file. */
  readonly best: SearchHit;
  /** Of the whole session. */
  readonly hitCount: number;
}

/**
 * Ranks the sessions of a search: by where the best hit is (in a name before text, before calls and
 * results), by whether it has the exact query and as whole words, then by the number of hits. Equal
 * ones stay in their order, in which later changes come first.
 * @example
 * const ranked = await rankedSessions(searchSessions(places, "rate limit"), "rate limit");
 */
export async function rankedSessions(
  hits: AsyncIterable<SearchHit>,
  query: string,
): Promise<RankedSession[]> {
  const sessions = new Map<string, Ranked>();
  const phrase = query.trim().toLowerCase();
  for await (const hit of hits) {
    const score = scoreOf(hit, phrase);
    const known = sessions.get(hit.path);
    if (known === undefined) sessions.set(hit.path, { best: hit, score, hitCount: 1 });
    else {
      known.hitCount += 1;
      if (score > known.score) [known.best, known.score] = [hit, score];
    }
  }
  // Twice as many hits are worth less than any other difference between two best ones.
  const rank = ({ score, hitCount }: Ranked): number => score + Math.log2(hitCount) / 64;
  return [...sessions.values()]
    .sort((one, other) => rank(other) - rank(one))
    .map(({ best, hitCount }) => ({ best, hitCount }));
}

interface Ranked {
  best: SearchHit;
  score: number;
  hitCount: number;
}

const kindScores: Readonly<Record<SearchedKind, number>> = {
  name: 4,
  label: 3,
  summary: 3,
  message: 3,
  custom: 1,
  shell: 1,
  thinking: 1,
  call: 1,
  result: 0,
};

function scoreOf({ kind, role, snippet }: SearchHit, phrase: string): number {
  const { text, matchStart, matchEnd } = snippet;
  const isPhrase = text.slice(matchStart, matchEnd).toLowerCase() === phrase;
  const isWhole = !isWordUnit(text[matchStart - 1]) && !isWordUnit(text[matchEnd]);
  // People remember their own prompts.
  const ofPerson = role === "user" ? 1 : 0;
  return kindScores[kind] + ofPerson + (isPhrase ? 4 : 0) + (isWhole ? 2 : 0);
}

function isWordUnit(unit: string | undefined): boolean {
  return unit !== undefined && /[\p{L}\p{N}_]/u.test(unit);
}
