/** Random and seeded ids, and the UUIDv7 under both. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ManualClock, createSeededIds } from "@branchlog/core/testing";
import { idSourceContract } from "../../contracts/id-source.ts";
import { createUuidV7, formatUuidV7, randomIds } from "../../../packages/core/src/platform/ids.ts";
import { itPasses } from "../../contracts/contract.ts";

itPasses(
  "the machine's randomness",
  idSourceContract(() => randomIds),
);
itPasses(
  "a seed",
  idSourceContract(() => createSeededIds(7, new ManualClock(1_700_000_000_000))),
);

function timeOf(uuid: string): number {
  return Number.parseInt(uuid.slice(0, 13).replace("-", ""), 16);
}

const uint32 = fc.integer({ min: 0, max: 2 ** 32 - 1 });

describe("UUIDv7", () => {
  it("has the layout of RFC 9562 (example A.6)", () => {
    const sequence = 0xcc3 * 2 ** 30 + 0x18c4dc0c;
    const uuid = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f";
    expect(formatUuidV7(0x017f22e279b0, sequence, 0x0c07398f)).toBe(uuid);
  });

  it("stores each of its parts in separate bits", () => {
    const parts = (bits: number): number => 2 ** bits - 1;
    const zero = "00000000-0000-7000-8000-000000000000";
    expect(formatUuidV7(0, 0, 0)).toBe(zero);
    expect(formatUuidV7(parts(48), 0, 0)).toBe("ffffffff-ffff-7000-8000-000000000000");
    expect(formatUuidV7(0, parts(42), 0)).toBe("00000000-0000-7fff-bfff-ffff00000000");
    expect(formatUuidV7(0, 0, parts(32))).toBe("00000000-0000-7000-8000-0000ffffffff");
  });

  it("only increases, whatever clock and randomness do", () => {
    const steps = fc.array(fc.record({ now: fc.nat(5), random: uint32 }), { maxLength: 50 });
    fc.assert(
      fc.property(steps, fc.nat(2 ** 47), (taken, epochMs) => {
        let step = { now: 0, random: 0 };
        const next = createUuidV7({ now: () => epochMs + step.now, random32: () => step.random });
        let largestMs = 0;
        let last = "";
        for (step of taken) {
          const uuid = next();
          largestMs = Math.max(largestMs, epochMs + step.now);
          expect(uuid > last).toBe(true);
          expect(timeOf(uuid)).toBe(largestMs);
          last = uuid;
        }
      }),
    );
  });

  it("carries the time at which it was minted", () => {
    const before = Date.now();
    expect(timeOf(randomIds.sessionId())).toBeGreaterThanOrEqual(before);
  });
});

describe("seeded ids", () => {
  const sample = (seed: number): unknown[] => {
    const ids = createSeededIds(seed, new ManualClock(1_700_000_000_000));
    return [ids.entryId(), ids.entryId(), ids.sessionId(), ids.jitter(), ids.entryId()];
  };

  it("are the same for the same seed", () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (seed) => {
        expect(sample(seed)).toEqual(sample(seed));
      }),
    );
  });

  it("differ between seeds, also close ones", () => {
    const firsts = Array.from({ length: 1_000 }, (_, seed) => sample(seed)[0]);
    expect(new Set(firsts).size).toBe(1_000);
  });
});
