/** `branchlog convert`: a session as a new file in the dialect of another agent. */
import { convertSession } from "@branchlog/tools";
import type { ConversionResult, ConversionTarget } from "@branchlog/tools";
import { writeJsonLine } from "../command-io.ts";
import type { CommandIo, CommandResult, FileOptions } from "../command-io.ts";
import { sizeOf, withProgress } from "../progress.ts";
import { sessionPath } from "../session-path.ts";
import { oneLine } from "../text/clean-text.ts";
import { addedNameText, changedText, resetsText } from "../text/transfer-text.ts";
import { countText } from "../text/quantities.ts";

export interface ConvertCommandOptions extends FileOptions {
  readonly to: ConversionTarget;
  readonly output: string;
}

const readings = 2;

export async function convertCommand(
  { file, json, to, output }: ConvertCommandOptions,
  io: CommandIo,
): Promise<CommandResult> {
  const { out, signal } = io;
  const source = await sessionPath(file, signal);
  const task = { what: "converting", path: source, bytes: sizeOf(source) * readings };
  const options = { to, target: output, signal };
  const result = await withProgress(io, task, () => convertSession(source, options));
  if (json) await writeJsonLine(out, result);
  else await out.write(resultText(result));
  return 0;
}

function resultText({
  path,
  to,
  entries,
  converted,
  badLines,
  addedName,
  resets,
}: ConversionResult): string {
  const changed = changedText(converted) || "no entries changed";
  return [
    `converted ${countText(entries, "entry", "entries")} for ${to}: ${changed}\n`,
    addedNameText(addedName),
    resetsText(resets),
    badLines === 0 ? "" : `copied ${countText(badLines, "damaged line")} unchanged\n`,
    `${oneLine(path, 400)}\n`,
  ].join("");
}
