/** `branchlog list`: the sessions of all agents by working directory, forks under their parents. */
import { findSessions, knownPlaces, sessionGroups } from "@branchlog/core";
import type { GroupedSession, ListedAgent } from "@branchlog/core";
import { writeJsonLine } from "../command-io.ts";
import type { CommandIo, CommandResult } from "../command-io.ts";
import { groupText } from "../text/group-text.ts";

/** What `branchlog list` was asked. */
export interface ListCommandOptions {
  /** Undefined: where the agents of this machine keep their sessions. */
  readonly directory: string | undefined;
  readonly json: boolean;
  /** Transcripts of subagents, too. */
  readonly all: boolean;
}

/** Runs the command. */
export async function listCommand(
  { directory, json, all }: ListCommandOptions,
  io: CommandIo,
): Promise<CommandResult> {
  const { out, err, signal } = io;
  const places = directory === undefined ? knownPlaces() : [directory];
  const found = await findSessions(places, { artifacts: all, signal });
  const groups = sessionGroups(found);
  for (const [at, group] of groups.entries()) {
    signal.throwIfAborted();
    if (json) {
      for (const session of group.sessions) await writeJsonLine(out, sessionJson(session));
      for (const agent of group.agents) await writeJsonLine(out, agentJson(agent));
      continue;
    }
    const { columns, style } = out;
    const text = groupText(group, { nowMs: io.now(), columns, style });
    await out.write(at === 0 ? text : `\n${text}`);
  }
  if (groups.length === 0 && !json) {
    await err.write(`no sessions in ${directory ?? "the places where agents keep them"}\n`);
  }
  return 0;
}

/** A session as programs get it. */
function sessionJson({ session, depth, parent }: GroupedSession): object {
  const { path, header, name, summary, dialect, modifiedMs, sizeBytes } = session;
  const { messageCount, firstMessage } = summary;
  return {
    kind: "session",
    path,
    id: header.id,
    name,
    cwd: header.cwd,
    dialect,
    created: header.timestamp,
    modified: new Date(modifiedMs).toISOString(),
    messageCount,
    firstMessage,
    sizeBytes,
    depth,
    parent: parent && { reference: parent.reference, path: parent.session?.path ?? null },
  };
}

/** A ConnectOnion file as programs get it. */
function agentJson({
  path,
  name,
  cwd,
  turnCount,
  updated,
  modifiedMs,
  sizeBytes,
}: ListedAgent): object {
  const modified = new Date(modifiedMs).toISOString();
  return {
    kind: "agent",
    path,
    name,
    cwd,
    dialect: "connectonion",
    turnCount,
    updated,
    modified,
    sizeBytes,
  };
}
