/**
 * Tells whether a log is still the one that was read: same file, not shorter, and the same bytes
 * before the cursor and in the header. Appends keep that true, and so does a new name in omp's
 * title slot; a replaced, truncated or rewritten log does not, and starts a new generation.
 */
import type { ByteSource } from "@branchlog/streaming";
import { readFullySync } from "../bodies/body-reader.ts";
import { slotLength } from "../dialects/title-slot.ts";
import { fingerprintBytes } from "../limits.ts";
import type { FileStat } from "../store/ports.ts";

/** The bytes by which a log is remembered at a cursor. */
export interface RememberedBytes {
  /** Bytes of the log that were read. */
  readonly cursor: number;
  /** The bytes before the cursor. */
  readonly beforeCursor: Buffer;
  /** The first bytes of the log, header included where it fits. */
  readonly start: Buffer;
}

/** What is remembered of a log at a cursor. */
export interface LogIdentity extends RememberedBytes {
  readonly dev: number;
  readonly ino: number;
}

/** Bytes at the start of the log that are compared; a header is shorter as a rule. */
export const startBytes: number = 512;

/** What to remember of the log as it is now, read up to `cursor`. Two small reads. */
export function identityOf(source: ByteSource, stat: FileStat, cursor: number): LogIdentity {
  return { dev: stat.dev, ino: stat.ino, ...rememberedBytes(source, cursor) };
}

/** By which bytes to remember the log as it is now, read up to `cursor`. Two small reads. */
export function rememberedBytes(source: ByteSource, cursor: number): RememberedBytes {
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
  return stat.size >= identity.cursor && isStillThere(source, identity);
}

/** Whether the log still holds the bytes by which it is remembered. Two small reads. */
export function isStillThere(source: ByteSource, bytes: RememberedBytes): boolean {
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
