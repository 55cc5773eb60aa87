/** The immutable map under what is emitted: a map, in order, that never changes. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { copiedBy } from "./copied-elements.ts";
import { IntMap } from "../../../packages/core/src/live/int-map.ts";

const key = fc.oneof(fc.nat(40), fc.nat(2_000), fc.nat(2 ** 30 - 1));
const change = fc.record({ key, value: fc.option(fc.nat(9), { nil: undefined }) });

function ascending(map: ReadonlyMap<number, number>): [number, number][] {
  return [...map].toSorted(([a], [b]) => a - b);
}

describe("an IntMap", () => {
  it("is a map that does not change when another one is derived from it", () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
        let map = IntMap.empty<number>();
        const plain = new Map<number, number>();
        const history: [IntMap<number>, [number, number][]][] = [];
        for (const { key: at, value } of changes) {
          map = value === undefined ? map.without(at) : map.with(at, value);
          if (value === undefined) plain.delete(at);
          else plain.set(at, value);
          history.push([map, ascending(plain)]);
          expect(map.get(at)).toBe(value);
        }
        for (const [then, expected] of history) {
          expect([...then.entries()]).toEqual(expected);
          expect(then.size).toBe(expected.length);
        }
      }),
    );
  });

  it("filled at once equals one filled step by step", () => {
    fc.assert(
      fc.property(fc.uniqueArray(key, { maxLength: 100 }), (keys) => {
        const sorted = keys.toSorted((a, b) => a - b);
        const filled = IntMap.fill(sorted, true);
        expect([...filled.entries()]).toEqual(sorted.map((one) => [one, true]));
        expect(filled.size).toBe(sorted.length);
        for (const one of keys) {
          const larger = filled.without(one).with(one, true);
          expect([...larger.entries()]).toEqual([...filled.entries()]);
        }
      }),
    );
  });

  it.each([100, 100_000])("of %i copies no more than its depth for a change", async (count) => {
    const map = IntMap.fill(
      Array.from({ length: count }, (_, n) => n),
      true,
    );
    const copied = await copiedBy(() => map.without(count >> 1).with(count, true));
    expect(copied).toBeLessThanOrEqual(2 * 33 * Math.ceil(Math.log2(count) / 5));
  });
});
