/** `branchlog import`: imports a session of another agent, or all of a directory or a database. */
import { importDirectory } from "@branchlog/tools";
import type { DirectoryImportStep } from "@branchlog/tools";
import { writeJsonLine } from "../command-io.ts";
import type { CommandIo, CommandResult } from "../command-io.ts";
import { describeFailure, UsageError } from "../failure.ts";
import { holdsSeveral } from "../place-of-path.ts";
import { ProgressLine, sizeOf, withProgress } from "../progress.ts";
import { requireNoAddress } from "../session-path.ts";
import { oneLine } from "../text/clean-text.ts";
import { countText } from "../text/quantities.ts";
import { importerFrom, importRecognised } from "../transfer-kinds.ts";

export interface ImportCommandOptions {
  readonly source: string;
  /** A new file; for a directory or a database, a directory. */
  readonly output: string;
  /** The agent of the source; undefined: recognised by its content. */
  readonly from: string | undefined;
  readonly json: boolean;
}

export async function importCommand(
  options: ImportCommandOptions,
  io: CommandIo,
): Promise<CommandResult> {
  const { source, output, from, json } = options;
  const { out, signal } = io;
  requireNoAddress(source);
  if (holdsSeveral(source)) return importAll(options, io);
  const importer = from === undefined ? importRecognised : importerFrom(from);
  const task = { what: "importing", path: source, bytes: sizeOf(source) };
  const made = await withProgress(io, task, () => importer(source, output, { signal }));
  if (json) await writeJsonLine(out, made.json);
  else await out.write(made.text(out.style));
  return 0;
}

async function importAll(
  { source, output, from, json }: ImportCommandOptions,
  io: CommandIo,
): Promise<CommandResult> {
  if (from !== undefined) throw new UsageError("--from applies to a single file; omit it.");
  const { out, err, signal } = io;
  const progress = new ProgressLine(io, "importing", "sessions");
  const counts = { imported: 0, exists: 0, failed: 0, skippedLines: 0 };
  for await (const step of importDirectory(source, output, { signal })) {
    counts[step.kind] += 1;
    if (step.kind === "imported") counts.skippedLines += step.report.lines - step.report.imported;
    await progress.hide();
    if (json) await writeJsonLine(out, stepJson(step));
    else if (step.kind === "failed") {
      const { message } = describeFailure(step.error);
      await err.write(`skipped: ${oneLine(message, 1000)}\n`);
    }
    progress.show(step.done, step.total);
  }
  await progress.hide();
  const { imported, exists, failed, skippedLines } = counts;
  if (json) await writeJsonLine(out, { kind: "summary", ...counts });
  else {
    const left = failed === 0 ? "" : `, ${failed} skipped`;
    const known = exists === 0 ? "" : `, ${exists} already imported`;
    const lines = countText(skippedLines, "line");
    await out.write(
      `imported ${countText(imported, "session")}${known}${left}; ${lines} not imported\n`,
    );
  }
  return failed === 0 ? 0 : 1;
}

/** A step in `--json`. */
function stepJson(step: DirectoryImportStep): object {
  const { kind, source } = step;
  switch (step.kind) {
    case "imported":
      return { ...step.report, agent: step.report.kind, kind, source };
    case "exists":
      return { kind, source, path: step.path };
    case "failed":
      return { kind, source, error: describeFailure(step.error) };
  }
}
