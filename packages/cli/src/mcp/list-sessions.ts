/** `list_sessions`: sessions by their titles, projects and times, the latest first. */
import type { ListedSession } from "@branchlog/library";
import { timeRange } from "../time-words.ts";
import { countText } from "../text/quantities.ts";
import { cursorOf, cursorValues, numberAt } from "./cursor.ts";
import { factsLine, factsOf } from "./session-facts.ts";
import type { SessionFacts } from "./session-facts.ts";
import { isOfProject } from "./session-scope.ts";
import { charactersDefault, moreText } from "./tool.ts";
import type { ToolAnswer, ToolCall, ToolSetting } from "./tool.ts";

export interface ListArguments {
  readonly query?: string | undefined;
  readonly project?: string | undefined;
  readonly agent?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export interface ListAnswer {
  readonly sessions: SessionFacts[];
  /** All that fit. */
  readonly total: number;
  readonly next_cursor?: string;
}

const limitDefault = 20;

export async function listSessions(
  { cursor, limit = limitDefault, ...filters }: ListArguments,
  { scope, reader, now }: ToolSetting,
  { signal, onProgress }: ToolCall,
): Promise<ToolAnswer<ListAnswer>> {
  const { query, project, agent, since, until } = filters;
  const owner = JSON.stringify(["list", query, project, agent, since, until]);
  const found = await scope.list({
    agents: agent === undefined ? undefined : [agent],
    ...timeRange({ since, until }, now()),
    onProgress: onProgress && (({ searched, total }) => onProgress(searched, total)),
    signal,
  });
  const clean = (text: string): string => reader.text(text);
  const fitting = found.filter(
    (session) =>
      (project === undefined || isOfProject(session, project)) &&
      (query === undefined || isTitled(session, query, clean)),
  );
  const first = cursor === undefined ? 0 : placeAfter(fitting, cursorValues(owner, cursor));
  const sessions: SessionFacts[] = [];
  let units = 0;
  for (const session of fitting.slice(first, first + limit)) {
    if (units > charactersDefault) break;
    const facts = factsOf(session, clean);
    sessions.push(facts);
    units += JSON.stringify(facts).length;
  }
  const next = first + sessions.length;
  const after = next < fitting.length ? cursorOf(owner, placeOf(fitting, next - 1)) : undefined;
  const lines = sessions.map((facts) => `${factsLine(facts)}\n`);
  const heading = `${countText(fitting.length, "session")}, the latest first\n`;
  return {
    data: {
      sessions,
      total: fitting.length,
      ...(after === undefined ? {} : { next_cursor: after }),
    },
    text: `${[heading, ...lines].join("\n")}${moreText(after)}`,
  };
}

/** In the text without secrets, so that no query reveals one. */
function isTitled(
  { name, summary }: ListedSession,
  query: string,
  clean: (text: string) => string,
): boolean {
  const wanted = query.trim().toLowerCase();
  const titles = [name, summary.firstMessage];
  return titles.some(
    (title) => title?.toLowerCase().includes(wanted) && clean(title).toLowerCase().includes(wanted),
  );
}

/** The time of a session, and how many before it have the same. */
function placeOf(sessions: readonly ListedSession[], at: number): readonly number[] {
  const modifiedMs = sessions[at]?.modifiedMs ?? 0;
  const first = sessions.findIndex((session) => session.modifiedMs === modifiedMs);
  return [modifiedMs, at - first];
}

/** Sessions changed since are before it, and in the first answer of another call. */
function placeAfter(
  sessions: readonly ListedSession[],
  values: Parameters<typeof numberAt>[0],
): number {
  const [modifiedMs, count] = [numberAt(values, 0), numberAt(values, 1)];
  const newer = sessions.filter((session) => session.modifiedMs > modifiedMs).length;
  const same = sessions.filter((session) => session.modifiedMs === modifiedMs).length;
  return newer + Math.min(same, count + 1);
}
