/** Ids that are the same in every run with the same seed: for reproducible tests and examples. */
import type { Clock, IdSource } from "./ports.ts";
import { urlSafeText } from "./url-safe-text.ts";
import { createUuidV7 } from "./uuid-v7.ts";

/**
 * Ids drawn from a generator seeded with `seed`, session ids with the time of `clock`. Not for
 * production: whoever knows the seed knows the ids.
 */
export function createSeededIds(seed: number, clock: Pick<Clock, "now">): IdSource {
  const random32 = sfc32(seed);
  return {
    entryId: () => random32().toString(16).padStart(8, "0"),
    urlSafeId: (length) => urlSafeText(Uint8Array.from({ length }, () => random32() >>> 24)),
    sessionId: createUuidV7({ now: () => clock.now(), random32 }),
    jitter: () => random32() / 2 ** 32,
  };
}

/** Small fast chaotic generator (PractRand) of unsigned 32-bit integers. */
function sfc32(seed: number): () => number {
  let [a, b, c, counter] = [0, Math.floor(seed / 2 ** 32) | 0, seed | 0, 1];
  const next = (): number => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  };
  // The first outputs still resemble the seed.
  for (let round = 0; round < 12; round += 1) next();
  return next;
}
