/**
 * How costs grow with the history, by counters instead of clocks: bytes read, lines parsed and
 * calls of the file system at n, 4 n and 16 n entries. Nothing becomes quadratic in a long chain,
 * below an entry with very many children, or with long ids.
 */
import { copyFileSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextIteration } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { decodeCounter, readCounter } from "@branchlog/streaming";
import { createSession, openSession } from "@branchlog/core";
import type { EntryDraft, OpenOptions, Session } from "@branchlog/core";
import { SessionManager } from "@branchlog/agents/pi";
import { ManualClock, nodePorts } from "@branchlog/core/testing";
import { writeSessionFile } from "@branchlog/bench/generator";
import type { GeneratorOptions } from "@branchlog/bench/generator";
import { countNodes } from "../../../packages/bench/src/plain-session.ts";
import { observedFileSystem } from "../../support/observed-file-system.ts";
import { runs } from "../../support/fault-seed.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

/** What some work cost. */
interface Counts {
  readonly bytesRead: number;
  readonly parses: number;
  readonly calls: number;
}

let calls = 0;
const fs = observedFileSystem(nodePorts.fs, (_call, effect) => {
  calls += 1;
  return effect();
});
const clock = new ManualClock(Date.now());
const ports = { fs, clock };

const sizes = [500, 2_000, 8_000] as const;
const say = (n: number): EntryDraft => ({
  type: "message",
  message: { role: "user", content: `This is what was said as number ${n}.`, timestamp: n },
});

async function counted(work: () => Promise<unknown>): Promise<Counts> {
  [readCounter.bytes, decodeCounter.parses, calls] = [0, 0, 0];
  await work();
  return { bytesRead: readCounter.bytes, parses: decodeCounter.parses, calls };
}

interface Log {
  readonly path: string;
  readonly bytes: number;
}

/** A log of so many messages; `leave` is what its session does before it is closed. */
async function logOf(entries: number, checkpointEveryBytes = Infinity): Promise<Log> {
  const path = join(temporaryDirectory(), "session.jsonl");
  const session = await createSession(path, { cwd: "/w", checkpointEveryBytes });
  await session.appendAll(Array.from({ length: entries }, (_, n) => say(n)));
  await session.close();
  return { path, bytes: statSync(path).size };
}

/** Open until its test ends: the collector would close its file while another one is counted. */
async function opened(path: string, options: Omit<OpenOptions, "ports">): Promise<Session> {
  const session = await openSession(path, { ...options, ports });
  onTestFinished(() => session.close());
  return session;
}

/** A compaction near the end, so that the context does not grow with the history. */
async function compacted(path: string): Promise<Session> {
  const session = await opened(path, { checkpoint: "off" });
  const firstKeptEntryId = session.leaf ?? "";
  await session.append({ type: "compaction", summary: "All.", firstKeptEntryId, tokensBefore: 9 });
  return session;
}

/** Appends a second after the last append, whose lock is then no longer retained. */
async function appendAlone(session: Session, n: number): Promise<void> {
  clock.advance(1_000);
  await session.append(say(n));
  await nextIteration();
}

/** The counts of some work at each size. */
async function atEachSize(work: (entries: number) => Promise<Counts>): Promise<Counts[]> {
  const all: Counts[] = [];
  for (const entries of sizes) all.push(await work(entries));
  return all;
}

/** That the counts of 4 n and 16 n are those of n. */
function expectConstant(all: readonly Counts[], bytesMore = 0): void {
  const [first] = all;
  for (const { bytesRead, parses, calls: made } of all) {
    expect([parses, made]).toEqual([first?.parses, first?.calls]);
    expect(Math.abs(bytesRead - (first?.bytesRead ?? 0))).toBeLessThanOrEqual(bytesMore);
  }
}

