/**
 * The paths of the files beside a log: its own path with an ending. File systems bound a name to
 * 255 bytes; where the name of the log leaves no room for the ending, a hash takes its place, so
 * that every log that can be opened has its lock.
 */
import { createHash } from "node:crypto";
import { basename, dirname, join } from "node:path";

/** The longest name of a file, in bytes, on all usual file systems. */
export const nameBytesMax: number = 255;

/** The path of the file beside `path` with this ending: the same in every process. */
export function sidecarPath(path: string, ending: string): string {
  const name = basename(path);
  return isShort(name + ending) ? path + ending : join(dirname(path), hashedName(name) + ending);
}

/** Files of one ending that are kept beside a log: the search for a free name has an end. */
const numberedMax = 100;

/**
 * The names of files that are kept beside a log, each of which may be taken: with this ending, then
 * with `-2`, `-3`, …
 * @throws Error when there are no more.
 */
export function* keptPaths(path: string, ending: string): Generator<string, never, undefined> {
  for (let number = 1; number <= numberedMax; number += 1) {
    yield sidecarPath(path, number === 1 ? ending : `${ending}-${number}`);
  }
  throw new Error(`there are ${numberedMax} files named ${path}${ending} already`);
}

/** Replaces the name of a log in the names of sidecars that would be too long. */
export function hashedName(name: string): string {
  return `.branchlog-${createHash("sha256").update(name).digest("hex").slice(0, 32)}`;
}

function isShort(name: string): boolean {
  // No code unit takes more than three bytes: most names need not be measured.
  return 3 * name.length <= nameBytesMax || Buffer.byteLength(name) <= nameBytesMax;
}
