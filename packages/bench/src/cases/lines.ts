/** What a line costs, and how fast bytes become lines, envelopes and index rows. */
import { deepStrictEqual } from "node:assert";
import { readFileSync } from "node:fs";
import {
  decodeLine,
  EnvelopeReader,
  LineFramer,
  openByteSource,
  scanSync,
} from "@branchlog/streaming";
import { baseline, type BenchCase, type CaseInput, defineCase, ours } from "../bench-case.ts";
import { type OperationTime, timeOperation } from "../harness.ts";
import { largeSession, openCold, sessionOf } from "../inputs.ts";
import { chunksOf } from "../plain-session.ts";

/** Reads one line; returns whether it is an entry. */
type ReadLine = (bytes: Buffer, start: number, end: number) => boolean;

interface LineTime {
  readonly allLines: OperationTime;
  readonly lines: number;
}

/** One line in memory, without any file: its envelope alone, or all of it parsed. */
const lineCost = defineCase<LineTime>({
  name: "line-cost",
  question: "What does a line of about 1 kB cost in memory?",
  goal: "for its envelope, a tenth of a full parse.",
  comparedBy: "ns/line",
  input: sessionOf(2_000_000, 2_000_000),
  subjects: [
    ours("EnvelopeReader.read()", (input) => {
      const reader = new EnvelopeReader();
      return prepareLines(input, (bytes, start, end) => reader.read(bytes, start, end));
    }),
    ours("decodeLine()", (input) =>
      prepareLines(input, (bytes, start, end) => {
        const line = decodeLine(bytes, start, end);
        return line.ok && line.value["type"] !== "session";
      }),
    ),
    baseline("JSON.parse(bytes.toString())", (input) =>
      prepareLines(input, (bytes, start, end) => {
        // Decoding boundary: made by the generator.
        const text = bytes.toString("utf8", start, end);
        return (JSON.parse(text) as { readonly type: string }).type !== "session";
      }),
    ),
  ],
  check: ({ lines }, { facts }) => deepStrictEqual(lines, facts.entries + 1),
  figures: ({ allLines, lines }) => ({
    "ns/line": (allLines.microseconds * 1000) / lines,
    "% margin": allLines.marginOfError * 100,
  }),
});

function prepareLines({ path, facts }: CaseInput, readLine: ReadLine): () => LineTime {
  const bytes = readFileSync(path);
  const ends: number[] = [];
  for (let at = bytes.indexOf(0x0a); at !== -1; at = bytes.indexOf(0x0a, at + 1)) ends.push(at);
  let entries = 0;
  const readAll = (): void => {
    entries = 0;
    let start = 0;
    for (const end of ends) {
      if (readLine(bytes, start, end)) entries += 1;
      start = end + 1;
    }
  };
  const check = (): void => deepStrictEqual(entries, facts.entries);
  return () => ({ allLines: timeOperation(readAll, { check }), lines: ends.length });
}

interface Scanned {
  readonly bytes: number;
  /** Undefined where lines are not looked for. */
  readonly lines?: number;
  /** Lines whose envelope was read without parsing; undefined where it is not looked for. */
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
    ours(
      "frame + envelopes",
      ({ path }) =>
        () =>
          frame(path),
    ),
    baseline("read + find newlines", ({ path }) => () => {
      let [bytes, lines] = [0, 0];
      for (const chunk of chunksOf(path)) {
        bytes += chunk.length;
        for (let at = chunk.indexOf(0x0a); at !== -1; at = chunk.indexOf(0x0a, at + 1)) lines += 1;
      }
      return { bytes, lines };
    }),
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
  const reader = new EnvelopeReader();
  let [lines, envelopes] = [0, 0];
  const sink = {
    line: (bytes: Buffer, start: number, end: number) => {
      lines += 1;
      if (reader.read(bytes, start, end)) envelopes += 1;
    },
    longLine: () => {
      lines += 1;
    },
  };
  const bytes = scanSync(source, new LineFramer(), sink, { from: 0, to: source.sizeSync() });
  source.closeSync();
  return { bytes, lines, envelopes };
}

/** In the order in which they run. */
export const cases: readonly BenchCase[] = [lineCost, indexThroughput];
