/** Which session each of a list belongs to: a subagent's to the one that started it. Pure. */
import { dirname } from "node:path";
import type { ListedSession } from "@branchlog/library";

/** Of a session, itself or the first of those that started it, as far as they are in the list. */
export function ownersAmong(
  sessions: readonly ListedSession[],
): (session: ListedSession) => ListedSession {
  const byPath = new Map(sessions.map((session) => [session.path, session]));
  const byId = new Map(sessions.map((session) => [session.header.id, session]));
  const parentOf = ({ path, header, transcript }: ListedSession): ListedSession | undefined => {
    // omp keeps subagents in a directory with the name of the session.
    const above = byPath.get(`${dirname(path)}.jsonl`);
    if (above !== undefined || transcript?.isSubagent !== true) return above;
    return header.parentSession === undefined ? undefined : byId.get(header.parentSession);
  };
  return (session) => {
    const seen = new Set<ListedSession>();
    let owner = session;
    for (let next = parentOf(owner); next !== undefined && !seen.has(next); next = parentOf(next)) {
      seen.add(next);
      owner = next;
    }
    return owner;
  };
}
