/** What every source of ids must do. */
import { describe, expect, it } from "vitest";
import type { IdSource } from "../../packages/core/src/store/ports.ts";

const entryId = /^[0-9a-f]{8}$/;
const uuidV7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const count = 20_000;

/** The suite. `setUp` is called inside each test. */
export function idSourceContract(name: string, setUp: () => IdSource): void {
  describe(`${name} as a source of ids`, () => {
    it("mints entry ids of eight lower-case hex digits that seldom meet", () => {
      const source = setUp();
      const ids = Array.from({ length: count }, () => source.entryId());
      expect(ids.filter((id) => !entryId.test(id))).toEqual([]);
      // Expected are 0.05 pairs; five would be a fault of the source, not bad luck.
      expect(count - new Set(ids).size).toBeLessThan(5);
    });

    it("mints entry ids in which every digit takes every value", () => {
      const source = setUp();
      const seen = Array.from({ length: 8 }, () => new Set<string>());
      for (let minted = 0; minted < 2_000; minted += 1) {
        for (const [place, digit] of source.entryId().split("").entries()) seen[place]?.add(digit);
      }
      expect(seen.map(({ size }) => size)).toEqual(Array.from({ length: 8 }, () => 16));
    });

    it("mints ids of letters, digits, dashes and underscores, of any length", () => {
      const source = setUp();
      for (const length of [0, 1, 3, 8, 21, 4097]) {
        expect(source.urlSafeId(length)).toMatch(new RegExp(`^[A-Za-z0-9_-]{${length}}$`));
      }
      const ids = Array.from({ length: count }, () => source.urlSafeId(8));
      // One pair would be bad luck, once in a million runs; two would be a fault of the source.
      expect(count - new Set(ids).size).toBeLessThan(2);
      expect(new Set(ids.join("")).size).toBe(64);
    });

    it("mints session ids that are UUIDv7 and only increase", () => {
      const source = setUp();
      const ids = Array.from({ length: count }, () => source.sessionId());
      expect(ids.filter((id) => !uuidV7.test(id))).toEqual([]);
      expect(ids).toEqual([...new Set(ids)].sort());
    });

    it("spreads jitter over [0, 1)", () => {
      const source = setUp();
      const values = Array.from({ length: 2_000 }, () => source.jitter());
      expect(values.filter((value) => value < 0 || value >= 1)).toEqual([]);
      expect(new Set(values.map((value) => Math.floor(value * 10))).size).toBe(10);
    });
  });
}
