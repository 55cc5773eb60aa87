/** `branchlog import`: imports a session of another agent as a session file. */
import { writeJsonLine } from "../command-io.ts";
import type { CommandIo, CommandResult } from "../command-io.ts";
import { sizeOf, withProgress } from "../progress.ts";
import { importers, importRecognised } from "../transfer-kinds.ts";
import type { ImportFormat } from "../transfer-kinds.ts";

export interface ImportCommandOptions {
  readonly source: string;
  readonly output: string;
  /** The agent of the source; undefined: recognised by its content. */
  readonly from: ImportFormat | undefined;
  readonly json: boolean;
}

export async function importCommand(
  { source, output, from, json }: ImportCommandOptions,
  io: CommandIo,
): Promise<CommandResult> {
  const { out, err, signal } = io;
  const importer = from === undefined ? importRecognised : importers[from];
  const task = { what: "importing", bytes: sizeOf(source) };
  const made = await withProgress(err, task, () => importer(source, output, { signal }));
  if (json) await writeJsonLine(out, made.json);
  else await out.write(made.text(out.style));
  return 0;
}
