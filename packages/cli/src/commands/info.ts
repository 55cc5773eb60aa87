/** `branchlog info`: the facts of a session. */
import { estimateOf, isDamaged } from "@branchlog/tools";
import { shownNowMs, writeJsonLine } from "../command-io.ts";
import type { CommandIo, CommandResult, ReadingOptions } from "../command-io.ts";
import { openForReading } from "../opened-session.ts";
import { withProgress } from "../progress.ts";
import { gatherInfo } from "../session-info.ts";
import { infoText } from "../text/info-text.ts";
import { infoRecords } from "../text/records.ts";

export interface InfoOptions extends ReadingOptions {
  /** Whether costs that the agent does not store are estimated. */
  readonly estimate: boolean;
}

/** Runs the command; 1 if opening found damage. */
export async function infoCommand(options: InfoOptions, io: CommandIo): Promise<CommandResult> {
  const opened = await openForReading(options.file, io, options);
  const { path, sizeBytes } = opened.session;
  const task = { what: "adding up", path, bytes: sizeBytes };
  const info = await withProgress(io, task, () =>
    gatherInfo(opened, options.estimate ? estimateOf : undefined),
  );
  if (options.json) await writeJsonLine(io.out, info);
  else if (!io.out.isTerminal) await io.out.write(infoRecords(info));
  else await io.out.write(infoText(info, io.out.style, shownNowMs(io)));
  return isDamaged(info.findings) ? 1 : 0;
}
