/**
 * `search_sessions`: where a text occurs, by session. A hit is looked up in its entry without
 * secrets: text only in a secret is not found.
 */
import { isBranchlogError } from "@branchlog/core";
import { searchSessions } from "@branchlog/library";
import type { ListedSession } from "@branchlog/library";
import { timeRange } from "../time-words.ts";
import { oneLine } from "../text/clean-text.ts";
import { countText } from "../text/quantities.ts";
import { cursorOf, cursorValues, numberAt } from "./cursor.ts";
import { groupsOf, hitsAfter, isUpTo, placeBehind } from "./hit-groups.ts";
import type { HitGroup, Place } from "./hit-groups.ts";
import { factsLine, factsOf } from "./session-facts.ts";
import type { SessionFacts } from "./session-facts.ts";
import type { SessionReader } from "./session-reader.ts";
import { isOfProject } from "./session-scope.ts";
import { shownHit, turnsIn } from "./shown-hit.ts";
import type { FoundText } from "./shown-hit.ts";
import { charactersDefault, moreText } from "./tool.ts";
import type { ToolAnswer, ToolCall, ToolSetting } from "./tool.ts";
import { ToolError } from "./tool-error.ts";

export interface SearchArguments {
  readonly query: string;
  readonly session?: string | undefined;
  readonly project?: string | undefined;
  readonly agent?: string | undefined;
  readonly role?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export interface FoundSession extends SessionFacts {
  readonly hits: FoundText[];
  readonly has_more_hits?: true;
}

export interface SearchAnswer {
  readonly sessions: FoundSession[];
  readonly unread?: number;
  readonly next_cursor?: string;
}

const limitDefault = 8;
const hitsOfEach = 3;
const hitsOfOne = 20;

export async function searchIn(
  { query, cursor, session: word, ...given }: SearchArguments,
  setting: ToolSetting,
  { signal, onProgress }: ToolCall,
): Promise<ToolAnswer<SearchAnswer>> {
  const { project, agent, role, since, until, limit = limitDefault } = given;
  const { scope, reader } = setting;
  const owner = JSON.stringify(["search", query, word, project, agent, role, since, until]);
  const values = cursor === undefined ? undefined : cursorValues(owner, cursor);
  const only = word === undefined ? undefined : await scope.find(word, signal);
  const listed = only === undefined ? await scope.list({ artifacts: true, signal }) : [only];
  const isWanted = (session: ListedSession): boolean =>
    project === undefined || isOfProject(session, project);
  const allowed = new Map(listed.filter(isWanted).map((one) => [one.path, one] as const));
  const isAll = only === undefined && project === undefined && scope.project === undefined;
  let unread = 0;
  const found = searchSessions(isAll ? scope.places : [...allowed.keys()], query, {
    agents: agent === undefined ? undefined : [agent],
    role,
    ...timeRange({ since, until }, setting.now()),
    onUnread: () => (unread += 1),
    onProgress: onProgress && (({ searched, total }) => onProgress(searched, total)),
    signal,
  });
  const shown = { query, reader, signal };
  const sessions: FoundSession[] = [];
  let next: readonly number[] | undefined;
  if (only !== undefined) {
    const skipped = values === undefined ? 0 : numberAt(values, 0);
    const { hits, hasMore } = await hitsAfter(found, skipped, hitsOfOne);
    const one = await shownSession({ session: only, hits }, { ...shown, hitsMax: hitsOfOne });
    if (one !== undefined) sessions.push(one);
    // Reporting more would reveal that a secret matched.
    if (one !== undefined && hasMore) next = [skipped + hits.length];
  } else {
    const start = values && { mtimeMs: numberAt(values, 0), count: numberAt(values, 1) };
    let [place, units]: [Place | undefined, number] = [undefined, 0];
    for await (const group of groupsOf(found, allowed)) {
      const isFull = sessions.length >= limit || units > charactersDefault;
      if (isFull && place !== undefined) {
        next = [place.mtimeMs, place.count];
        break;
      }
      place = placeBehind(group, place);
      if (start !== undefined && isUpTo(place, start)) continue;
      const one = await shownSession(group, { ...shown, hitsMax: hitsOfEach });
      if (one === undefined) continue;
      sessions.push(group.count > one.hits.length ? { ...one, has_more_hits: true } : one);
      units += JSON.stringify(one).length;
    }
  }
  const data: SearchAnswer = {
    sessions,
    ...(unread === 0 ? {} : { unread }),
    ...(next === undefined ? {} : { next_cursor: cursorOf(owner, next) }),
  };
  return { data, text: textOf(data, reader.text(query)) };
}

interface ShownOptions {
  readonly query: string;
  readonly reader: SessionReader;
  readonly signal: AbortSignal;
  readonly hitsMax: number;
}

/** Undefined if it has no visible hit, or cannot be read. */
async function shownSession(
  { session, hits }: Pick<HitGroup, "session" | "hits">,
  { query, reader, signal, hitsMax }: ShownOptions,
): Promise<FoundSession | undefined> {
  try {
    return await reader.read(session, signal, async (opened) => {
      const shown: FoundText[] = [];
      const turnOf = turnsIn(opened.session);
      for (const hit of hits) {
        if (shown.length === hitsMax) break;
        const text = await shownHit(hit, query, opened);
        if (text !== undefined) shown.push({ turn: turnOf(hit.entryId), ...text });
      }
      return shown.length === 0 ? undefined : { ...factsOf(session, opened.text), hits: shown };
    });
  } catch (error) {
    signal.throwIfAborted();
    if (isBranchlogError(error) || error instanceof ToolError) return undefined;
    throw error;
  }
}

function textOf({ sessions, unread = 0, next_cursor: next }: SearchAnswer, query: string): string {
  const missed = unread === 0 ? "" : `\n${countText(unread, "session")} could not be read.\n`;
  if (sessions.length === 0) {
    const phrase = /\s/u.test(query.trim())
      ? " It is searched as one phrase: try one word of it."
      : "";
    return `Nothing found for ${oneLine(query, 120)}.${phrase}\n${missed}${moreText(next)}`;
  }
  const shown = sessions.map((found) => {
    const hits = found.hits.map(hitText);
    const more =
      found.has_more_hits === true ? `  more hits: search with session "${found.session}"\n` : "";
    return `${factsLine(found)}\n${hits.join("")}${more}`;
  });
  return `${shown.join("\n")}${missed}${moreText(next)}`;
}

function hitText({ turn, entry, kind, role, tool, snippet }: FoundText): string {
  const who = tool === undefined ? oneLine(role ?? kind, 40) : `${kind} ${tool}`;
  return `  - turn ${turn}, entry ${oneLine(entry, 80)}, ${who}: ${snippet}\n`;
}
