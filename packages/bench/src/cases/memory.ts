/** How much memory a process needs that uses a log in the usual ways: the peak of the process. */
import { deepStrictEqual } from "node:assert";
import { closeSync, openSync, writeSync } from "node:fs";
import type { SessionEntry } from "@branchlog/core";
import { isKnownEntry } from "@branchlog/core/entries";
import { SessionManager } from "@branchlog/agents/pi";
import {
  type BenchCase,
  type CaseInput,
  type Counts,
  defineCase,
  ours,
  type ScaledInput,
  type Subject,
} from "../bench-case.ts";
import { largeSession, messagesOf, ownLog, scratchLog, sessionOf } from "../inputs.ts";
import { leaveCheckpoint, openCold, reopen } from "../our-session.ts";
import { idOf } from "../plain-session.ts";

interface Used {
  readonly found: number;
  readonly wanted: number;
}

const uses: readonly Subject<Used>[] = [
  use("openSession", "entries", async (path) => (await openCold(path)).revision),
  ours("openSession, with a checkpoint", (input) => {
    const path = ownLog(input);
    leaveCheckpoint(path);
    return async () => {
      const { session } = await reopen(path);
      return { found: session.revision, wanted: input.facts.entries };
    };
  }),
  use("openSession and context()", "contextMessages", async (path) => {
    const session = await openCold(path);
    return (await session.context()).messages.length;
  }),
  use("openSession and every entry once", "entries", async (path) => {
    const session = await openCold(path);
    let count = 0;
    for await (const { id } of session.entries()) if (id !== "") count += 1;
    return count;
  }),
  use("SessionManager.getEntries(), every id read", "entries", (path) =>
    countOf(SessionManager.open(path).getEntries(), ({ id }) => id !== ""),
  ),
  use("SessionManager.getEntries(), every body read", "entries", (path) =>
    countOf(SessionManager.open(path).getEntries(), hasBody),
  ),
  use("SessionManager.getBranch(), every body read", "leafDepth", (path) =>
    countOf(SessionManager.open(path).getBranch(), hasBody),
  ),
];

function use(
  name: string,
  wanted: "entries" | "contextMessages" | "leafDepth",
  count: (path: string) => number | Promise<number>,
): Subject<Used> {
  return ours(name, (input) => {
    const path = ownLog(input);
    return async () => ({ found: await count(path), wanted: input.facts[wanted] });
  });
}

function countOf(
  entries: readonly SessionEntry[],
  isCounted: (entry: SessionEntry) => boolean,
): number {
  // Not by filter(), whose array would count as memory.
  return entries.reduce((count, entry) => count + Number(isCounted(entry)), 0);
}

function hasBody(entry: SessionEntry): boolean {
  return isKnownEntry(entry) && entry.type === "message"
    ? entry.message.role.length > 0
    : Object.keys(entry).length > 3;
}

function memoryCase(
  name: string,
  what: string,
  goal: string,
  input: ScaledInput,
  more: Pick<BenchCase, "needs"> = {},
): BenchCase {
  return defineCase<Used>({
    name,
    question: `How much memory does a process need that uses ${what}?`,
    goal,
    input,
    ...more,
    comparedBy: "MB at most",
    subjects: uses,
    check: ({ found, wanted }) => deepStrictEqual(found, wanted),
    figures: (_used, _wallMs, { facts }, peakRssBytes) => ({
      "MB at most": peakRssBytes / 1e6,
      "bytes/entry": peakRssBytes / facts.entries,
    }),
  });
}

const lineBytes: Counts = { full: 300_000_000, quick: 30_000_000 };
const longLines = 3;

const memoryLongLines = defineCase<number>({
  name: "memory-long-lines",
  question: "How much memory does a process need that opens a log with three lines of 300 MB?",
  goal: "150 MB.",
  comparedBy: "MB at most",
  subjects: [
    ours("openSession", (input) => {
      const path = writeLongLines(input);
      return async () => (await openCold(path)).revision;
    }),
    ours("SessionManager.open()", (input) => {
      const path = writeLongLines(input);
      return () => SessionManager.open(path).getEntryCount();
    }),
  ],
  check: (found) => deepStrictEqual(found, 2 * longLines),
  figures: (_found, wallMs, { scale }, peakRssBytes) => ({
    "MB at most": peakRssBytes / 1e6,
    "MB/s": (longLines * lineBytes[scale]) / 1000 / wallMs,
  }),
});

function writeLongLines(input: CaseInput): string {
  const path = scratchLog(input);
  const descriptor = openSync(path, "wx");
  const piece = Buffer.alloc(1_000_000, "x");
  const write = (text: string): void => void writeSync(descriptor, text);
  const timestamp = "2026-06-01T08:00:00.000Z";
  write(`${JSON.stringify({ type: "session", version: 3, id: "long", timestamp, cwd: "/w" })}\n`);
  for (let n = 0; n < 2 * longLines; n++) {
    const parentId = n === 0 ? null : idOf(n - 1);
    const envelope = JSON.stringify({ type: "message", id: idOf(n), parentId, timestamp });
    write(`${envelope.slice(0, -1)},"message":{"role":"user","content":"`);
    const pieces = n % 2 === 0 ? 0 : lineBytes[input.scale] / piece.length;
    for (let i = 0; i < pieces; i++) writeSync(descriptor, piece);
    write(`","timestamp":${n}}}\n`);
  }
  closeSync(descriptor);
  return path;
}

const usualGoal = "150 MB to open it, 500 MB for every entry of pi's face.";
const imagesGoal = "150 MB to open it; a context holds the images that are in it.";
const images = sessionOf(1_000_000_000, 20_000_000, "image-heavy");
const millionEntries = messagesOf("chain", 1_000_000, 20_000);

export const cases: readonly BenchCase[] = [
  memoryCase("memory-1gb", "1 GB of about a million entries", usualGoal, largeSession),
  memoryCase("memory-1m-entries", "a chain of a million short entries", usualGoal, millionEntries),
  memoryCase("memory-images", "1 GB of which 95 % are images", imagesGoal, images),
  memoryLongLines,
  memoryCase(
    "memory-4gb",
    "4 GB of about four million entries",
    "the bytes of each entry that 1 GB takes, or less.",
    sessionOf(4_000_000_000, 40_000_000),
    { needs: "huge" },
  ),
  memoryCase(
    "memory-4m-entries",
    "a chain of four million short entries",
    "the bytes of each entry that a million take, or less.",
    messagesOf("chain", 4_000_000, 80_000),
    { needs: "huge" },
  ),
];
