/**
 * How a session is read without an engine: in chunks, every line parsed, every entry kept. The
 * baseline that a peer would have to beat; not part of what is measured for us.
 */
import { closeSync, openSync, readSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";

/** An entry as far as a reader needs to know it. */
export interface PlainEntry {
  readonly type: string;
  readonly id: string;
  readonly parentId: string | null;
}

/** What was read: entries in file order, and by id. */
export interface PlainSession {
  readonly entries: readonly PlainEntry[];
  readonly byId: ReadonlyMap<string, PlainEntry>;
}

const chunkBytes = 1 << 20;

/** Reads a whole file. Needs memory for all of it. */
export function readPlainly(path: string): PlainSession {
  const entries: PlainEntry[] = [];
  const byId = new Map<string, PlainEntry>();
  for (const line of plainLines(path)) {
    // Decoding boundary: made by the generator.
    const entry = JSON.parse(line) as PlainEntry;
    // The header, and the line that omp writes before it.
    if (entry.type === "session" || entry.type === "title") continue;
    entries.push(entry);
    byId.set(entry.id, entry);
  }
  return { entries, byId };
}

function* plainLines(path: string): Generator<string> {
  const descriptor = openSync(path, "r");
  const decoder = new StringDecoder("utf8");
  const chunk = Buffer.allocUnsafe(chunkBytes);
  let rest = "";
  try {
    for (
      let length = readSync(descriptor, chunk);
      length > 0;
      length = readSync(descriptor, chunk)
    ) {
      const lines = (rest + decoder.write(chunk.subarray(0, length))).split("\n");
      rest = lines.pop() ?? "";
      yield* lines;
    }
  } finally {
    closeSync(descriptor);
  }
}
