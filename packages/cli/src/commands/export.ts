/** `branchlog export`: one path of a session in another form, to a file or to standard output. */
import { entryIdIn } from "../addressed-entry.ts";
import { writeJsonLine } from "../command-io.ts";
import type { CommandIo, CommandResult, FileOptions } from "../command-io.ts";
import { UsageError } from "../failure.ts";
import { sizeOf, withProgress } from "../progress.ts";
import { sessionPath } from "../session-path.ts";
import { exporters } from "../transfer-kinds.ts";
import type { Exporter, ExportFormat } from "../transfer-kinds.ts";

export interface ExportCommandOptions extends FileOptions {
  readonly to: ExportFormat;
  /** Default: standard output. */
  readonly output: string | undefined;
  /** Default: the last entry. */
  readonly at: string | undefined;
}

/** To index the log, and for the entries of the path. */
const readings = 2;

export async function exportCommand(
  options: ExportCommandOptions,
  io: CommandIo,
): Promise<CommandResult> {
  const { to, output, json } = options;
  const exporter = exporters[to];
  const file = await sessionPath(options.file, io.signal);
  const at = await entryIdIn(file, options.at, io);
  if (output === undefined) {
    await writeOut(exporter, { ...options, file, at }, io);
    return 0;
  }
  const task = { what: "exporting", path: file, bytes: sizeOf(file) * readings };
  const made = await withProgress(io, task, () =>
    exporter.write(file, output, { at, signal: io.signal }),
  );
  if (json) await writeJsonLine(io.out, { to, ...made.json });
  else await io.out.write(made.text(io.out.style));
  return 0;
}

async function writeOut(
  { pieces, form }: Exporter,
  { file, to, at, json }: ExportCommandOptions,
  { out, signal }: CommandIo,
): Promise<void> {
  if (pieces === null) throw new UsageError(`--to ${to} needs -o FILE.`);
  if (json) throw new UsageError("--json needs -o FILE: it says what was written.");
  for await (const piece of pieces(file, { at, signal })) await out.writeData(piece, form);
}
