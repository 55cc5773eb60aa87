/** What a line costs, and how fast bytes become lines, envelopes and index rows. */
import { deepStrictEqual } from "node:assert";
import { readFileSync } from "node:fs";
import { LineFramer, openByteSource, scanFlags, scanLines, scanSync } from "@branchlog/streaming";
import { baseline, type BenchCase, defineCase, ours, type Prepare } from "../bench-case.ts";
import { type OperationTime, timeOperation } from "../harness.ts";
import { largeSession, sessionOf } from "../inputs.ts";
import { openCold } from "../our-session.ts";
import { chunksOf } from "../plain-session.ts";

const lineCost = defineCase<OperationTime>({
  name: "line-cost",
  question: "What does a line of about 1 kB cost in memory?",
  goal: "for its envelope, a tenth of a full parse.",
  comparedBy: "ns/line",
  input: sessionOf(2_000_000, 2_000_000),
  subjects: [
    ours(
      "scanLines()",
      prepareLines((bytes) => envelopesIn(bytes, 0, bytes.length - 1).envelopes),
    ),
    baseline(
      "JSON.parse(bytes.toString())",
      prepareLines((bytes) => {
        let entries = 0;
        let start = 0;
        for (let end = bytes.indexOf(0x0a); end !== -1; end = bytes.indexOf(0x0a, start)) {
          // Decoding boundary: made by the generator.
          const { type } = JSON.parse(bytes.toString("utf8", start, end)) as { type: string };
          if (type !== "session") entries += 1;
          start = end + 1;
        }
        return entries;
      }),
    ),
  ],
  // Every call was checked as it was measured.
  check: () => {},
  figures: ({ microseconds, marginOfError }, _wallMs, { facts }) => ({
    "ns/line": (microseconds * 1000) / (facts.entries + 1),
    "% margin": marginOfError * 100,
  }),
});

function prepareLines(readLines: (bytes: Buffer) => number): Prepare<OperationTime> {
  return ({ path, facts }) => {
    const bytes = readFileSync(path);
    let entries = 0;
    const readAll = (): void => {
      entries = readLines(bytes);
    };
    return () => timeOperation(readAll, { check: () => deepStrictEqual(entries, facts.entries) });
  };
}

/** Of `bytes[start, end)`; envelopes count if they are trusted. */
function envelopesIn(
  bytes: Buffer,
  start: number,
  end: number,
): { readonly lines: number; readonly envelopes: number } {
  let [lines, envelopes] = [0, 0];
  scanLines(bytes, start, end, ({ count, flags }) => {
    lines += count;
    for (let row = 0; row < count; row += 1) envelopes += (flags[row] ?? 0) & scanFlags.trusted;
  });
  return { lines, envelopes };
}

interface Scanned {
  readonly bytes: number;
  readonly lines?: number;
  readonly envelopes?: number;
}

const indexThroughput = defineCase<Scanned>({
  name: "index-throughput",
  question: "How fast are 1 GB of lines framed and indexed, from the page cache?",
  goal: "2 GB/s.",
  nodeFlags: ["--max-old-space-size=256"],
  input: largeSession,
  subjects: [
    ours("openSession (index)", ({ path }) => async () => {
      const session = await openCold(path);
      return { bytes: session.sizeBytes, lines: session.revision + 1 };
    }),
    ours("frame + envelopes", (input) => () => frame(input.path)),
    baseline("read only", ({ path }) => () => {
      let bytes = 0;
      for (const chunk of chunksOf(path)) bytes += chunk.length;
      return { bytes };
    }),
  ],
  check: ({ bytes, lines, envelopes }, { facts }) => {
    deepStrictEqual(bytes, facts.bytes);
    if (lines !== undefined) deepStrictEqual(lines, facts.entries + 1);
    // All but the header have one.
    if (envelopes !== undefined) deepStrictEqual(envelopes, facts.entries);
  },
  figures: (_scanned, wallMs, { facts }) => ({ "MB/s": facts.bytes / 1000 / wallMs }),
});

function frame(path: string): Scanned {
  const source = openByteSource(path);
  let envelopes = 0;
  const sink = {
    addLines: (bytes: Buffer, start: number, end: number) => {
      const found = envelopesIn(bytes, start, end);
      envelopes += found.envelopes;
      return found.lines;
    },
    longLine: () => undefined,
  };
  const framer = new LineFramer();
  const bytes = scanSync(source, framer, sink, { from: 0, to: source.sizeSync() });
  source.closeSync();
  return { bytes, lines: framer.lineNumber - 1, envelopes };
}

export const cases: readonly BenchCase[] = [lineCost, indexThroughput];
