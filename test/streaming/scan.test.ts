/** Steps that drive the framer: the same lines by both drivers, each byte read once. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LineFramer, runAsync, runSync, scan } from "@branchlog/streaming";
import { LineCollector, splitLines } from "./support/collected-lines.ts";
import { MemorySource } from "./support/memory-source.ts";

const text = '{"a":1}\n\n{"b":"é"}\r\n{"c":';
const bytes = Buffer.from(text);

describe("a scan, blocking or not", () => {
  it("a scan delivers the lines of a range and returns the bytes read", async () => {
    const range = { from: 8, to: bytes.length };
    const [sync, later] = [new LineCollector(), new LineCollector()];
    const framer = new LineFramer({ offset: 8, lineNumber: 2 });
    expect(runSync(scan(new MemorySource(bytes), framer, sync, range))).toBe(bytes.length - 8);
    expect(sync.lines.map(({ offset, lineNumber }) => [offset, lineNumber])).toEqual([
      [8, 2],
      [9, 3],
    ]);
    expect(framer.rest()?.bytes?.toString()).toBe('{"c":');
    const other = new LineFramer({ offset: 8, lineNumber: 2 });
    expect(await runAsync(scan(new MemorySource(bytes), other, later, range))).toBe(
      bytes.length - 8,
    );
    expect(later.lines).toEqual(sync.lines);
    expect(other.rest()).toEqual(framer.rest());
  });

  it("scan reads one chunk ahead, not more", async () => {
    const source = new MemorySource(bytes);
    const range = { from: 0, to: bytes.length, chunkBytes: 4 };
    await runAsync(scan(source, new LineFramer(), new LineCollector(), range));
    expect(source.inFlightMax).toBe(1);
    expect(source.bytesRead).toBe(bytes.length);
  });
});

it("law: each byte is read once, and lines equal those of a full read, for any chunks and reads", async () => {
  const parts = fc.constantFrom("\n", "\r\n", "ab", "é", '{"a":1}\n');
  const content = fc.array(parts, { maxLength: 30 });
  const sizes = fc.integer({ min: 1, max: 40 });
  await fc.assert(
    fc.asyncProperty(content, sizes, sizes, async (texts, chunkBytes, readBytesMax) => {
      const whole = Buffer.from(texts.join(""));
      // Also past the end of the source.
      const range = { from: 0, to: whole.length + 10, chunkBytes };
      const sources = [0, 1].map(() => new MemorySource(whole, { readBytesMax }));
      const sinks = [new LineCollector(), new LineCollector()] as const;
      const [first, second] = sources;
      if (!first || !second) return;
      runSync(scan(first, new LineFramer(), sinks[0], range));
      await runAsync(scan(second, new LineFramer(), sinks[1], range));
      const { lines } = splitLines(whole);
      expect(sinks.map((sink) => sink.lines)).toEqual([lines, lines]);
      expect(sources.map((source) => source.bytesRead)).toEqual([whole.length, whole.length]);
    }),
    { numRuns: 200 },
  );
});

describe("scan", () => {
  const range = { from: 0, to: bytes.length, chunkBytes: 3 };

  it("scan rejects with the reason between two chunks when the signal aborts", async () => {
    const reason = new Error("enough");
    const controller = new AbortController();
    const source = new MemorySource(bytes, {
      onRead: (read) => {
        if (read === 3) controller.abort(reason);
      },
    });
    const sink = new LineCollector();
    const framer = new LineFramer();
    const { signal } = controller;
    await expect(runAsync(scan(source, framer, sink, range), signal)).rejects.toBe(reason);
    expect(framer.offset).toBe(6);
    expect(source.isIdle).toBe(true);
  });

  it("scan rejects with the error of a read, after the lines before it", async () => {
    const error = new Error("EIO");
    const fail = (read: number) => {
      if (read === 4) throw error;
    };
    const sink = new LineCollector();
    const source = new MemorySource(bytes, { onRead: fail });
    await expect(runAsync(scan(source, new LineFramer(), sink, range))).rejects.toBe(error);
    expect(sink.lines.map((line) => line.text)).toEqual(['{"a":1}', ""]);
    const again = new MemorySource(bytes, { onRead: fail });
    const sync = new LineCollector();
    expect(() => runSync(scan(again, new LineFramer(), sync, range))).toThrow(error);
    expect(sync.lines).toEqual(sink.lines);
  });

  it("scan rethrows the error of a sink, with no read in flight", async () => {
    const source = new MemorySource(bytes);
    const sink = {
      line: () => {
        throw new Error("sink");
      },
      longLine: () => undefined,
    };
    await expect(runAsync(scan(source, new LineFramer(), sink, range))).rejects.toThrow("sink");
    expect(source.isIdle).toBe(true);
  });

  it("scan yields to the event loop, even when the source never waits", async () => {
    const immediate = {
      readSync: () => 0,
      read: (target: Buffer, offset: number, length: number) => {
        target.fill(10, offset, offset + length);
        return Promise.resolve(length);
      },
    };
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 0);
    const options = { from: 0, to: 20_000, chunkBytes: 10, yieldEveryMs: 0 };
    await runAsync(scan(immediate, new LineFramer(), new LineCollector(), options));
    clearInterval(timer);
    expect(turns).toBeGreaterThan(0);
  });
});
