/** Reports files and directories that cannot be opened because their names are not UTF-8. */
import { writeJsonLine } from "./command-io.ts";
import type { CommandIo } from "./command-io.ts";
import { oneLine } from "./text/clean-text.ts";

/** Reports each path as left out: a line of JSON among the results, or one on `err`. */
export async function writeUnlisted(
  paths: Iterable<string>,
  json: boolean,
  { out, err }: Pick<CommandIo, "out" | "err">,
): Promise<void> {
  for (const path of paths) {
    if (json) await writeJsonLine(out, { kind: "unlisted", path });
    else await err.write(`left out: ${oneLine(path, 400)} (its name is not UTF-8: rename it)\n`);
  }
}
