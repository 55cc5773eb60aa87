/** Records a replacement for `branchlog undo`; a failure to record does not undo it. */
import { isBranchlogError } from "@branchlog/core";
import { recordReplacement } from "@branchlog/library";
import type { Replacement } from "@branchlog/library";
import type { CommandIo } from "./command-io.ts";
import { wholeLine } from "./text/clean-text.ts";

/** The id of the operation; null: it could not be recorded, which is reported. */
export async function recordedReplacement(
  replacement: Replacement,
  { err }: Pick<CommandIo, "err">,
): Promise<string | null> {
  try {
    return await recordReplacement(replacement);
  } catch (error) {
    if (!isBranchlogError(error)) throw error;
    await err.write(`branchlog undo cannot undo this: ${wholeLine(error.message)}\n`);
    return null;
  }
}
