/** Bodies of many rows: the same as one by one, in few reads, with nothing kept or parsed twice. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { collected } from "../../support/collected.ts";
import { decodeCounter, LineFramer, runSync, scan } from "@branchlog/streaming";
import { LogIndexer } from "@branchlog/core/rows";
import { createBodyCache } from "../../../packages/core/src/bodies/body-cache.ts";
import { BodyReader } from "../../../packages/core/src/bodies/body-reader.ts";
import type { RowBody } from "../../../packages/core/src/bodies/body-reader.ts";
import { MemorySource } from "../../streaming/support/memory-source.ts";
import type { MemorySourceOptions } from "../../streaming/support/memory-source.ts";

const header =
  '{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}';

function idOf(row: number): string {
  return row.toString(16).padStart(8, "0");
}

/** An entry whose line has about so many bytes. */
function lineOf(row: number, bytes: number): string {
  const message = { role: "user", content: `${row} `.padEnd(bytes, "漢"), timestamp: row };
  const timestamp = "2026-01-01T00:00:00.000Z";
  const parentId = row === 0 ? null : idOf(row - 1);
  return JSON.stringify({ type: "message", id: idOf(row), parentId, timestamp, message });
}

interface Log {
  readonly source: MemorySource;
  readonly indexer: LogIndexer;
  readonly bodies: BodyReader;
  /** The bytes of the log, for changing them. */
  readonly bytes: Buffer;
}

interface LogOptions extends MemorySourceOptions {
  readonly cacheBytesMax?: number;
  readonly isUnchanged?: () => boolean;
}

/** A log of these lines, indexed. Reads are counted from here on. */
function logOf(lines: readonly string[], options: LogOptions = {}): Log {
  const bytes = Buffer.from(`${[header, ...lines].join("\n")}\n`);
  const indexer = new LogIndexer({
    readLong: () => ({ ok: false, reason: "too-long", message: "" }),
    onFolded: () => undefined,
  });
  runSync(scan(new MemorySource(bytes), new LineFramer(), indexer, { from: 0, to: bytes.length }));
  const source = new MemorySource(bytes, options);
  const bodies = new BodyReader({
    path: "log",
    bytes: source,
    indexer,
    cache: createBodyCache(options.cacheBytesMax ?? 0),
    lineBytesMax: 1024 * 1024,
    isUnchanged: options.isUnchanged ?? (() => true),
    onDamage: () => undefined,
  });
  return { source, indexer, bodies, bytes };
}

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, row) => row);
}

function contents(bodies: readonly RowBody[]): string[] {
  return bodies.map(({ entry }) => JSON.stringify(entry));
}

describe("the bodies of many rows", () => {
  it("are returned in the requested order, forwards or backwards, in few reads", async () => {
    const lines = upTo(3000).map((row) => lineOf(row, 300));
    const { bodies, source, bytes } = logOf(lines);
    expect(contents([...bodies.entriesSync(upTo(3000))])).toEqual(lines);
    const [{ reads }, { length }] = [source, bytes];
    expect(reads).toBeLessThan(4 + length / (512 * 1024 - 1024));
    expect(source.bytesRead).toBeLessThan(length);
    expect(contents(await collected(bodies.entries(upTo(3000).reverse())))).toEqual(
      lines.toReversed(),
    );
    expect(source.reads).toBe(2 * reads);
    expect(source.inFlightMax).toBe(1);
  });

  it("do not change while reading continues, and are not kept by the reader", async () => {
    const lines = upTo(400).map((row) => lineOf(row, 2000));
    const { bodies } = logOf(lines, { cacheBytesMax: 1024 * 1024 });
    const before = decodeCounter.parses;
    const [once, twice] = [
      await collected(bodies.entries(upTo(400))),
      bodies.entriesSync(upTo(400)),
    ];
    expect(contents([...twice])).toEqual(lines);
    expect(contents(once)).toEqual(lines);
    expect(decodeCounter.parses - before).toBe(800);
  });

  it("that are not pulled are not parsed, and read ahead at most once", async () => {
    const { bodies, source } = logOf(upTo(2000).map((row) => lineOf(row, 300)));
    const before = decodeCounter.parses;
    for await (const { row } of bodies.entries(upTo(2000))) if (row === 2) break;
    for (const { row } of bodies.entriesSync(upTo(2000))) if (row === 2) break;
    expect(decodeCounter.parses - before).toBe(6);
    expect(source.reads).toBe(2 + 1);
    expect(source.isIdle).toBe(true);
  });
});

it("law: bodies read together equal those read one by one, for any sizes, rows and short reads", async () => {
  const sizes = fc.array(fc.oneof(fc.nat(200), fc.nat(200_000)), { minLength: 1, maxLength: 12 });
  const picks = fc.array(fc.nat(), { maxLength: 20 });
  const readBytesMax = fc.integer({ min: 50_000, max: 1_000_000 });
  await fc.assert(
    fc.asyncProperty(sizes, picks, readBytesMax, async (bytes, picked, most) => {
      const lines = bytes.map((size, row) => lineOf(row, size));
      const rows = picked.map((pick) => pick % lines.length);
      const { bodies } = logOf(lines, { readBytesMax: most });
      const expected = rows.map((row) => ({ row, entry: bodies.entrySync(row) }));
      expect([...bodies.entriesSync(rows)]).toEqual(expected);
      expect(await collected(bodies.entries(rows))).toEqual(expected);
      const one = await Promise.all(rows.map((row) => bodies.entry(row)));
      expect(one).toEqual(expected.map(({ entry }) => entry));
    }),
    { numRuns: 40 },
  );
});

describe("when reading fails", () => {
  const lines = upTo(2000).map((row) => lineOf(row, 300));

  it("the bodies before it are returned, and the error is the source's", async () => {
    const error = new Error("EIO");
    const onRead = (read: number): void => {
      if (read === 3) throw error;
    };
    const seen: number[][] = [[], []];
    const { bodies } = logOf(lines, { onRead });
    const reading = async (): Promise<void> => {
      for await (const { row } of bodies.entries(upTo(2000))) seen[0]?.push(row);
    };
    await expect(reading()).rejects.toBe(error);
    const again = logOf(lines, { onRead });
    expect(() => {
      for (const { row } of again.bodies.entriesSync(upTo(2000))) seen[1]?.push(row);
    }).toThrow(error);
    expect(seen[0]?.length).toBeGreaterThan(100);
    expect(seen[0]).toEqual(seen[1]);
  });

  it("bytes read during a rewrite are read again", () => {
    const [first = "", second = ""] = lines;
    const { bodies, bytes, indexer } = logOf([first, second], {
      onRead: (read) => {
        // The first read finds zeros where the second finds the line again.
        if (read === 1) bytes.fill(0, header.length + 1);
        else bytes.write(`${first}\n${second}\n`, header.length + 1);
      },
    });
    expect(contents([...bodies.entriesSync([0, 1])])).toEqual([first, second]);
    expect(indexer.diagnostics.entries).toEqual([]);
  });

  it("a signal ends it with its reason, between two bodies, with no read under way", async () => {
    const { bodies, source } = logOf(lines);
    const controller = new AbortController();
    const reason = new Error("enough");
    let seen = 0;
    const reading = async (): Promise<void> => {
      for await (const _ of bodies.entries(upTo(2000), controller.signal)) {
        seen += 1;
        if (seen === 5) controller.abort(reason);
      }
    };
    await expect(reading()).rejects.toBe(reason);
    expect(seen).toBe(5);
    expect(source.isIdle).toBe(true);
  });
});