describe("at n, 4 n and 16 n entries", () => {
  it("opening reads each byte once and parses only the header", async () => {
    const all = await atEachSize(async (entries) => {
      const { path, bytes } = await logOf(entries);
      const counts = await counted(() => opened(path, { access: "read", checkpoint: "off" }));
      expect(counts.bytesRead).toBeGreaterThanOrEqual(bytes);
      expect(counts.bytesRead).toBeLessThanOrEqual(bytes + 65_536);
      return counts;
    });
    for (const { parses } of all) expect(parses).toBeLessThanOrEqual(2);
    // One read for each chunk, and no more.
    for (const { calls: made } of all) expect(made).toBeLessThanOrEqual(20);
  });

  it("opening with a checkpoint reads only the ends of the log, and parses the header", async () => {
    const all = await atEachSize(async (entries) => {
      const { path } = await logOf(entries, 1);
      const counts = await counted(() => opened(path, { access: "read" }));
      expect(counts.bytesRead).toBeLessThan(4_096);
      return counts;
    });
    expectConstant(all, 64);
    expect(all[0]?.parses).toBe(1);
  });

  it("an append reads no earlier bytes (Verifies: P17)", async () => {
    const all = await atEachSize(async (entries) => {
      const { path } = await logOf(entries);
      const session = await opened(path, { checkpoint: "off" });
      await session.append(say(0));
      return counted(async () => {
        for (let n = 0; n < 20; n += 1) await appendAlone(session, n);
      });
    });
    expectConstant(all);
    expect(all[0]?.parses).toBe(0);
    expect(all[0]?.calls).toBeLessThanOrEqual(20 * 20);
  });

  it("the first context reads only its entries, after a compaction", async () => {
    const all = await atEachSize(async (entries) => {
      const { path } = await logOf(entries);
      await (await compacted(path)).close();
      const session = await opened(path, { access: "read", checkpoint: "off" });
      return counted(() => session.context());
    });
    expectConstant(all, 64);
    expect(all[0]?.bytesRead).toBeGreaterThan(0);
  });

  it("the next context parses no entry again (Verifies: P17)", async () => {
    const all = await atEachSize(async (entries) => {
      const { path } = await logOf(entries);
      const session = await opened(path, { checkpoint: "off" });
      await session.context();
      return counted(async () => {
        for (let n = 0; n < 20; n += 1) {
          await appendAlone(session, n);
          const { messages } = await session.context();
          expect(messages).toHaveLength(entries + n + 1);
        }
      });
    });
    expectConstant(all, 64);
    expect(all[0]?.parses).toBeLessThanOrEqual(20);
  });

  it("a list reads each file once", async () => {
    const { path, bytes } = await logOf(50);
    for (const files of [5, 20, 80]) {
      const directory = join(temporaryDirectory(), "sessions");
      mkdirSync(directory);
      for (let n = 0; n < files; n += 1) copyFileSync(path, join(directory, `${n}.jsonl`));
      const counts = await counted(() => SessionManager.list("/w", directory));
      expect(counts.bytesRead / files).toBeLessThanOrEqual(bytes);
      expect(counts.parses / files).toBeLessThanOrEqual(60);
    }
  });
});

const shapes: readonly (readonly [string, GeneratorOptions])[] = [
  ["a chain", { shape: "chain" }],
  ["very many children of one entry", { shape: "fan-out" }],
  ["ids of 21 characters", { shape: "chain", idStyle: "nanoid" }],
  ["ids of 72 characters", { shape: "chain", idStyle: "long" }],
];

describe.each(shapes)("%s", (_name, options) => {
  it.each([1_000, runs(8_000, 32_000)])(
    "is opened, delivered and shown at linear cost: %i entries",
    async (entries) => {
      const path = join(temporaryDirectory(), "session.jsonl");
      const { contextMessages, tips } = writeSessionFile(path, { ...options, entries });
      const { size } = statSync(path);
      const open = (): Promise<Session> => opened(path, { access: "read", checkpoint: "off" });
      // Every entry that may be a leaf is read once more, and confirmed.
      const opening = await counted(open);
      expect(opening.bytesRead).toBeLessThanOrEqual(2 * size + 65_536);
      expect(opening.parses).toBeLessThanOrEqual(tips + 2);
      expect(opening.calls).toBeLessThanOrEqual(20 + size / 65_536 + tips);

      const session = await open();
      // Each message once; those that lie close together are read together.
      const context = await counted(async () => {
        expect((await session.context()).messages).toHaveLength(contextMessages);
      });
      expect(context.parses).toBeLessThanOrEqual(contextMessages);
      expect(context.bytesRead).toBeLessThanOrEqual(2 * size);
      expect(context.calls).toBeLessThanOrEqual(20 + contextMessages);

      const manager = SessionManager.open(path);
      const tree = (): Promise<Counts> =>
        counted(async () => expect(countNodes(manager.getTree())).toBe(entries));
      // Each line once, to see that it is JSON; then bodies are read when they are used.
      const first = await tree();
      expect(first.parses).toBeLessThanOrEqual(entries);
      expect(first.bytesRead).toBeLessThanOrEqual(2 * size);
      expect(await tree()).toMatchObject({ parses: 0, bytesRead: 0 });
    },
  );
});
