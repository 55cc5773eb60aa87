/**
 * Ids for the entries of v1 files, which have none: a fixed bijection of line numbers, keyed by the
 * header id. Equal on every open, in every process and version of Branchlog (the tests hold golden
 * vectors; a change would tear labels and forks off their targets). Not secret, not random.
 */
import { BranchlogError } from "../errors.ts";

const rounds = 4;

/**
 * The id of the entry on a line of a v1 file: 8 lower-case hex digits, different for each line
 * number of one file.
 *
 * @param headerId The session id as stored; any string.
 * @param lineNumber 1-based physical line number.
 * @throws `ERR_INVALID_ARGUMENT` for a line number that is not an unsigned 32-bit integer.
 */
export function legacyEntryId(headerId: string, lineNumber: number): string {
  if (lineNumber >>> 0 !== lineNumber) {
    const message = "A line number must be an unsigned 32-bit integer";
    throw new BranchlogError("ERR_INVALID_ARGUMENT", message, { line: lineNumber });
  }
  const key = hashText(headerId);
  // A Feistel network is a bijection whatever its round function is.
  let left = lineNumber >>> 16;
  let right = lineNumber & 0xffff;
  for (let round = 0; round < rounds; round += 1) {
    const mixed = mix(right ^ Math.imul(key + round, 0x9e3779b1)) & 0xffff;
    [left, right] = [right, left ^ mixed];
  }
  const permuted = ((left << 16) | right) >>> 0;
  return permuted.toString(16).padStart(8, "0");
}

/** FNV-1a over UTF-16 code units, low byte first, then mixed. */
function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    hash = Math.imul(hash ^ (unit & 0xff), 0x01000193);
    hash = Math.imul(hash ^ (unit >>> 8), 0x01000193);
  }
  return mix(hash);
}

/** The finaliser of MurmurHash3: every bit of the input changes about half of the output. */
function mix(word: number): number {
  let mixed = word ^ (word >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
