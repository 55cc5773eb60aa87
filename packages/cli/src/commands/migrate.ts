/** `branchlog migrate`: migrates a session of an older version, and keeps the original. */
import { migrateSession } from "@branchlog/tools";
import type { MigrationResult } from "@branchlog/tools";
import { writeJsonLine } from "../command-io.ts";
import type { CommandIo, CommandResult, FileOptions } from "../command-io.ts";
import { recordedReplacement } from "../recorded-replacement.ts";
import { sessionPath } from "../session-path.ts";
import { oneLine } from "../text/clean-text.ts";
import { undoText } from "../text/undo-text.ts";

export async function migrateCommand(
  { file, json }: FileOptions,
  io: CommandIo,
): Promise<CommandResult> {
  const { out, signal } = io;
  const result = await migrateSession(await sessionPath(file, signal), { signal });
  const { path, original, sizeBytes } = result;
  const operation =
    original === null
      ? null
      : await recordedReplacement({ kind: "migrate", path, original, sizeBytes }, io);
  if (json) await writeJsonLine(out, { ...result, operation });
  else await out.write(`${resultText(result)}${undoText(operation)}`);
  return 0;
}

function resultText({ path, version, original }: MigrationResult): string {
  const session = oneLine(path, 400);
  if (original !== null) {
    const kept = oneLine(original, 400);
    return `migrated   ${session}, from version ${version} to 3\noriginal   ${kept}\n`;
  }
  const why =
    version < 3 ? "was migrated by another program in the meantime" : `has version ${version}`;
  return `${session} ${why}: nothing to do\n`;
}
