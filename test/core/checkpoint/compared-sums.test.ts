/** What the comparison of a log with its checksums finds: the same, changed, or rewritten. */
import { crc32 } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runSync } from "@branchlog/streaming";
import type { ByteSource } from "@branchlog/streaming";
import { flippedBit } from "../../../packages/core/src/checkpoint/flipped-bit.ts";
import {
  SumBuilder,
  compareSums,
  sumPieceBytes,
} from "../../../packages/core/src/checkpoint/log-sums.ts";
import type { LogSums, SumComparison } from "../../../packages/core/src/checkpoint/log-sums.ts";

/** A source that refuses to be read past `end`. */
function sourceOf(bytes: Buffer, end: number = Number.MAX_SAFE_INTEGER): ByteSource {
  return {
    readSync(target, offset, length, position) {
      expect(position + length).toBeLessThanOrEqual(end);
      return bytes.copy(target, offset, position, position + length);
    },
    read: () => Promise.reject(new Error("not asked for")),
  };
}

const none: LogSums = {
  dev: 1,
  ino: 1,
  logVersion: 3,
  isConfirmed: true,
  start: 0,
  end: 0,
  sums: new Uint32Array(0),
};

function sumsOf(log: Buffer, parts: Partial<LogSums> = {}): LogSums {
  const builder = new SumBuilder({ ...none, ...parts, end: parts.start ?? 0 });
  runSync(builder.extend(sourceOf(log, log.length), log.length));
  return builder.sums;
}

function compared(sums: LogSums, log: Buffer, changedMax = 100): SumComparison {
  return runSync(compareSums(sourceOf(log), sums, changedMax));
}

const lineBytes = 64;
/** Lines of 64 bytes, which fill so many pieces. */
function logOf(pieces: number): Buffer {
  const lines = (pieces * sumPieceBytes) / lineBytes;
  const line = (n: number): string => `line ${n}`.padEnd(lineBytes - 1, ".");
  return Buffer.from(Array.from({ length: lines }, (_, n) => `${line(n)}\n`).join(""));
}

function flipped(log: Buffer, ...bits: readonly number[]): Buffer {
  const copy = Buffer.from(log);
  for (const bit of bits) copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return copy;
}

/** With other bytes at the beginning of these pieces. */
function changedIn(log: Buffer, ...pieces: readonly number[]): Buffer {
  const copy = Buffer.from(log);
  for (const piece of pieces) copy.write("changed", piece * sumPieceBytes);
  return copy;
}

const log = logOf(5);
const sums = sumsOf(log);

describe("a log compared with its checksums", () => {
  it("is unchanged when every piece is, whatever follows them", () => {
    const same = { verdict: "same", changedCount: 0, changed: [] };
    expect(compared(sums, log)).toEqual(same);
    expect(compared(sums, Buffer.concat([log, Buffer.from("more")]))).toEqual(same);
    expect(compared({ ...none, logVersion: 1 }, log)).toEqual(same);
  });

  it("reports the byte of any flipped bit (Verifies: P13)", () => {
    fc.assert(
      fc.property(fc.nat(log.length * 8 - 1), fc.nat(1_000), (bit, start) => {
        const from = Math.min(start, bit >> 3);
        const found = compared(sumsOf(log, { start: from }), flipped(log, bit));
        const changed = [{ offset: bit >> 3, length: 1 }];
        expect(found).toEqual({ verdict: "changed", changedCount: 1, changed });
      }),
      { numRuns: 300 },
    );
  });

  const end = log.length;
  it.each([
    ["all pieces have other bytes, and end where they did", changedIn(log, 0, 1, 2, 3, 4), 5],
    ["the last piece is gone", log.subarray(0, -sumPieceBytes), 1],
    ["the last line is gone", log.subarray(0, -lineBytes), 1],
    ["nothing is left", Buffer.alloc(0), 5],
    ["the newline at its end flipped, and another bit", flipped(log, 8, end * 8 - 1), 2],
    ["a piece has other bytes, and the end flipped", flipped(changedIn(log, 1), end * 8 - 1), 2],
  ])("is changed when %s", (_, now, changedCount) => {
    expect(compared(sums, now)).toMatchObject({ verdict: "changed", changedCount });
  });

  it.each([
    ["a line was put before it", (text: string) => `new\n${text}`, 5],
    [
      "a line is longer in the middle",
      (text: string) => text.replace("line 3000", "line XXXXXX"),
      3,
    ],
    ["it has one line", () => "x".repeat(5 * sumPieceBytes), 5],
  ])("is rewritten when %s", (_, change, changedCount) => {
    const found = compared(sums, Buffer.from(change(log.toString())));
    expect(found).toMatchObject({ verdict: "rewritten", changedCount });
  });

  it.each([
    [2, '{"type":"session","version":3,"id":"s"}\n', "rewritten"],
    [2, '{"type":"session","version":2,"id":"x"}\n', "changed"],
    [1, '{"type":"session","version":2,"id":"s"}\n', "rewritten"],
    [3, '{"type":"session","version":4,"id":"s"}\n', "changed"],
    [2, '{"type":"sessio!","version":3,"id":"s"}\n', "changed"],
    [2, "no JSON at all, but as long as a header\n", "changed"],
    [2, `[3]${"-".repeat(37)}`, "changed"],
  ])("whose header had version %d and is %j now is %s", (logVersion, header, verdict) => {
    const before = `{"type":"session","version":${logVersion},"id":"s"}\n`;
    const old = sumsOf(Buffer.from(`${before}{}\n`), { logVersion });
    expect(compared(old, Buffer.from(`${header}{}\n`))).toMatchObject({ verdict });
  });

  it("lists the first changed positions, and counts all", () => {
    const { changed, changedCount } = compared(sums, changedIn(log, 0, 2, 4), 2);
    const offsets = changed.map(({ offset }) => offset);
    expect([changedCount, offsets]).toEqual([3, [0, 2 * sumPieceBytes]]);
  });
});

describe("checksums", () => {
  it("equal those of the whole log, however often they were continued", () => {
    const whole = sumsOf(logOf(3), { start: 100 });
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 100, max: 3 * sumPieceBytes })), (stops) => {
        const bytes = logOf(3);
        let continued: LogSums = { ...none, start: 100, end: 100 };
        for (const stop of [...stops.toSorted((one, other) => one - other), bytes.length]) {
          const builder = new SumBuilder(continued);
          runSync(builder.extend(sourceOf(bytes, stop), stop));
          continued = builder.sums;
        }
        expect(continued).toEqual(whole);
      }),
      { numRuns: 50 },
    );
  });

  it("end where the log does", () => {
    const builder = new SumBuilder(none);
    runSync(builder.extend(sourceOf(Buffer.from("short")), 100));
    expect(builder.sums).toEqual({ ...none, end: 5, sums: Uint32Array.of(crc32("short")) });
  });
});

it("checksums of any bytes find one flipped bit, and report none where two flipped", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 2, maxLength: 300 }), fc.nat(), (given, at) => {
      const bytes = Buffer.from(given);
      const bit = at % (bytes.length * 8 - 1);
      const difference = (changed: Buffer): number => crc32(bytes) ^ crc32(changed);
      const { length } = bytes;
      expect(flippedBit(difference(flipped(bytes, bit)), length)).toBe(bit >> 3);
      expect(flippedBit(difference(flipped(bytes, bit, bit + 1)), length)).toBe(-1);
      expect(flippedBit(0, length)).toBe(-1);
    }),
  );
});
