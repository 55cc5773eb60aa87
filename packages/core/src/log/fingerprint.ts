/**
 * The fingerprint of a log: its file, the bytes in its header and those before the cursor up to
 * which it was read. A log that still has it is the one that was read. Appends keep that true, and
 * so does a new name in omp's title slot; a replaced, truncated or rewritten log does not, and
 * starts a new generation. The bytes are taken from what is read anyway: read a second time, they
 * might be those of another log by then.
 */
import type { ByteSource } from "@branchlog/streaming";
import { readFullySync } from "../bodies/body-reader.ts";
import { slotLength } from "../dialects/title-slot.ts";
import { fingerprintBytes } from "../limits.ts";
import type { FileStat } from "../store/ports.ts";

/** The bytes by which a log is remembered at a cursor. */
export interface LogFingerprint {
  /** Bytes of the log that were read. */
  readonly cursor: number;
  /** The bytes before the cursor. */
  readonly beforeCursor: Buffer;
  /** The first bytes of the log, header included where it fits. */
  readonly start: Buffer;
}

/** What is remembered of a log at a cursor. */
export interface LogIdentity extends LogFingerprint {
  readonly dev: number;
  readonly ino: number;
}

/** Bytes at the start of the log that are compared; a header is shorter as a rule. */
export const startBytes: number = 512;

/** What to remember of the log as it is now, read up to `cursor`. Two small reads. */
export function identityOf(source: ByteSource, stat: FileStat, cursor: number): LogIdentity {
  return { dev: stat.dev, ino: stat.ino, ...fingerprintOf(source, cursor) };
}

/** By which bytes to remember the log as it is now, read up to `cursor`. Two small reads. */
export function fingerprintOf(source: ByteSource, cursor: number): LogFingerprint {
  const beforeStart = Math.max(0, cursor - fingerprintBytes);
  return {
    cursor,
    beforeCursor: bytesAt(source, beforeStart, cursor),
    start: bytesAt(source, 0, Math.min(cursor, startBytes)),
  };
}

/** Whether the log that has `stat` now continues the remembered one. Two small reads. */
export function continues(source: ByteSource, stat: FileStat, identity: LogIdentity): boolean {
  if (stat.dev !== identity.dev || stat.ino !== identity.ino) return false;
  return stat.size >= identity.cursor && matchesFingerprint(source, identity);
}

/** Whether the log still holds the bytes by which it is remembered. Two small reads. */
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
  const bytes = Buffer.alloc(to - from);
  readFullySync(source, bytes, bytes.length, from);
  return bytes;
}

/** The fingerprint of a log of which nothing was read. */
export const nothingRead: LogFingerprint = {
  cursor: 0,
  beforeCursor: Buffer.alloc(0),
  start: Buffer.alloc(0),
};

/**
 * Passes reads on, and fingerprints what they read. Reads elsewhere than at the cursor change
 * nothing.
 */
export class FingerprintingReader implements ByteSource {
  readonly #source: ByteSource;
  #bytes: LogFingerprint;

  /** @param bytes The fingerprint up to the cursor from which reading continues. */
  constructor(source: ByteSource, bytes: LogFingerprint = nothingRead) {
    this.#source = source;
    this.#bytes = bytes;
  }

  /** By what the log is known, read as far as it is. */
  get bytes(): LogFingerprint {
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

  /** Adds bytes that are at the cursor, but were not read from there. */
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
