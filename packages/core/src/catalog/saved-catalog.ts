/**
 * The saved catalog of a directory: what is known of its files, a line each behind a line with
 * their checksum. It is derived: damaged anywhere, cut, or of another version, it counts as
 * missing.
 */
import { Buffer } from "node:buffer";
import { crc32 } from "node:zlib";
import { sessionName } from "../projections/name.ts";
import { summary } from "../projections/summary.ts";
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

/** The files of a catalog; undefined if the bytes are none. Read in turns. */
export async function readCatalog(bytes: Buffer): Promise<Map<string, SavedFile> | undefined> {
  const start = bytes.indexOf("\n") + 1;
  const rest = bytes.subarray(start);
  if (bytes.toString("utf8", 0, start) !== `${firstLine(crc32(rest))}\n`) return undefined;
  const files = await mapInTurns(linesOf(rest), undefined, savedFile);
  return new Map(files.map(({ name, file }) => [name, file]));
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
