/**
 * The description of a line too long to be joined: its place, its two ends, and the counts that
 * decide whether it can be indexed by them. The meter takes the line in pieces of any size, in
 * order; the result does not depend on the division.
 */
import { lineEdgeBytes } from "./limits.ts";

/** A line above `lineBytesMax`, described instead of joined. */
export interface LongLine {
  /** File position of its first byte. */
  readonly offset: number;
  /** Bytes without "\n"; a trailing "\r" counts. */
  readonly length: number;
  /** Its first `lineEdgeBytes` bytes. */
  readonly head: Buffer;
  /** Its last `lineEdgeBytes` bytes. */
  readonly tail: Buffer;
  /** Occurrences of `"parentId":` in the whole line. */
  readonly parentIdCount: number;
  /** Occurrences of `"customType":` in the whole line. */
  readonly customTypeCount: number;
  /** Occurrences of `"data":`, `"content":` and `"message":` in the whole line. */
  readonly payloadKeyCounts: {
    readonly data: number;
    readonly content: number;
    readonly message: number;
  };
  /** Whether it has a NUL byte. */
  readonly hasNul: boolean;
  /** Whether its "\n" was seen. */
  readonly terminated: boolean;
}

const needles = ['"parentId":', '"customType":', '"data":', '"content":', '"message":'].map((key) =>
  Buffer.from(key, "latin1"),
);
const seamBytes = Math.max(...needles.map((needle) => needle.length)) - 1;

/** Measures one line piece by piece. It keeps the two edges, never the middle. */
export class LongLineMeter {
  readonly #offset: number;
  #length = 0;
  #hasNul = false;
  #head: Buffer = Buffer.alloc(0);
  #tail: Buffer = Buffer.alloc(0);
  readonly #counts = needles.map(() => 0);

  /** @param offset File position of the first byte of the line. */
  constructor(offset: number) {
    this.#offset = offset;
  }

  /** Takes the next piece of the line: `bytes[start, end)`, which is copied where it is kept. */
  push(bytes: Buffer, start: number, end: number): void {
    if (start >= end) return;
    const piece = bytes.subarray(start, end);
    this.#count(piece);
    this.#hasNul ||= piece.includes(0);
    this.#length += piece.length;
    if (this.#head.length < lineEdgeBytes) {
      const wanted = lineEdgeBytes - this.#head.length;
      this.#head = Buffer.concat([this.#head, piece.subarray(0, wanted)]);
    }
    const kept = Math.max(0, lineEdgeBytes - piece.length);
    const before = kept === 0 ? [] : [this.#tail.subarray(-kept)];
    this.#tail = Buffer.concat([...before, piece.subarray(-lineEdgeBytes)]);
  }

  /** What was measured so far. */
  finish(terminated: boolean): LongLine {
    const [parentIdCount = 0, customTypeCount = 0, data = 0, content = 0, message = 0] =
      this.#counts;
    return {
      offset: this.#offset,
      length: this.#length,
      head: this.#head,
      tail: this.#tail,
      parentIdCount,
      customTypeCount,
      payloadKeyCounts: { data, content, message },
      hasNul: this.#hasNul,
      terminated,
    };
  }

  #count(piece: Buffer): void {
    const carried = this.#tail.subarray(-seamBytes);
    const seam = Buffer.concat([carried, piece.subarray(0, seamBytes)]);
    for (const [i, needle] of needles.entries()) {
      const before = this.#counts[i] ?? 0;
      this.#counts[i] =
        before + countStraddling(seam, needle, carried.length) + count(piece, needle);
    }
  }
}

function count(bytes: Buffer, needle: Buffer): number {
  let found = 0;
  for (let at = bytes.indexOf(needle); at !== -1; at = bytes.indexOf(needle, at + 1)) found++;
  return found;
}

/** Occurrences that start before `border` and end after it. */
function countStraddling(seam: Buffer, needle: Buffer, border: number): number {
  let found = 0;
  for (let at = seam.indexOf(needle); at !== -1; at = seam.indexOf(needle, at + 1)) {
    if (at < border && at + needle.length > border) found++;
  }
  return found;
}
