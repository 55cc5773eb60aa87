/** Writes entries as they are stored. */
import type { EntryLine } from "@branchlog/core/types";
import type { Output } from "./output.ts";

/** Writes the bytes of an entry's line, of any length, without its newline. */
export async function writeLine(line: EntryLine, out: Output): Promise<void> {
  if (line.bytes === null) {
    for await (const chunk of line.chunks()) await out.writeData(chunk, "json");
  } else await out.writeData(line.bytes, "json");
}
