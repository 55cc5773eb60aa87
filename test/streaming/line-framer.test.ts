/** The framer: byte-exact lines, whatever the chunks are. */
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { lineEdgeBytes, LineFramer } from "@branchlog/streaming";
import { LineCollector, frame, splitLines } from "./support/collected-lines.ts";
import { chunksOf, chunksOfSize } from "./support/session-lines.ts";

const bom = Buffer.from([0xef, 0xbb, 0xbf]);

/** Bytes rich in what matters to a framer. */
const bytesArbitrary = fc
  .array(
    fc.oneof(
      fc.constantFrom("\n", "\r\n", "\n\n", "", " ", '{"a":1}', "\0"),
      fc.constantFrom('"parentId":', '"data":', '"content":', '"message":', '"customType":'),
      fc.string({ unit: "grapheme", maxLength: 6 }),
      fc.uint8Array({ maxLength: 6 }),
      fc.constant(bom),
    ),
    { maxLength: 20 },
  )
  .map((parts) => Buffer.concat(parts.map((part) => Buffer.from(part))));

const cutsArbitrary = fc.array(fc.nat(400), { maxLength: 12 });

/** A sink that throws at some lines, once at each. */
class RefusingCollector extends LineCollector {
  readonly #refused: Set<number>;
  /** Lines since the end of the last batch. */
  openBatch = 0;

  constructor(refused: readonly number[]) {
    super();
    this.#refused = new Set(refused);
  }

  override line(...args: Parameters<LineCollector["line"]>): void {
    this.#refuse(args[4]);
    super.line(...args);
  }

  override longLine(...args: Parameters<LineCollector["longLine"]>): void {
    this.#refuse(args[1]);
    super.longLine(...args);
  }

  batchEnd(): void {
    this.openBatch = 0;
  }

  #refuse(lineNumber: number): void {
    if (this.#refused.delete(lineNumber)) throw new Error("refused");
    this.openBatch += 1;
  }
}

/** Pushes what the framer has not seen of the bytes, again where the sink refused a line. */
function pushUntilTaken(framer: LineFramer, bytes: Buffer, sink: RefusingCollector): void {
  while (framer.offset < bytes.length) {
    try {
      framer.push(bytes.subarray(framer.offset), sink);
    } catch {
      expect(sink.openBatch).toBe(0);
    }
  }
}

describe("LineFramer", () => {
  it("LineFramer delivers terminated lines with offsets and numbers, blank ones too", () => {
    const { lines, rest, ...state } = frame([Buffer.from('{"a":1}\n\n \r\nlast')]);
    expect(lines).toEqual([
      { text: '{"a":1}', offset: 0, lineNumber: 1, long: null },
      { text: "", offset: 8, lineNumber: 2, long: null },
      { text: " \r", offset: 9, lineNumber: 3, long: null },
    ]);
    const bytes = Buffer.from("last");
    expect(rest).toEqual({ offset: 12, lineNumber: 4, bytes, long: null, length: 4 });
    expect(state).toEqual({ offset: 16, committedOffset: 12, lineNumber: 4 });
  });

  it("LineFramer rethrows the error of a sink without batchEnd, and rewinds to its line", () => {
    const framer = new LineFramer();
    const refusal = new Error("refused");
    const line = (...[, , , offset]: Parameters<LineCollector["line"]>): void => {
      if (offset > 0) throw refusal;
    };
    const sink = { line, longLine: () => undefined };
    expect(() => framer.push(Buffer.from("a\nb\n"), sink)).toThrow(refusal);
    expect([framer.offset, framer.committedOffset, framer.lineNumber]).toEqual([2, 2, 2]);
  });

  it("keeps a byte-order mark anywhere else", () => {
    const { lines } = frame([Buffer.concat([Buffer.from("a\n"), bom, Buffer.from("\n")])]);
    expect(lines[1]).toMatchObject({ text: bom.toString("latin1"), offset: 2 });
    const framer = new LineFramer({ offset: 10 });
    const sink = new LineCollector();
    framer.push(Buffer.concat([bom, Buffer.from("\n")]), sink);
    expect(sink.lines).toMatchObject([{ text: bom.toString("latin1"), offset: 10 }]);
  });

  it("LineFramer has no rest for no bytes, or a byte-order mark alone", () => {
    expect(frame([]).rest).toBeNull();
    expect(frame([Buffer.from("a\n")]).rest).toBeNull();
    expect(frame([bom]).rest).toBeNull();
    expect(frame([bom.subarray(0, 2)]).rest).toMatchObject({ offset: 0, length: 2 });
  });

  it("LineFramer remains usable after rest()", () => {
    const framer = new LineFramer();
    const sink = new LineCollector();
    framer.push(Buffer.from("ab"), sink);
    expect(framer.rest()?.bytes?.toString()).toBe("ab");
    framer.push(Buffer.from("c\n"), sink);
    expect(sink.lines).toMatchObject([{ text: "abc", offset: 0 }]);
    expect(framer.rest()).toBeNull();
  });

  it("describes a line above the maximum by its two ends and its counts", () => {
    const filler = "x".repeat(3 * lineEdgeBytes);
    const keys = '"data":2,"content":3,"message":4,"customType":5';
    const line = `{"parentId":1,"data":"${filler}",${keys}}`;
    const { lines } = frame([Buffer.from(`ok\n${line}\nok\n`)], 100);
    expect(lines.map(({ text, offset }) => [text, offset])).toEqual([
      ["ok", 0],
      ["", 3],
      ["ok", 4 + line.length],
    ]);
    expect(lines[1]?.long).toEqual({
      offset: 3,
      length: line.length,
      head: Buffer.from(line.slice(0, lineEdgeBytes)),
      tail: Buffer.from(line.slice(-lineEdgeBytes)),
      parentIdCount: 1,
      customTypeCount: 1,
      payloadKeyCounts: { data: 2, content: 1, message: 1 },
      hasNul: false,
      terminated: true,
    });
  });

  it("joins a line of exactly the maximum", () => {
    const line = "x".repeat(50);
    expect(frame([Buffer.from(`${line}\n`)], 50).lines[0]?.text).toBe(line);
    expect(frame([Buffer.from(`${line}\n`)], 49).lines[0]?.long?.length).toBe(50);
  });
});

