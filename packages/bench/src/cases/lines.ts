/** The memory of a line, without reading it from a file. */
import { deepStrictEqual } from "node:assert";
import { readFileSync } from "node:fs";
import { scanFlags, scanLines } from "@branchlog/streaming";
import { baseline, type BenchCase, defineCase, ours, type Prepare } from "../bench-case.ts";
import { type OperationTime, timeOperation } from "../harness.ts";
import { sessionOf } from "../inputs.ts";

const lineCost = defineCase<OperationTime>({
  name: "line-cost",
  question: "What does a line of about 1 kB cost in memory?",
  goal: "for its envelope, a tenth of a full parse.",
  comparedBy: "ns/line",
  input: sessionOf(2_000_000, 2_000_000),
  subjects: [
    ours("scanLines()", prepareLines(trustedEnvelopes)),
    baseline("JSON.parse(bytes.toString())", prepareLines(parsedEntries)),
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

function trustedEnvelopes(bytes: Buffer): number {
  let envelopes = 0;
  scanLines(bytes, 0, bytes.length - 1, ({ count, flags }) => {
    for (let row = 0; row < count; row += 1) envelopes += (flags[row] ?? 0) & scanFlags.trusted;
  });
  return envelopes;
}

function parsedEntries(bytes: Buffer): number {
  let entries = 0;
  let start = 0;
  for (let end = bytes.indexOf(0x0a); end !== -1; end = bytes.indexOf(0x0a, start)) {
    // Decoding boundary: made by the generator.
    const { type } = JSON.parse(bytes.toString("utf8", start, end)) as { type: string };
    if (type !== "session") entries += 1;
    start = end + 1;
  }
  return entries;
}

export const cases: readonly BenchCase[] = [lineCost];
