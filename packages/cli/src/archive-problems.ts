/** Unreadable parts of the archive, as warnings next to the results. */
import type { BranchlogError } from "@branchlog/core";
import { writeJsonLine } from "./command-io.ts";
import type { CommandIo } from "./command-io.ts";
import { describeFailure } from "./failure.ts";
import { wholeLine } from "./text/clean-text.ts";

/** Throws nothing. */
export function problemsTo({
  err,
  isJson = false,
}: Pick<CommandIo, "err" | "isJson">): (error: BranchlogError) => void {
  return (error) => {
    const written = isJson
      ? writeJsonLine(err, { error: describeFailure(error) })
      : err.write(`${wholeLine(error.message)}\n`);
    // A closed terminal must not end the work.
    void written.catch(() => undefined);
  };
}
