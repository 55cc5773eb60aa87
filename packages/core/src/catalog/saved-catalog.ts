/**
 * The saved catalog of a directory: what is known of its files, a line each behind a line with
 * their checksum. It is derived: damaged anywhere, cut, or of another version, it counts as
 * missing. A line that says what none could say costs itself.
 */
import { Buffer } from "node:buffer";
import { crc32 } from "node:zlib";
import { sessionName } from "../projections/name.ts";
import { summary } from "../projections/summary.ts";
import { catalogBadLinesMax, catalogLineUnitsMax } from "./limits.ts";
import { mapInTurns } from "./map-concurrently.ts";
import { savedFile, savedLine } from "./saved-file.ts";
import type { SavedFile } from "./saved-file.ts";

/** What is known of the files of a directory, by their names. */
export type SavedFiles = ReadonlyMap<string, SavedFile>;

/** Changes whenever a saved line, or a fold that is saved in it, means something else. */
const version = `2.${sessionName.version}.${summary.version}`;

/** The bytes of a catalog, made in turns. Files that cannot be saved are left out. */
export async function catalogBytes(files: SavedFiles): Promise<Buffer> {
  const lines = await mapInTurns(files, undefined, ([name, file]) => {
    const line = savedLine(name, file);
    return Buffer.from(line === undefined ? "" : `${line}\n`);
  });
  const checksum = lines.reduce((sum, line) => crc32(line, sum), 0);
  return Buffer.concat([Buffer.from(`${firstLine(checksum)}\n`), ...lines]);
}

/** The files of a catalog; undefined if the bytes are none. Read in turns. Throws nothing. */
export async function readCatalog(bytes: Buffer): Promise<Map<string, SavedFile> | undefined> {
  const start = bytes.indexOf("\n") + 1;
  const rest = bytes.subarray(start);
  if (bytes.toString("utf8", 0, start) !== `${firstLine(crc32(rest))}\n`) return undefined;
  const files = new Map<string, SavedFile>();
  let badLines = 0;
  await mapInTurns(linesOf(rest), undefined, (line) => {
    const saved = badLines < catalogBadLinesMax ? fileOf(line) : undefined;
    if (saved === undefined) badLines += 1;
    else files.set(saved.name, saved.file);
  });
  return badLines < catalogBadLinesMax ? files : undefined;
}

function fileOf(line: string): ReturnType<typeof savedFile> | undefined {
  try {
    return line.length <= catalogLineUnitsMax ? savedFile(line) : undefined;
  } catch {
    return undefined;
  }
}

function firstLine(checksum: number): string {
  return JSON.stringify({ branchlogCatalog: version, checksum });
}

function* linesOf(bytes: Buffer): Generator<string> {
  let start = 0;
  for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
    yield bytes.toString("utf8", start, end);
    start = end + 1;
  }
}
