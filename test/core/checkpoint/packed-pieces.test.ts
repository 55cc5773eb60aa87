/** Pieces of a file in little space: what was packed comes back, and nothing else. */
import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Unpacker, packed } from "../../../packages/core/src/checkpoint/packed-pieces.ts";

const pieces = fc.array(
  fc.record({
    bytes: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    elementBytes: fc.constantFrom(1, 4, 8),
  }),
  { maxLength: 10 },
);

function unpacked(buffers: readonly Buffer[]): { bytes: Buffer; isOver: boolean } {
  const unpacker = new Unpacker();
  const bytes = Buffer.concat(buffers.flatMap((buffer) => [...unpacker.add(buffer)]));
  return { bytes, isOver: unpacker.isOver };
}

describe("packed pieces", () => {
  it("are restored for any elements", () => {
    fc.assert(
      fc.property(pieces, (given) => {
        const whole = Buffer.concat(given.map(({ bytes }) => bytes));
        expect(unpacked([...packed(given)])).toEqual({ bytes: whole, isOver: true });
      }),
    );
  });

  it("take little space when neighbours are similar", () => {
    const offsets = Float64Array.from({ length: 8_192 }, (_, at) => 2 ** 31 + at * 900);
    const rows = Int32Array.from({ length: 16_384 }, (_, at) => at);
    const given = [
      { bytes: Buffer.from(offsets.buffer), elementBytes: 8 },
      { bytes: Buffer.from(rows.buffer), elementBytes: 4 },
    ];
    expect(Buffer.concat([...packed(given)]).length).toBeLessThan(2_000);
  });

  it("are read in parts", () => {
    const given = Array.from({ length: 40 }, () => ({
      bytes: randomBytes(64 * 1024),
      elementBytes: 1,
    }));
    expect([...packed(given)]).toHaveLength(3);
  });

  it("are rejected when any of their bytes changed or is missing", () => {
    const given = [{ bytes: Buffer.from("a text that is not long"), elementBytes: 1 }];
    const [whole = Buffer.alloc(0)] = packed(given);
    const isTaken = (buffer: Buffer): boolean => {
      try {
        const { bytes, isOver } = unpacked([buffer]);
        return isOver && bytes.equals(Buffer.concat(given.map((piece) => piece.bytes)));
      } catch {
        return false;
      }
    };
    expect(isTaken(whole)).toBe(true);
    for (let length = 0; length < whole.length; length += 1) {
      expect(isTaken(whole.subarray(0, length))).toBe(false);
    }
    expect(isTaken(Buffer.concat([whole, whole]))).toBe(false);
    for (let at = 0; at < whole.length; at += 1) {
      const other = Buffer.from(whole);
      other.writeUInt8(whole.readUInt8(at) ^ 0xff, at);
      const unpacker = new Unpacker();
      // Either nothing is taken, or what was packed.
      let bytes = Buffer.alloc(0);
      try {
        bytes = Buffer.concat([...unpacker.add(other)]);
      } catch {
        continue;
      }
      expect(!unpacker.isOver || bytes.equals(given[0]?.bytes ?? bytes)).toBe(true);
    }
  });
});
