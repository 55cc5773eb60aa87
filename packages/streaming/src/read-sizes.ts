/**
 * Sizes of chunks and joined lines, with the defaults filled in. Invalid sizes are rejected: a read
 * in chunks of 0 bytes would never end. Pure.
 */
import { chunkBytesDefault, lineBytesMaxDefault } from "./limits.ts";

/** How a file is read. */
export interface ReadSizes {
  /** Longest line that is joined. Default 16 MiB. */
  readonly lineBytesMax?: number | undefined;
  /** Bytes per read. Default 256 KiB. */
  readonly chunkBytes?: number | undefined;
}

/** The sizes to read by. @throws RangeError for an invalid one. */
export function readSizes(options: ReadSizes): { lineBytesMax: number; chunkBytes: number } {
  const { lineBytesMax = lineBytesMaxDefault, chunkBytes = chunkBytesDefault } = options;
  requireAtLeast("lineBytesMax", lineBytesMax, 1);
  requireWhole("chunkBytes", chunkBytes, 1);
  return { lineBytesMax, chunkBytes };
}

/** The number, if it is at least `least`; `Infinity` is allowed. @throws RangeError */
function requireAtLeast(name: string, value: number, least: number): number {
  if (typeof value === "number" && value >= least) return value;
  throw unusable(name, `a number of at least ${least}`, value);
}

/** The number, if it is a whole one and at least `least`. @throws RangeError */
export function requireWhole(name: string, value: number, least: number): number {
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw unusable(name, `an integer of at least ${least}`, value);
}

function unusable(name: string, what: string, value: unknown): RangeError {
  const shown = typeof value === "string" ? JSON.stringify(value) : String(value);
  return new RangeError(`${name} must be ${what}, not ${shown}`);
}
