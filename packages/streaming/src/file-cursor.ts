/**
 * A position in an open file from which whole lines are read as the file grows. Each read begins a
 * few bytes before the position, and its new bytes count only if those are unchanged: a rewritten
 * file is not taken for a continuation.
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
 * The result of one read: the lines that ended in it, perhaps none; or the end of the file; or that
 * the lines before the position are no longer in the file.
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
  /** The bytes right before `#framer.offset`, see `edgeIn`; null if not read yet. */
  #edge: Buffer | null;
  /** The bytes before the incomplete line. */
  #lineEdge: Buffer | null;
  #targetOf: (bytes: number) => Buffer = reusedBuffers(1);

  /** @param from 0, or the start of a line: the bytes before it count as known. */
  constructor(file: FileSource, from: number, options: CursorOptions) {
    this.#file = file;
    this.#options = readSizes(options);
    requireWhole("from", from, 0);
    this.#framer = this.#framerAt(from, 1);
    this.#edge = from === 0 ? Buffer.alloc(0) : null;
    this.#lineEdge = this.#edge;
  }

  /** Reads the next chunk. One read at a time; after "lost" the cursor is unusable. */
  async read(): Promise<CursorRead> {
    const { chunkBytes } = this.#options;
    const place = this.#framer.offset;
    const edgeBytes = this.#edge?.length ?? Math.min(place, edgeBytesMax);
    const newBytes = this.#file.sizeSync() - place;
    if (newBytes < 0) return this.#step("truncated");
    // A follower that waits for a change keeps no chunk.
    if (newBytes === 0) this.#targetOf = reusedBuffers(1);
    const target = this.#targetOf(edgeBytes + Math.min(newBytes, chunkBytes));
    const length = await this.#file.read(target, 0, target.length, place - edgeBytes);
    // Truncated meanwhile, or a short read: the size of the next read decides.
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

  /** Frames the bytes after the edge, and keeps the edges of the next read. */
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
   * The bytes before the position are gone. If they were an incomplete line, only that line is read
   * again: nothing of it was emitted, and a truncated torn tail is no reason to start over.
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
 * A copy of the bytes before `end`, to be compared at the next read: some before the line that
 * begins at `lineAt`, and the part of that line read so far. Without its beginning, two lines that
 * differ in it only would be joined, the first half of one and the second half of the other.
 */
function edgeIn(bytes: Buffer, lineAt: number, end: number): Buffer {
  return Buffer.from(bytes.subarray(Math.max(0, lineAt - edgeBytesMax, end - begunBytesMax), end));
}
