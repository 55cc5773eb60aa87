/** Matching four bytes at a time: the same answers as one at a time. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  closingQuote,
  FixedText,
  isByteAt,
  openingQuote,
} from "../../packages/streaming/src/byte-match.ts";

const byte = fc.oneof(
  fc.constantFrom(0x22, 0x5c, 0x00, 0x1f, 0x20, 0x21, 0x23, 0x5b, 0x5d, 0x7f, 0x80, 0xff),
  fc.integer({ min: 0x20, max: 0x7e }),
);
const bytesArbitrary = fc.array(byte, { maxLength: 24 }).map((bytes) => Uint8Array.from(bytes));

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function isPlain(value: number): boolean {
  return value >= 0x20 && value < 0x80 && value !== 0x5c;
}

describe("plain strings", () => {
  it("closingQuote finds the first quote unless another special byte precedes it", () => {
    fc.assert(
      fc.property(bytesArbitrary, fc.nat(24), fc.nat(24), (bytes, a, b) => {
        const [at, end] = [Math.min(a, bytes.length), Math.min(b, bytes.length)];
        const stop = bytes
          .slice(0, end)
          .findIndex((x, i) => i >= at && (x === 0x22 || !isPlain(x)));
        const expected = bytes[stop] === 0x22 ? stop : -1;
        expect(closingQuote(viewOf(bytes), at, end)).toBe(expected);
      }),
      { numRuns: 5000 },
    );
  });

  it("openingQuote finds the quote before unless another special byte is between", () => {
    fc.assert(
      fc.property(bytesArbitrary, fc.nat(24), fc.nat(24), (bytes, a, b) => {
        const [floor, at] = [Math.min(a, bytes.length), Math.min(b, bytes.length)];
        const inside = at > floor && bytes[at - 1] === 0x22 ? bytes.slice(floor, at - 1) : [];
        const stop = inside.findLastIndex((x) => x === 0x22 || !isPlain(x));
        const expected = inside[stop] === 0x22 ? floor + stop : -1;
        expect(openingQuote(viewOf(bytes), floor, at)).toBe(expected);
      }),
      { numRuns: 5000 },
    );
  });
});

describe("FixedText", () => {
  it.each(["null", "abcde", ',"id":"', "0123456789ab", "0123456789abcdefghijklmn"])(
    "FixedText finds %s at its position and nowhere else",
    (text) => {
      const fixed = new FixedText(text);
      const bytes = Buffer.from(`xx${text}yy`);
      const view = viewOf(bytes);
      for (let at = 0; at <= bytes.length; at++) {
        const end = at === 2 ? 2 + text.length : -1;
        expect(fixed.after(view, at, bytes.length)).toBe(end);
        expect(fixed.before(view, 0, at)).toBe(at === 2 + text.length ? 2 : -1);
      }
      expect(fixed.after(view, 2, 2 + text.length - 1)).toBe(-1);
      expect(fixed.before(view, 3, 2 + text.length)).toBe(-1);
      expect(fixed.equals(view, 2, 2 + text.length)).toBe(true);
      expect(fixed.equals(view, 2, 3 + text.length)).toBe(false);
    },
  );

  it("FixedText detects a difference in every byte", () => {
    const text = "0123456789abcdefghijklmn";
    for (let length = 4; length <= text.length; length++) {
      const fixed = new FixedText(text.slice(0, length));
      for (let i = 0; i < length; i++) {
        const bytes = Buffer.from(text.slice(0, length));
        bytes[i] = 0x7e;
        expect(fixed.after(viewOf(bytes), 0, length)).toBe(-1);
      }
    }
  });

  it("FixedText rejects a text of an unsupported length", () => {
    expect(() => new FixedText("abc")).toThrow(RangeError);
    expect(() => new FixedText("x".repeat(25))).toThrow(RangeError);
  });
});

describe("isByteAt", () => {
  it("isByteAt is false outside of the bytes", () => {
    const view = viewOf(Uint8Array.of(1, 2));
    expect([-1, 0, 1, 2].map((at) => isByteAt(view, at, 2))).toEqual([false, false, true, false]);
  });
});
