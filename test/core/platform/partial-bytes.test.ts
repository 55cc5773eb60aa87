/** Bytes that are elsewhere until they are read. */
import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { expect, it } from "vitest";
import { PartialBytes } from "../../../packages/core/src/platform/partial-bytes.ts";
import type { BytesAt } from "../../../packages/core/src/platform/partial-bytes.ts";

const whole = randomBytes(1_000);
const batchBytes = 37;

/** Gives whole batches, and records the requests. */
function reader() {
  const asked: (readonly [number, number])[] = [];
  const readSync = (from: number, to: number): BytesAt => {
    asked.push([from, to]);
    const first = Math.floor(from / batchBytes);
    const last = Math.ceil(to / batchBytes);
    const pieces = Array.from({ length: last - first }, (_, n) =>
      whole.subarray((first + n) * batchBytes, (first + n + 1) * batchBytes),
    );
    return { at: first * batchBytes, pieces };
  };
  return { asked, readSync, read: async (from: number, to: number) => readSync(from, to) };
}

const ranges = fc.array(
  fc.record({
    from: fc.nat({ max: whole.length - 1 }),
    length: fc.integer({ min: 1, max: 300 }),
    isSync: fc.boolean(),
  }),
  { maxLength: 20 },
);

it("are the same in any order, and requested once", async () => {
  await fc.assert(
    fc.asyncProperty(ranges, async (wanted) => {
      const parts = reader();
      const bytes = new PartialBytes(whole.length, parts);
      for (const again of [false, true]) {
        const before = parts.asked.length;
        for (const { from, length, isSync } of wanted) {
          const target = Buffer.alloc(Math.min(length, whole.length - from));
          if (isSync) bytes.readSync(target, from);
          else await bytes.read(target, from);
          expect(target.equals(whole.subarray(from, from + target.length))).toBe(true);
        }
        if (again) expect(parts.asked.length).toBe(before);
      }
    }),
  );
});

it("are prefetched by a sequential reader", async () => {
  const parts = reader();
  const bytes = new PartialBytes(whole.length, parts);
  const target = Buffer.alloc(74);
  for (let at = 0; at + target.length <= whole.length; at += target.length) {
    await bytes.read(target, at);
  }
  expect(parts.asked).toEqual([
    [0, 74],
    [74, 1_000],
  ]);
});

it("are an error when an answer lacks some", () => {
  const short = { readSync: () => ({ at: 0, pieces: [Buffer.alloc(5)] }) };
  const bytes = new PartialBytes(10, { ...short, read: async () => short.readSync() });
  expect(() => bytes.readSync(Buffer.alloc(10), 0)).toThrow(RangeError);
  const target = Buffer.alloc(5, 1);
  bytes.readSync(target, 0);
  expect(target.equals(Buffer.alloc(5))).toBe(true);
});
