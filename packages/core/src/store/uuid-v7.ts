/**
 * UUIDv7 (RFC 9562, 5.7) that only ever increase: 48 bits of milliseconds, a 42-bit sequence in
 * rand_a and the top of rand_b, 32 random bits. When the clock stands still or goes back, the
 * millisecond stays and the sequence counts on.
 */

/** Where the generator takes its time and randomness from. */
export interface UuidV7Source {
  /** Epoch milliseconds; may stand still or go back. */
  readonly now: () => number;
  /** A random unsigned 32-bit integer. */
  readonly random32: () => number;
}

/**
 * A generator of UUIDv7 in canonical text. Each is greater than the one before, also as text.
 * The sequence starts anew at 41 random bits in each millisecond, so that 2^41 more fit in one.
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

/** The text of one UUIDv7. `ms` has 48 bits, `sequence` 42, `random` 32. */
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
