/** `branchlog search`: searches the sessions of a directory and prints each hit as it is found. */
import { searchSessions } from "@branchlog/core";
import type { SearchHit } from "@branchlog/core";
import { writeJsonLine, writeUnlisted } from "../command-io.ts";
import type { CommandIo, CommandResult } from "../command-io.ts";
import { oneLine } from "../text/clean-text.ts";
import { hitLine } from "../text/entry-lines.ts";

export interface SearchCommandOptions {
  readonly query: string;
  readonly directory: string;
  readonly json: boolean;
  /** Whether sessions in sub-directories count, too. */
  readonly recursive: boolean;
  /** Most hits; undefined: all. */
  readonly limit: number | undefined;
}

export async function searchCommand(
  { query, directory, json, recursive, limit = Infinity }: SearchCommandOptions,
  io: CommandIo,
): Promise<CommandResult> {
  const { out, err, signal } = io;
  let [hits, path] = [0, ""];
  const unlisted: string[] = [];
  const options = {
    subdirectories: recursive,
    onUnlisted: (one: string) => unlisted.push(one),
    signal,
  };
  for await (const hit of searchSessions(directory, query, options)) {
    if (hits >= limit) break;
    hits += 1;
    if (json) await writeJsonLine(out, hitJson(hit));
    else {
      if (hit.path !== path) await out.write(headingOf(hit.path, path === "", io));
      await out.write(hitLine(hit, out));
    }
    path = hit.path;
    // Each hit is shown at once.
    await out.flush();
  }
  await writeUnlisted(unlisted, json, io);
  if (hits === 0 && !json) await err.write(`nothing found in ${oneLine(directory, 400)}\n`);
  return 0;
}

function headingOf(path: string, isFirst: boolean, { out }: CommandIo): string {
  return `${isFirst ? "" : "\n"}${out.style.heading(oneLine(path, 400))}\n`;
}

/** A hit in `--json`. */
function hitJson({ path, header, kind, entryId, role, timestamp, snippet }: SearchHit): object {
  return { path, sessionId: header.id, cwd: header.cwd, kind, entryId, role, timestamp, snippet };
}
