/**
 * The fingerprint of a log: its file, the bytes in its header and those before the read cursor.
 * Appends keep it, and so does a new name in omp's title slot; a replaced, truncated or rewritten
 * log does not, and starts a new generation. The bytes are taken from regular reads: a second read
 * might already see another log.
 */
import { readFullySync } from "@branchlog/streaming";
import type { ByteSource } from "@branchlog/streaming";
import { slotLength } from "../dialects/title-slot.ts";
import { fingerprintBytes } from "../limits.ts";
import type { FileStat } from "../platform/ports.ts";

export interface LogFingerprint {
  readonly cursor: number;
  readonly beforeCursor: Buffer;
  /** The first bytes of the log, header included if it fits. */
  readonly start: Buffer;
}

export interface LogIdentity extends LogFingerprint {
  readonly dev: number;
  readonly ino: number;
}

export const startBytes: number = 512;

/** Of a longer write only its end is kept in memory, as a copy. */
const sharedBytesMax = 4096;

export function fingerprintOf(source: ByteSource, cursor: number): LogFingerprint {
  const beforeStart = Math.max(0, cursor - fingerprintBytes);
  return {
    cursor,
    beforeCursor: bytesAt(source, beforeStart, cursor),
    start: bytesAt(source, 0, Math.min(cursor, startBytes)),
  };
}

/** Whether the log that has `stat` now continues the fingerprinted one. Two small reads. */
export function continues(source: ByteSource, stat: FileStat, identity: LogIdentity): boolean {
  if (stat.dev !== identity.dev || stat.ino !== identity.ino) return false;
  return stat.size >= identity.cursor && matchesFingerprint(source, identity);
}

export function matchesFingerprint(source: ByteSource, bytes: LogFingerprint): boolean {
  const { cursor, beforeCursor, start } = bytes;
  const startNow = bytesAt(source, 0, start.length);
  const slot = slotLength(start);
  if (slotLength(startNow) !== slot) return false;
  if (!startNow.subarray(slot).equals(start.subarray(slot))) return false;
  const from = Math.max(cursor - beforeCursor.length, slot);
  const before = beforeCursor.subarray(beforeCursor.length - (cursor - from));
  return bytesAt(source, from, cursor).equals(before);
}

function bytesAt(source: ByteSource, from: number, to: number): Buffer {
  return readFullySync(source, Buffer.alloc(to - from), from);
}

const nothingRead: LogFingerprint = {
  cursor: 0,
  beforeCursor: Buffer.alloc(0),
  start: Buffer.alloc(0),
};

/** Passes reads on, and fingerprints them. Only reads at the cursor count. */
export class FingerprintingReader implements ByteSource {
  readonly #source: ByteSource;
  #bytes: LogFingerprint;

  constructor(source: ByteSource, bytes: LogFingerprint = nothingRead) {
    this.#source = source;
    this.#bytes = bytes;
  }

  get bytes(): LogFingerprint {
    return this.#bytes;
  }

  readSync(target: Buffer, offset: number, length: number, position: number): number {
    const bytesRead = this.#source.readSync(target, offset, length, position);
    this.#onRead(target.subarray(offset, offset + bytesRead), position);
    return bytesRead;
  }

  async read(target: Buffer, offset: number, length: number, position: number): Promise<number> {
    const bytesRead = await this.#source.read(target, offset, length, position);
    this.#onRead(target.subarray(offset, offset + bytesRead), position);
    return bytesRead;
  }

  /** `bytes` follow what was read, and must not change afterwards. */
  add(bytes: Buffer): void {
    this.#add(bytes, bytes.length <= sharedBytesMax);
  }

  #onRead(bytes: Buffer, position: number): void {
    // The bytes read next may overwrite these.
    if (position === this.#bytes.cursor) this.#add(bytes, false);
  }

  #add(bytes: Buffer, isShared: boolean): void {
    const { cursor, start, beforeCursor } = this.#bytes;
    const last = lastOf(beforeCursor, bytes);
    this.#bytes = {
      cursor: cursor + bytes.length,
      start: start.length === startBytes ? start : startOf(start, bytes),
      beforeCursor: isShared ? last : Buffer.from(last),
    };
  }
}

function startOf(start: Buffer, bytes: Buffer): Buffer {
  return Buffer.concat([start, bytes.subarray(0, startBytes - start.length)]);
}

function lastOf(before: Buffer, bytes: Buffer): Buffer {
  if (bytes.length >= fingerprintBytes) return bytes.subarray(-fingerprintBytes);
  return Buffer.concat([before.subarray(bytes.length - fingerprintBytes), bytes]);
}
