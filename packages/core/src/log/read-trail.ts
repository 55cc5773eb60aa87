/**
 * Passes reads on, and keeps the bytes at the start of a log and before the place that was come to:
 * as they were when they were read. Read a second time, they might be those of another log by then.
 */
import type { ByteSource } from "@branchlog/streaming";
import { fingerprintBytes } from "../limits.ts";
import { startBytes } from "./log-identity.ts";
import type { RememberedBytes } from "./log-identity.ts";

/** What is kept of a log before it is read. */
export const nothingRead: RememberedBytes = {
  cursor: 0,
  beforeCursor: Buffer.alloc(0),
  start: Buffer.alloc(0),
};

/** See the file comment. Reads that do not begin at the place leave it where it is. */
export class ReadTrail implements ByteSource {
  readonly #source: ByteSource;
  #bytes: RememberedBytes;

  /** @param bytes What was kept of the log before. */
  constructor(source: ByteSource, bytes: RememberedBytes = nothingRead) {
    this.#source = source;
    this.#bytes = bytes;
  }

  /** By what the log is known, read as far as it is. */
  get bytes(): RememberedBytes {
    return this.#bytes;
  }

  readSync(target: Buffer, offset: number, length: number, position: number): number {
    const bytesRead = this.#source.readSync(target, offset, length, position);
    this.#saw(target.subarray(offset, offset + bytesRead), position);
    return bytesRead;
  }

  async read(target: Buffer, offset: number, length: number, position: number): Promise<number> {
    const bytesRead = await this.#source.read(target, offset, length, position);
    this.#saw(target.subarray(offset, offset + bytesRead), position);
    return bytesRead;
  }

  /** Goes on behind bytes that stand at the place, and were not read from there. */
  add(bytes: Buffer): void {
    this.#saw(bytes, this.#bytes.cursor);
  }

  #saw(bytes: Buffer, position: number): void {
    const { cursor, start, beforeCursor } = this.#bytes;
    if (position !== cursor) return;
    const missing = bytes.subarray(0, startBytes - start.length);
    const last = bytes.subarray(-fingerprintBytes);
    const kept = beforeCursor.subarray(last.length - fingerprintBytes);
    this.#bytes = {
      cursor: cursor + bytes.length,
      start: start.length === startBytes ? start : Buffer.concat([start, missing]),
      beforeCursor:
        last.length < fingerprintBytes ? Buffer.concat([kept, last]) : Buffer.from(last),
    };
  }
}
