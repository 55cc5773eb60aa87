/** The memory of whoever opens a log with single lines of 300 MB. */
import { deepStrictEqual } from "node:assert";
import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { resourceUsage } from "node:process";
import { openSession } from "@branchlog/core";
import { SessionManager } from "@branchlog/core/pi";
import { noInput } from "../append-check.ts";
import { type BenchCase, type CaseInput, defineCase, type Scale } from "../bench-case.ts";

const lineBytes: Readonly<Record<Scale, number>> = { full: 300_000_000, quick: 30_000_000 };
const longLines = 3;
const pieceBytes = 1_000_000;

interface OpenedLong {
  readonly entries: number;
  readonly peakBytes: number;
}

/** See the file comment. */
export const benchCase: BenchCase = defineCase<OpenedLong>({
  name: "memory-long-lines",
  question: "How much memory does a process need that opens a log with three lines of 300 MB?",
  goal: "150 MB.",
  nodeFlags: [],
  comparedBy: "MB at most",
  input: noInput,
  subjects: [
    {
      name: "openSession",
      role: "ours",
      prepare: (input) => {
        const path = writeLog(input);
        return async () => {
          const session = await openSession(path, { access: "read", checkpoint: "off" });
          return withPeak(session.revision);
        };
      },
    },
    {
      name: "SessionManager.open()",
      role: "ours",
      prepare: (input) => {
        const path = writeLog(input);
        return () => withPeak(SessionManager.open(path).getEntryCount());
      },
    },
  ],
  check: ({ entries }) => deepStrictEqual(entries, 2 * longLines),
  figures: ({ peakBytes }, wallMs, { scale }) => ({
    "MB at most": peakBytes / 1e6,
    "MB/s": (longLines * lineBytes[scale]) / 1000 / wallMs,
  }),
});

function withPeak(entries: number): OpenedLong {
  return { entries, peakBytes: resourceUsage().maxRSS * 1024 };
}

/** Tool results with one long text each, and short messages between them, in one chain. */
function writeLog({ scratch, scale }: CaseInput): string {
  const path = join(scratch, "session.jsonl");
  const descriptor = openSync(path, "wx");
  const piece = Buffer.alloc(pieceBytes, "x");
  const write = (text: string): void => void writeSync(descriptor, text);
  const timestamp = "2026-06-01T08:00:00.000Z";
  write(`${JSON.stringify({ type: "session", version: 3, id: "long", timestamp, cwd: "/w" })}\n`);
  for (let n = 0; n < 2 * longLines; n++) {
    const envelope = JSON.stringify({
      type: "message",
      id: idOf(n),
      parentId: n === 0 ? null : idOf(n - 1),
      timestamp,
    }).slice(0, -1);
    write(`${envelope},"message":{"role":"user","content":"`);
    const pieces = n % 2 === 0 ? 0 : lineBytes[scale] / pieceBytes;
    for (let i = 0; i < pieces; i++) writeSync(descriptor, piece);
    write(`","timestamp":${n}}}\n`);
  }
  closeSync(descriptor);
  return path;
}

function idOf(n: number): string {
  return n.toString(16).padStart(8, "0");
}
