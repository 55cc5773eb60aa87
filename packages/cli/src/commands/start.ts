/** `branchlog` alone, on a terminal: the latest sessions of every agent, and suggestions. */
import type { CommandIo, CommandResult } from "../command-io.ts";
import { listCommand } from "./list.ts";

const shownMax = 10;

const next =
  "branchlog info ID         a session, by a prefix of its id\n" +
  "branchlog search 'TEXT'   text in sessions\n" +
  "branchlog help            all commands\n";

export async function startCommand(io: CommandIo): Promise<CommandResult> {
  const all = {
    directory: undefined,
    agents: undefined,
    changed: { since: undefined, until: undefined },
  };
  const flags = { json: false, all: false, archived: false, noSave: false, limit: shownMax };
  await listCommand({ ...all, ...flags, sort: "modified", estimate: false }, io);
  await io.out.write(`\n${next}`);
  return 0;
}
