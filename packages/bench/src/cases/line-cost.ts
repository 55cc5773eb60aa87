/** What one line costs in memory, without any file: its envelope alone, or all of it parsed. */
import { deepStrictEqual } from "node:assert";
import { closeSync, openSync, readSync } from "node:fs";
import { decodeLine, EnvelopeReader } from "@branchlog/streaming";
import { type BenchCase, type CaseInput, defineCase } from "../bench-case.ts";
import { type OperationTime, timeOperation } from "../harness.ts";
import { smallSession } from "../inputs.ts";

/** The lines of a session in one buffer, each from its start to its newline. */
interface LineSpans {
  readonly bytes: Buffer;
  readonly starts: readonly number[];
  readonly ends: readonly number[];
}

interface LineTime {
  readonly allLines: OperationTime;
  readonly lines: number;
}

/** Reads one line; returns whether it is an entry. */
type ReadLine = (bytes: Buffer, start: number, end: number) => boolean;

/** See the file comment. */
export const benchCase: BenchCase = defineCase<LineTime>({
  name: "line-cost",
  question: "What does a line of about 1 kB cost in memory?",
  goal: "for its envelope, a tenth of a full parse.",
  nodeFlags: [],
  comparedBy: "ns/line",
  input: smallSession,
  subjects: [
    {
      name: "EnvelopeReader.read()",
      role: "ours",
      prepare: (input) => {
        const reader = new EnvelopeReader();
        return prepareLines(input, (bytes, start, end) => reader.read(bytes, start, end));
      },
    },
    {
      name: "decodeLine()",
      role: "ours",
      prepare: (input) =>
        prepareLines(input, (bytes, start, end) => {
          const line = decodeLine(bytes, start, end);
          return line.ok && line.value["type"] !== "session";
        }),
    },
    {
      name: "JSON.parse(bytes.toString())",
      role: "baseline",
      prepare: (input) =>
        prepareLines(input, (bytes, start, end) => {
          // Decoding boundary: made by the generator.
          const text = bytes.toString("utf8", start, end);
          return (JSON.parse(text) as { readonly type: string }).type !== "session";
        }),
    },
  ],
  check: ({ lines }, { facts }) => {
    deepStrictEqual(lines, facts.entries + 1);
  },
  figures: ({ allLines, lines }) => ({
    "ns/line": (allLines.microseconds * 1000) / lines,
    "% margin": allLines.marginOfError * 100,
  }),
});

function prepareLines({ path, facts }: CaseInput, readLine: ReadLine): () => LineTime {
  const { bytes, starts, ends } = readSpans(path, facts.bytes);
  let entries = 0;
  const readAll = (): void => {
    entries = 0;
    for (let i = 0; i < starts.length; i++) {
      if (readLine(bytes, starts[i] ?? 0, ends[i] ?? 0)) entries += 1;
    }
  };
  const check = (): void => deepStrictEqual(entries, facts.entries);
  return () => ({ allLines: timeOperation(readAll, { check }), lines: starts.length });
}

function readSpans(path: string, length: number): LineSpans {
  const bytes = Buffer.alloc(length);
  const descriptor = openSync(path, "r");
  readSync(descriptor, bytes);
  closeSync(descriptor);
  const starts: number[] = [];
  const ends: number[] = [];
  let start = 0;
  for (let end = bytes.indexOf(0x0a); end !== -1; end = bytes.indexOf(0x0a, start)) {
    starts.push(start);
    ends.push(end);
    start = end + 1;
  }
  return { bytes, starts, ends };
}
