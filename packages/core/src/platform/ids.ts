/**
 * The ids of this process. Randomness is taken from the system in blocks, so that one id costs a
 * fraction of a microsecond.
 */
import { randomFillSync } from "node:crypto";
import type { IdSource } from "./ports.ts";

const block = Buffer.alloc(4096);
let used = block.length;

function take4(): number {
  if (used === block.length) {
    randomFillSync(block);
    used = 0;
  }
  used += 4;
  return used - 4;
}

/** Half the cost of `toString("hex")`. */
function entryId(): string {
  const at = take4();
  return `${hexPair(at)}${hexPair(at + 1)}${hexPair(at + 2)}${hexPair(at + 3)}`;
}

const hexPairs = Array.from({ length: 256 }, (_, byte) => hex(byte, 2));

function hexPair(at: number): string {
  return hexPairs[block[at] ?? 0] ?? "";
}

function urlSafeId(length: number): string {
  const bytes = Buffer.allocUnsafe(length);
  for (let done = 0; done < length; done += 4) block.copy(bytes, done, take4(), used);
  return urlSafeText(bytes);
}

export const randomIds: IdSource = {
  entryId,
  urlSafeId,
  sessionId: createUuidV7({
    now: () => Date.now(),
    random32: () => block.readUInt32LE(take4()),
  }),
  jitter: () => Math.random(),
};

interface UuidV7Source {
  readonly now: () => number;
  readonly random32: () => number;
}

/**
 * UUIDv7 (RFC 9562, 5.7): 48 bits of milliseconds, a 42-bit sequence in rand_a and the top of
 * rand_b, 32 random bits. Each is greater than the one before, even when the clock goes back: the
 * sequence counts on. It starts at 41 random bits in each millisecond, so that 2^41 more fit in
 * one.
 */
export function createUuidV7({ now, random32 }: UuidV7Source): () => string {
  let lastMs = -1;
  let sequence = 0;
  return () => {
    const nowMs = Math.trunc(now());
    sequence = nowMs > lastMs ? random41(random32) : sequence + 1;
    lastMs = Math.max(lastMs, nowMs);
    return formatUuidV7(lastMs, sequence, random32());
  };
}

function random41(random32: () => number): number {
  return random32() + (random32() % 2 ** 9) * 2 ** 32;
}

/** `ms` has 48 bits, `sequence` 42, `random` 32. */
export function formatUuidV7(ms: number, sequence: number, random: number): string {
  const time = hex(ms, 12);
  const version = hex(0x7000 + Math.floor(sequence / 2 ** 30), 4);
  const low30 = sequence % 2 ** 30;
  const variant = hex(0x8000 + Math.floor(low30 / 2 ** 16), 4);
  const node = hex((low30 % 2 ** 16) * 2 ** 32 + random, 12);
  return `${time.slice(0, 8)}-${time.slice(8)}-${version}-${variant}-${node}`;
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, "0");
}

/** As nanoid; safe in paths and addresses. */
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

export function urlSafeText(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += alphabet.charAt(byte & 63);
  return text;
}
