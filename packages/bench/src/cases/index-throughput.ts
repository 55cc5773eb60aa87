/** How fast bytes become lines, envelopes and index rows, beside what merely reading them costs. */
import { deepStrictEqual } from "node:assert";
import { closeSync, openSync, readSync } from "node:fs";
import { openSession } from "@branchlog/core";
import { EnvelopeReader, LineFramer, openByteSource, scanSync } from "@branchlog/streaming";
import { type BenchCase, defineCase } from "../bench-case.ts";
import { largeSession } from "../inputs.ts";

interface Scanned {
  readonly bytes: number;
  /** Null where lines are not looked for. */
  readonly lines: number | null;
  /** Lines whose envelope was read without parsing; null where it is not looked for. */
  readonly envelopes: number | null;
}

const chunkBytes = 1 << 20;

/** See the file comment. */
export const benchCase: BenchCase = defineCase<Scanned>({
  name: "index-throughput",
  question: "How fast are 1 GB of lines framed and indexed, from the page cache?",
  goal: "2 GB/s.",
  nodeFlags: ["--max-old-space-size=256"],
  input: largeSession,
  subjects: [
    {
      name: "openSession (index)",
      role: "ours",
      prepare:
        ({ path }) =>
        () =>
          index(path),
    },
    {
      name: "frame + envelopes",
      role: "ours",
      prepare:
        ({ path }) =>
        () =>
          frame(path),
    },
    {
      name: "read + find newlines",
      role: "baseline",
      prepare:
        ({ path }) =>
        () =>
          read(path, true),
    },
    {
      name: "read only",
      role: "baseline",
      prepare:
        ({ path }) =>
        () =>
          read(path, false),
    },
  ],
  check: ({ bytes, lines, envelopes }, { facts }) => {
    deepStrictEqual(bytes, facts.bytes);
    if (lines !== null) deepStrictEqual(lines, facts.entries + 1);
    // All but the header have one.
    if (envelopes !== null) deepStrictEqual(envelopes, facts.entries);
  },
  figures: (_scanned, wallMs, { facts }) => ({ "MB/s": facts.bytes / 1000 / wallMs }),
});

async function index(path: string): Promise<Scanned> {
  const session = await openSession(path, { access: "read", checkpoint: "off" });
  return { bytes: session.sizeBytes, lines: session.revision + 1, envelopes: null };
}

function frame(path: string): Scanned {
  const source = openByteSource(path);
  const reader = new EnvelopeReader();
  let lines = 0;
  let envelopes = 0;
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

function read(path: string, findNewlines: boolean): Scanned {
  const descriptor = openSync(path, "r");
  const chunk = Buffer.allocUnsafe(chunkBytes);
  let bytes = 0;
  let lines = 0;
  for (let length = readSync(descriptor, chunk); length > 0; length = readSync(descriptor, chunk)) {
    bytes += length;
    if (findNewlines) lines += countNewlines(chunk.subarray(0, length));
  }
  closeSync(descriptor);
  return { bytes, lines: findNewlines ? lines : null, envelopes: null };
}

function countNewlines(chunk: Buffer): number {
  let count = 0;
  for (let at = chunk.indexOf(0x0a); at !== -1; at = chunk.indexOf(0x0a, at + 1)) count += 1;
  return count;
}
