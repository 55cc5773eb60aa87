/**
 * Completions that need sessions: their names and the beginnings of their ids, and the labels and
 * ids of entries. Unreadable sessions are ignored: a completion reports no errors.
 */
import { readdirSync } from "node:fs";
import { findSessions } from "@branchlog/library";
import type { ListedSession } from "@branchlog/library";
import type { CommandIo } from "./command-io.ts";
import type { Candidate, Completion } from "./completions.ts";
import { openForReading } from "./opened-session.ts";
import { isSteering, oneLine } from "./text/clean-text.ts";
import { titleOf } from "./text/session-text.ts";
import { uniquePrefixes } from "./unique-prefixes.ts";

const sessionsMax = 50;
const entriesMax = 50;
const idUnitsMin = 8;

/** @param current The unfinished word. */
export async function namedCandidates(
  { takes, session }: Completion,
  current: string,
  io: CommandIo,
): Promise<readonly Candidate[]> {
  try {
    if (takes === "session" && !isPath(current)) return await sessionCandidates(current, io);
    if (takes === "entry" && session !== undefined) {
      return (await entryCandidates(session, io)).filter(({ value }) => value.startsWith(current));
    }
  } catch {
    // See above.
  }
  return [];
}

/** Whether the shell has files to offer. */
function isPath(current: string): boolean {
  if (current === "") return false;
  return current.includes("/") || readdirSync(".").some((name) => name.startsWith(current));
}

async function sessionCandidates(current: string, { signal }: CommandIo): Promise<Candidate[]> {
  const { sessions } = await findSessions(undefined, { catalog: "read", signal });
  const prefixes = uniquePrefixes(sessions.map(({ header }) => header.id));
  const named = (session: ListedSession): Candidate[] => {
    const { header, name } = session;
    const id = header.id.slice(0, Math.max(idUnitsMin, prefixes.get(header.id) ?? 0));
    const candidates = [{ value: id, about: oneLine(titleOf(session), 60) }];
    return name === undefined ? candidates : [...candidates, { value: name, about: id }];
  };
  const all = sessions.flatMap(named).filter(({ value }) => !isSteering(value));
  const folded = current.toLowerCase();
  return all.filter(({ value }) => value.toLowerCase().startsWith(folded)).slice(0, sessionsMax);
}

async function entryCandidates(file: string, io: CommandIo): Promise<Candidate[]> {
  const { session } = await openForReading(file, io);
  const labels = Array.from(session.labels, ([id, { label }]) => ({ value: label, about: id }));
  const last: Candidate[] = [];
  for await (const entry of session.entries({ reverse: true, signal: io.signal })) {
    const about = entry.type === "message" ? entry.message.role : entry.type;
    last.push({ value: entry.id, about: oneLine(about, 60) });
    if (last.length >= entriesMax) break;
  }
  const places = [
    { value: "@leaf", about: "the current entry" },
    { value: "@tail", about: "the last entry" },
  ];
  return [...places, ...labels, ...last].filter(({ value }) => !isSteering(value));
}
