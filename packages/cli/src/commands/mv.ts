/** `branchlog mv`: moves the sessions of a renamed directory. */
import { moveSessions } from "@branchlog/library";
import { writeJsonLine } from "../command-io.ts";
import type { CommandIo, CommandResult } from "../command-io.ts";
import { describeFailure } from "../failure.ts";
import { requireNoAddress } from "../session-path.ts";
import { oneLine, wholeLine } from "../text/clean-text.ts";
import { countText } from "../text/quantities.ts";
import { undoText } from "../text/undo-text.ts";

export interface MvOptions {
  readonly from: string;
  readonly to: string;
  readonly dryRun: boolean;
  readonly force: boolean;
  readonly json: boolean;
}

/** 1 if a session was left in place. */
export async function mvCommand(
  { from, to, dryRun, force, json }: MvOptions,
  { out, err, signal }: CommandIo,
): Promise<CommandResult> {
  for (const word of [from, to]) requireNoAddress(word);
  const { operation, moved, failures } = await moveSessions(from, to, { dryRun, force, signal });
  if (json) {
    const failed = failures.map((failure) => describeFailure(failure));
    await writeJsonLine(out, { operation, moved, failures: failed });
    return failures.length === 0 ? 0 : 1;
  }
  for (const { agent, from: path, to: target } of moved) {
    const where = path === target ? "" : `\n    ${oneLine(target, 400)}`;
    await out.write(`${agent}  ${oneLine(path, 400)}${where}\n`);
  }
  for (const { message } of failures) await err.write(`${wholeLine(message)}\n`);
  const done = dryRun ? "would be moved" : "moved";
  await err.write(
    moved.length === 0
      ? "no sessions there; branchlog list shows all sessions\n"
      : `${done}: ${countText(moved.length, "session")}\n`,
  );
  await out.write(undoText(operation));
  return failures.length === 0 ? 0 : 1;
}
