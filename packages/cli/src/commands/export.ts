/** `branchlog export`: one path of a session in another form, to a file or to standard output. */
import type { RedactionReport, ExportSource } from "@branchlog/tools";
import { entryIdIn } from "../addressed-entry.ts";
import { writeJsonLine } from "../command-io.ts";
import type { CommandIo, CommandResult, FileOptions } from "../command-io.ts";
import { UsageError } from "../failure.ts";
import { sizeOf, withProgress } from "../progress.ts";
import { readablePlace } from "../session-path.ts";
import { addressedSession } from "../stored-session.ts";
import { redactionText } from "../text/transfer-text.ts";
import { exporters } from "../transfer-kinds.ts";
import type { Exporter, ExportFormat } from "../transfer-kinds.ts";

export interface ExportCommandOptions extends FileOptions {
  readonly to: ExportFormat;
  /** Default: standard output. */
  readonly output: string | undefined;
  /** Default: the last entry. */
  readonly at: string | undefined;
  readonly redact: boolean;
}

/** To index the log, and for the entries of the path: a first time to find their secrets. */
function readings(redact: boolean): number {
  return redact ? 3 : 2;
}

export async function exportCommand(
  options: ExportCommandOptions,
  io: CommandIo,
): Promise<CommandResult> {
  const { to, output, redact, json } = options;
  const exporter = exporters[to];
  const source = (await addressedSession(options.file)) ?? (await readablePlace(options.file, io));
  const file = typeof source === "string" ? source : options.file;
  const at = await entryIdIn(file, options.at, io);
  if (output === undefined) {
    await writeOut(exporter, source, { ...options, at }, io);
    return 0;
  }
  const path = typeof source === "string" ? source : source.id;
  const task = { what: "exporting", path, bytes: sizeOf(path) * readings(redact) };
  const made = await withProgress(io, task, () =>
    exporter.write(source, output, { at, redact, signal: io.signal }),
  );
  if (json) await writeJsonLine(io.out, { to, ...made.json });
  else await io.out.write(made.text(io.out.style));
  return 0;
}

async function writeOut(
  { pieces, form }: Exporter,
  source: ExportSource,
  { to, at, redact, json }: ExportCommandOptions,
  { out, err, signal }: CommandIo,
): Promise<void> {
  if (pieces === null) throw new UsageError(`--to ${to} needs -o FILE.`);
  if (json) throw new UsageError("--json needs -o FILE: it says what was written.");
  let said = "";
  const onRedacted = (report: RedactionReport): void => {
    said = redactionText(report);
  };
  for await (const piece of pieces(source, { at, redact, onRedacted, signal })) {
    await out.writeData(piece, form);
  }
  await out.flush();
  if (said !== "") await err.write(said);
}