describe("law: chunks do not matter", () => {
  it("LineFramer gives the lines of a plain split for any chunking", () => {
    fc.assert(
      fc.property(bytesArbitrary, cutsArbitrary, (bytes, cuts) => {
        const framed = frame(chunksOf(bytes, cuts));
        const expected = splitLines(bytes);
        expect(framed.lines).toEqual(expected.lines);
        expect(framed.rest?.bytes ?? Buffer.alloc(0)).toEqual(expected.rest);
        expect(framed.offset).toBe(bytes.length);
        expect(framed.committedOffset).toBe(bytes.lastIndexOf(10) + 1);
        expect(framed.lineNumber).toBe(expected.lines.length + 1);
      }),
      { numRuns: 500 },
    );
  });

  it("LineFramer describes long lines alike for any chunking", () => {
    fc.assert(
      fc.property(bytesArbitrary, cutsArbitrary, fc.nat(12), (bytes, cuts, lineBytesMax) => {
        const whole = frame([bytes], lineBytesMax);
        expect(frame(chunksOf(bytes, cuts), lineBytesMax)).toEqual(whole);
        expect(frame(chunksOfSize(bytes, 1), lineBytesMax)).toEqual(whole);
        const lengths = splitLines(bytes).lines.map(({ text }) => text.length);
        expect(whole.lines.map(({ text, long }) => long?.length ?? text.length)).toEqual(lengths);
        for (const { text, long } of whole.lines) {
          expect(long === null ? text.length : 0).toBeLessThanOrEqual(lineBytesMax);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("LineFramer delivers every line once, also when a sink throws at lines the first time", () => {
    fc.assert(
      fc.property(
        bytesArbitrary,
        cutsArbitrary,
        fc.nat(12),
        fc.uniqueArray(fc.integer({ min: 1, max: 20 })),
        (bytes, cuts, lineBytesMax, refused) => {
          const framer = new LineFramer({ lineBytesMax });
          const sink = new RefusingCollector(refused);
          for (const cut of [...cuts, bytes.length].sort((one, other) => one - other)) {
            pushUntilTaken(framer, bytes.subarray(0, cut), sink);
          }
          const whole = frame([bytes], lineBytesMax);
          expect(sink.lines).toEqual(whole.lines);
          const { offset, committedOffset, lineNumber } = framer;
          const rest = framer.rest();
          expect({ lines: whole.lines, rest, offset, committedOffset, lineNumber }).toEqual(whole);
          expect(sink.openBatch).toBe(0);
        },
      ),
      { numRuns: 500 },
    );
  });
});

it.each([1, 64, 4096])(
  "LineFramer copies each byte a few times at most, in chunks of %i",
  (size) => {
    const bytes = Buffer.alloc(2000 * size, "x");
    const copy = vi.spyOn(Buffer.prototype, "copy");
    try {
      const framer = new LineFramer();
      const sink = new LineCollector();
      let pushed = 0;
      for (const chunk of chunksOfSize(bytes, size)) {
        framer.push(chunk, sink);
        pushed += 1;
      }
      framer.push(Buffer.from("\n"), sink);
      expect(sink.lines[0]?.text.length).toBe(bytes.length);
      const copied = copy.mock.results.reduce((sum, { value }) => sum + Number(value), 0);
      expect(copied).toBeLessThanOrEqual(3 * bytes.length + 4096);
      expect(copy.mock.calls.length).toBeLessThanOrEqual(pushed + 40);
    } finally {
      copy.mockRestore();
    }
  },
);
