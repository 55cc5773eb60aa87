/** The growable bytes under the memory file system. */
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { MemoryBytes } from "../../../packages/core/src/platform/private-ports.ts";

it("equals one buffer, whatever the sizes of the appends and wherever it is read", () => {
  const sizes = fc.array(fc.oneof(fc.nat(300), fc.nat(150_000)), { maxLength: 8 });
  fc.assert(
    fc.property(sizes, fc.nat(), fc.nat(), fc.nat(5), (lengths, position, length, offset) => {
      const bytes = new MemoryBytes();
      const parts = lengths.map((size, at) => Buffer.alloc(size + 2, `${at} ${size} `));
      for (const part of parts) bytes.append(part, 1, part.length - 2);
      const whole = Buffer.concat(parts.map((part) => part.subarray(1, part.length - 1)));
      expect(bytes.length).toBe(whole.length);
      const from = position % (whole.length + 2);
      const count = length % (whole.length + 2);
      const target = Buffer.alloc(offset + count, "#");
      const copied = bytes.copyTo(target, offset, count, from);
      const expected = whole.subarray(from, from + count);
      expect(copied).toBe(expected.length);
      expect(target.subarray(offset, offset + copied).equals(expected)).toBe(true);
      expect(target.subarray(0, offset).toString()).toBe("#".repeat(offset));
    }),
  );
});

it("is empty after clearing, and grows again", () => {
  const bytes = new MemoryBytes();
  bytes.append(Buffer.alloc(100_000, "x"), 0, 100_000);
  bytes.clear();
  expect(bytes.length).toBe(0);
  bytes.append(Buffer.from("new"), 0, 3);
  const target = Buffer.alloc(3);
  expect(bytes.copyTo(target, 0, 3, 0)).toBe(3);
  expect(target.toString()).toBe("new");
});
