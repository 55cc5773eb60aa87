/**
 * A place in an open file from which whole lines are read, again and again, as the file grows. Each
 * read begins a few bytes before the place, and only if these are still what they were does the
 * rest of it count: so what was rewritten is never taken for a continuation.
 */
import { reusedBuffers } from "./byte-pass.ts";
import type { FileSource } from "./byte-source.ts";
import { type FileLine, LineCopies } from "./file-line.ts";
import { begunBytesMax, edgeBytesMax } from "./limits.ts";
import { LineFramer } from "./line-framer.ts";
import { readSizes, requireWhole } from "./read-sizes.ts";

/** How a cursor reads. */
export interface CursorOptions {
  /** Longest line that is joined. Default 16 MiB. */
  readonly lineBytesMax?: number;
  /** Bytes per read. Default 256 KiB. */
  readonly chunkBytes?: number;
}

/**
 * What one read brought: the lines that ended in it, perhaps none; or that there was nothing more;
 * or that the lines before the place are no longer in the file.
 */
export type CursorRead =
  | { readonly kind: "lines"; readonly lines: readonly FileLine[] }
  | { readonly kind: "end" }
  | { readonly kind: "lost"; readonly reason: "replaced" | "truncated" };

/** See the file comment. It does not close the file. */
export class FileCursor {
  readonly #file: FileSource;
  readonly #options: Required<CursorOptions>;
  #framer: LineFramer;
  /** The bytes right before `#framer.offset`, see `edgeIn`; null if they are still to be read. */
  #edge: Buffer | null;
  /** Those before the line that was begun. */
  #lineEdge: Buffer | null;
  #targetOf: (bytes: number) => Buffer = reusedBuffers(1);

  /** @param from 0, or the start of a line: what is before it counts as known. */
  constructor(file: FileSource, from: number, options: CursorOptions) {
    this.#file = file;
    this.#options = readSizes(options);
    requireWhole("from", from, 0);
    this.#framer = this.#framerAt(from, 1);
    this.#edge = from === 0 ? Buffer.alloc(0) : null;
    this.#lineEdge = this.#edge;
  }

  /** Reads on, one chunk at most. One read at a time; after "lost" the cursor is of no use. */
  async read(): Promise<CursorRead> {
    const { chunkBytes } = this.#options;
    const place = this.#framer.offset;
    const edgeBytes = this.#edge?.length ?? Math.min(place, edgeBytesMax);
    const newBytes = this.#file.sizeSync() - place;
    if (newBytes < 0) return this.#step("truncated");
    // What waits for a change keeps no chunk.
    if (newBytes === 0) this.#targetOf = reusedBuffers(1);
    const target = this.#targetOf(edgeBytes + Math.min(newBytes, chunkBytes));
    const length = await this.#file.read(target, 0, target.length, place - edgeBytes);
    // Shorter by now, or interrupted: the size says which, the next time.
    if (length < edgeBytes) return { kind: "lines", lines: [] };
    const edge = target.subarray(0, edgeBytes);
    if (this.#edge !== null && !this.#edge.equals(edge)) return this.#step("replaced");
    if (this.#edge === null) {
      this.#edge = Buffer.from(edge);
      this.#lineEdge = this.#edge;
    }
    if (newBytes === 0) return { kind: "end" };
    return { kind: "lines", lines: this.#take(target.subarray(0, length), edgeBytes) };
  }

  /** Frames what comes after the edge, and keeps the edges of what comes next. */
  #take(bytes: Buffer, edgeBytes: number): FileLine[] {
    const start = this.#framer.offset - edgeBytes;
    const lineStart = this.#framer.committedOffset;
    const copies = new LineCopies();
    this.#framer.push(bytes.subarray(edgeBytes), copies);
    const lineAt = this.#framer.committedOffset - start;
    this.#edge = edgeIn(bytes, lineAt, bytes.length);
    if (this.#framer.committedOffset > lineStart) this.#lineEdge = edgeIn(bytes, lineAt, lineAt);
    return copies.lines;
  }

  /**
   * The bytes before the place are gone. If they were the beginning of a line, it is begun anew:
   * nothing of it was handed out, and a torn end that is cut off is no reason to start over.
   */
  #step(reason: "replaced" | "truncated"): CursorRead {
    const { offset, committedOffset, lineNumber } = this.#framer;
    if (offset === committedOffset) return { kind: "lost", reason };
    this.#framer = this.#framerAt(committedOffset, lineNumber);
    this.#edge = this.#lineEdge;
    return { kind: "lines", lines: [] };
  }

  #framerAt(offset: number, lineNumber: number): LineFramer {
    const { lineBytesMax } = this.#options;
    return new LineFramer({ offset, lineNumber, lineBytesMax });
  }
}

/**
 * A copy of the bytes before `end` by which they are known again: some before the line that begins
 * at `lineAt`, and what there is of that line. Without its beginning, two lines that differ in it
 * only would be taken for one, the first half of one and the second half of the other.
 */
function edgeIn(bytes: Buffer, lineAt: number, end: number): Buffer {
  return Buffer.from(bytes.subarray(Math.max(0, lineAt - edgeBytesMax, end - begunBytesMax), end));
}
