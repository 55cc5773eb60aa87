/**
 * Ids from the operating system's randomness, fetched in blocks so that one id costs a fraction
 * of a microsecond. Session ids increase for the whole process, also when its clock goes back.
 */
import { randomFillSync } from "node:crypto";
import type { IdSource } from "./ports.ts";
import { urlSafeText } from "./url-safe-text.ts";
import { createUuidV7 } from "./uuid-v7.ts";

const block = Buffer.alloc(4096);
let used = block.length;

/** Position of four random bytes that nobody has seen yet. */
function take4(): number {
  if (used === block.length) {
    randomFillSync(block);
    used = 0;
  }
  used += 4;
  return used - 4;
}

function entryId(): string {
  const at = take4();
  return block.toString("hex", at, at + 4);
}

function urlSafeId(length: number): string {
  const bytes = Buffer.allocUnsafe(length);
  for (let done = 0; done < length; done += 4) block.copy(bytes, done, take4(), used);
  return urlSafeText(bytes);
}

/** The ids of this process. */
export const randomIds: IdSource = {
  entryId,
  urlSafeId,
  sessionId: createUuidV7({
    now: () => Date.now(),
    random32: () => block.readUInt32LE(take4()),
  }),
  jitter: () => Math.random(),
};
