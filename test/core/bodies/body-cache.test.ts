/** The cache of bodies: bounded, true, and not emptied by one walk through everything. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SessionEntry } from "@branchlog/core";
import { createBodyCache } from "../../../packages/core/src/bodies/body-cache.ts";
import type { BodyCache } from "../../../packages/core/src/bodies/body-cache.ts";

const bytesMax = 1_000_000;

function body(id: string): SessionEntry {
  return { type: "custom", customType: "c", id, parentId: null, timestamp: "" };
}

/** Reads rows as a session does, and says which of them were not in the cache. */
function missing(cache: BodyCache, rows: Iterable<number>, lineBytes = 1000): number[] {
  const missed: number[] = [];
  for (const row of rows) {
    if (cache.get(row) !== undefined) continue;
    missed.push(row);
    cache.set(row, body(`${row}`), lineBytes);
  }
  return missed;
}

function* range(from: number, to: number): Generator<number> {
  for (let row = from; row < to; row += 1) yield row;
}

describe("the cache of bodies", () => {
  it("keeps bodies that are read again while there is space", () => {
    const cache = createBodyCache(bytesMax);
    const rows = [...range(0, 100)];
    expect(missing(cache, rows)).toEqual(rows);
    // The last ones are there at once, the others from the second time on.
    expect(missing(cache, rows).length).toBeLessThan(100);
    expect(missing(cache, rows)).toEqual([]);
  });

  it("does not lose them in a full walk, and keeps little of that", () => {
    const cache = createBodyCache(bytesMax);
    for (let times = 0; times < 3; times += 1) missing(cache, range(0, 100));
    const { bytes } = cache;
    missing(cache, range(100, 20_000));
    expect(missing(cache, range(0, 80))).toEqual([]);
    expect(cache.bytes).toBeLessThan(bytes + bytesMax / 16);
  });

  it("returns a body that was just read, of any size below that of the cache", () => {
    const sizes = fc.integer({ min: 0, max: 600_000 });
    fc.assert(
      fc.property(fc.array(sizes, { minLength: 1, maxLength: 50 }), (lineBytes) => {
        const cache = createBodyCache(bytesMax);
        lineBytes.forEach((bytes, row) => {
          const entry = body(`${row}`);
          cache.set(row, entry, bytes);
          expect(cache.get(row)).toBe(entry);
          expect(cache.peek(row)).toBe(entry);
        });
      }),
    );
  });

  it("holds at most its limit, and only the latest values", () => {
    const step = fc.tuple(fc.nat(20), fc.nat(60_000), fc.boolean());
    fc.assert(
      fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
        const cache = createBodyCache(bytesMax);
        const last = new Map<number, SessionEntry>();
        for (const [row, bytes, isSet] of steps) {
          if (isSet) {
            last.set(row, body(`${row}`));
            cache.set(row, last.get(row) ?? body(""), bytes);
          }
          const found = cache.get(row);
          if (found !== undefined) expect(found).toBe(last.get(row));
          expect(cache.bytes).toBeLessThanOrEqual(bytesMax);
        }
      }),
    );
  });

  it("holds at most its limit of entries appended between reads, and nothing else", () => {
    const step = fc.tuple(fc.nat(20), fc.nat(60_000), fc.boolean());
    fc.assert(
      fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
        const cache = createBodyCache(bytesMax);
        const last = new Map<number, SessionEntry>();
        let next = 0;
        for (const [distance, bytes, isAppended] of steps) {
          const row = isAppended ? (next += distance + 1) : Math.max(0, next - distance);
          const found = cache.peek(row);
          if (found !== undefined) expect(found).toBe(last.get(row));
          const entry = body(`${row}`);
          if (isAppended) cache.keep(row, entry, bytes);
          else if (found === undefined) cache.set(row, entry, bytes);
          if (isAppended || found === undefined) last.set(row, entry);
          expect(cache.bytes).toBeLessThanOrEqual(bytesMax);
        }
      }),
    );
  });

  it("has the latest appended entries, which are evicted before those read again", () => {
    const cache = createBodyCache(bytesMax);
    for (const row of range(0, 1_000)) cache.keep(row, body(`${row}`), 1_000);
    expect(cache.peek(999)?.id).toBe("999");
    expect(cache.peek(0)).toBeUndefined();
    for (let times = 0; times < 3; times += 1) missing(cache, range(1_000, 1_450));
    expect(missing(cache, range(1_000, 1_450))).toEqual([]);
    expect(cache.peek(600)).toBeUndefined();
  });

  it.each([0, 1, 400, -1, Number.NaN])("keeps nothing with space for %d bytes", (bytes) => {
    const cache = createBodyCache(bytes);
    expect(missing(cache, [1, 1, 1])).toEqual([1, 1, 1]);
    expect(cache.bytes).toBe(0);
  });

  it.each([401, 1500.5, Infinity])("accepts a limit of %d bytes", (bytes) => {
    const cache = createBodyCache(bytes);
    missing(cache, range(0, 100));
    expect(cache.bytes).toBeLessThanOrEqual(bytes);
  });
});
