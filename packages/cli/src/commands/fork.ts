/** `branchlog fork`: one branch of a session as a new session. */
import { forkSession } from "@branchlog/core";
import { entryIdIn } from "../addressed-entry.ts";
import { writeJsonLine } from "../command-io.ts";
import type { CommandIo, CommandResult, FileOptions } from "../command-io.ts";
import { sessionPath } from "../session-path.ts";
import { addressedSession } from "../stored-session.ts";
import { oneLine } from "../text/clean-text.ts";
import { countText } from "../text/quantities.ts";

export interface ForkCommandOptions extends FileOptions {
  /** Default: the last entry. */
  readonly at: string | undefined;
  /** Default: next to the source. */
  readonly output: string | undefined;
}

export async function forkCommand(
  { file, json, at: word, output }: ForkCommandOptions,
  io: CommandIo,
): Promise<CommandResult> {
  const { out, signal } = io;
  const stored = await addressedSession(file);
  const source = stored === undefined ? await sessionPath(file, signal) : file;
  const at = await entryIdIn(source, word, io);
  const result = await forkSession(stored ?? source, { at, target: output, signal });
  if (json) await writeJsonLine(out, result);
  else {
    const entries = countText(result.entries, "entry", "entries");
    const place = result.at === null ? "" : ` up to ${oneLine(result.at, 60)}`;
    await out.write(`forked ${entries}${place}\n${oneLine(result.path, 400)}\n`);
  }
  return 0;
}
