/** `branchlog verify`: reads every byte of a session and lists all damage. Changes nothing. */
import { verifySession } from "@branchlog/maintenance";
import { writeJsonLine } from "../command-io.ts";
import type { CommandIo, CommandResult, ReadingOptions } from "../command-io.ts";
import { openForReading } from "../opened-session.ts";
import { withProgress } from "../progress.ts";
import { verifyText } from "../text/verify-text.ts";

export async function verifyCommand(
  options: ReadingOptions,
  io: CommandIo,
): Promise<CommandResult> {
  const { session } = await openForReading(options.file, io, options);
  const { signal } = io;
  const task = { what: "verifying", bytes: session.sizeBytes };
  const report = await withProgress(io.err, task, () => verifySession(session, { signal }));
  if (options.json) await writeJsonLine(io.out, report);
  else await io.out.write(verifyText(report, io.out.style));
  return report.ok ? 0 : 1;
}
