/** `branchlog list --archived`: what is in the archive, those that changed last first. */
import { archivedSessions } from "@branchlog/library";
import type { ArchivedSession } from "@branchlog/library";
import { shownNowMs, writeJsonLine } from "../command-io.ts";
import type { CommandIo, CommandResult } from "../command-io.ts";
import { problemsTo } from "../archive-problems.ts";
import { timeRange } from "../time-words.ts";
import type { GivenRange } from "../time-words.ts";
import { oneLine } from "../text/clean-text.ts";
import { countText, isoTime, sizeText, whenText } from "../text/quantities.ts";
import { recordLine } from "../text/records.ts";
import { titleOf } from "../text/session-text.ts";

const idUnits = 8;
const titleUnitsMax = 60;

interface ArchivedListOptions {
  readonly json: boolean;
  readonly agents: readonly string[] | undefined;
  readonly changed: GivenRange;
  readonly limit: number | undefined;
}

export async function archivedList(
  { json, agents, changed, limit }: ArchivedListOptions,
  io: CommandIo,
): Promise<CommandResult> {
  const { out, err } = io;
  const { sinceMs = -Infinity, untilMs = Infinity } = timeRange(changed, io.now());
  const shown = (await archivedSessions({ onProblem: problemsTo(io) }))
    .filter(({ modifiedMs }) => modifiedMs >= sinceMs && modifiedMs < untilMs)
    .filter(({ agent }) => agents === undefined || agents.some((one) => one === agent))
    .slice(0, limit);
  for (const session of shown) {
    if (json) await writeJsonLine(out, archivedJson(session));
    else if (out.isTerminal) await out.write(archivedText(session, io));
    else await out.write(archivedRecord(session));
  }
  if (shown.length === 0 && !json)
    await err.write("no such sessions are archived; branchlog ops lists what was removed\n");
  return 0;
}

function archivedJson(session: ArchivedSession): object {
  const { path, id, name, cwd, agent, messageCount, firstMessage, sizeBytes, sha256 } = session;
  const modified = isoTime(session.modifiedMs);
  const archived = isoTime(session.archivedMs);
  const facts = { path, id, name, cwd, agent, modified, messageCount, firstMessage, sizeBytes };
  return { kind: "archived", ...facts, archived, sha256 };
}

/** The fields of `list`: `id, agent, time, messages, bytes, title, working directory, path`. */
function archivedRecord(session: ArchivedSession): string {
  const { id, agent, modifiedMs, messageCount, sizeBytes, cwd, path } = session;
  const facts = [isoTime(modifiedMs), messageCount, sizeBytes];
  return recordLine([id, agent, ...facts, titleIn(session), cwd, path]);
}

function archivedText(session: ArchivedSession, io: CommandIo): string {
  const { id, agent, modifiedMs, messageCount, sizeBytes, path } = session;
  const { style } = io.out;
  const title = oneLine(titleIn(session), titleUnitsMax);
  const facts = [
    whenText(modifiedMs, shownNowMs(io)),
    style.heading(title),
    countText(messageCount, "message"),
    sizeText(sizeBytes),
    oneLine(agent, idUnits * 2),
    oneLine(id.slice(0, idUnits), idUnits),
  ];
  return `${facts.join("  ")}\n    ${style.faint(oneLine(path, 400))}\n`;
}

function titleIn({ name, firstMessage, messageCount }: ArchivedSession): string {
  return titleOf({ name, summary: { firstMessage, messageCount, lastActivityMs: undefined } });
}
