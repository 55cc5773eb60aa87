/** What a checkpoint spares a reader of bodies: folding the usage again, and confirming lines. */
import { appendFileSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { decodeCounter } from "@branchlog/streaming";
import type { Observable } from "rxjs";
import { createSession, openSession } from "@branchlog/core";
import type { OpenOptions, Session } from "@branchlog/core";
import type { SessionUsage } from "@branchlog/core/types";
import { SessionManager as OmpManager } from "@branchlog/agents/omp";
import { SessionManager } from "@branchlog/agents/pi";
import { verifySession } from "@branchlog/tools";
import { Engine } from "@branchlog/core/engine";
import type { IndexTable } from "@branchlog/core/rows";
import { live } from "@branchlog/core/live";
import { handOut } from "../../../packages/agents/src/pi/log-queries.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { rewritten } from "./forged-checkpoint.ts";
import { always, leaveCheckpoint } from "./session-facts.ts";

const answers = 40;

/** The line of an answer that cost `cost`, as pi writes it. */
function answer(n: number, cost: number): string {
  const usage = { input: n, output: 1, cacheRead: 2, cacheWrite: 3, totalTokens: n + 6 };
  const message = {
    role: "assistant",
    content: [{ type: "text", text: "x".repeat(100) }],
    provider: n % 2 === 0 ? "p" : "__proto__",
    model: `m${n % 3}`,
    usage: { ...usage, cost: { total: cost } },
    timestamp: n,
  };
  const id = n.toString(16).padStart(8, "0");
  const parentId = n === 1 ? null : (n - 1).toString(16).padStart(8, "0");
  const timestamp = "2026-01-01T00:00:00.000Z";
  return `${JSON.stringify({ type: "message", id, parentId, timestamp, message })}\n`;
}

/** A log of answers, as another program left it. */
async function logOfAnswers(cost = 0.1): Promise<string> {
  const path = join(temporaryDirectory(), "s.jsonl");
  await (await createSession(path, { cwd: "/w", checkpoint: "off" })).close();
  for (let n = 1; n <= answers; n += 1) appendFileSync(path, answer(n, cost));
  return path;
}

async function firstOf<T>(values: Observable<T>): Promise<T> {
  return new Promise((resolve) => {
    values.subscribe(resolve);
  });
}

/** What a session that is reopened says of the usage, and how many lines that parsed. */
async function usageOf(
  path: string,
  options: OpenOptions = {},
): Promise<{ readonly usage: SessionUsage; readonly parses: number; readonly session: Session }> {
  const session = await openSession(path, { access: "read", ...options });
  decodeCounter.parses = 0;
  const usage = await session.usage;
  return { usage, parses: decodeCounter.parses, session };
}

describe("the usage of a session", () => {
  it("continues from the state in a checkpoint (Verifies: P21)", async () => {
    const path = await logOfAnswers();
    const first = await usageOf(path, { access: "append", ...always });
    expect(first.parses).toBeGreaterThanOrEqual(answers - 1);
    await first.session.close();
    const second = await usageOf(path);
    expect(second.parses).toBe(0);
    expect(second.usage).toEqual(first.usage);
    appendFileSync(path, answer(answers + 1, 0.1));
    const third = await usageOf(path);
    expect(third.parses).toBeLessThan(3);
    expect(third.usage).toEqual((await usageOf(path, { checkpoint: "off" })).usage);
    expect((await OmpManager.open(path)).getUsageStatistics()).toEqual(third.usage.total);
  });

  it("is folded once for concurrent callers", async () => {
    const path = await logOfAnswers();
    const session = await openSession(path, { access: "read", bodyCacheBytesMax: 0 });
    const all = await Promise.all([session.usage, session.usage]);
    decodeCounter.parses = 0;
    expect(await session.usage).toBe(all[0]);
    expect(await firstOf(live(session).usage$)).toEqual({ revision: answers, value: all[1] });
    expect(decodeCounter.parses).toBe(0);
    await session.close();
  });

  it("is saved when the log is no longer than its checkpoint", async () => {
    const path = await logOfAnswers();
    await leaveCheckpoint(path);
    const { mtimeMs } = statSync(`${path}.ckpt`);
    await leaveCheckpoint(path);
    expect(statSync(`${path}.ckpt`).mtimeMs).toBe(mtimeMs);
    const asked = await usageOf(path, { access: "append", ...always });
    await asked.session.close();
    expect((await usageOf(path)).parses).toBe(0);
    // Nothing is left that would be worth another one.
    const saved = readFileSync(`${path}.ckpt`);
    const again = await usageOf(path, { access: "append", ...always });
    await again.session.close();
    expect(readFileSync(`${path}.ckpt`)).toEqual(saved);
  });

  it("is not saved when it is infinite, unlike everything else", async () => {
    const path = await logOfAnswers(1e308);
    const first = await usageOf(path, { access: "append", ...always });
    expect(first.usage.total.cost).toBe(Number.POSITIVE_INFINITY);
    await first.session.close();
    decodeCounter.parses = 0;
    const second = await openSession(path, { access: "read" });
    expect(decodeCounter.parses).toBe(1);
    expect(await second.usage).toEqual(first.usage);
  });

  it("is reported by verify when a checkpoint has another one", async () => {
    const path = await logOfAnswers();
    const { session, usage } = await usageOf(path, { access: "append", ...always });
    await session.close();
    expect((await verifySession((await usageOf(path)).session)).ok).toBe(true);
    const forged = rewritten(readFileSync(`${path}.ckpt`), ({ state }) => {
      const { folded } = state as { folded: { usage: { total: number[] } } };
      folded.usage.total[6] = 1_000;
    });
    writeFileSync(`${path}.ckpt`, forged);
    const opened = await usageOf(path);
    expect(opened.usage.total).toEqual({ ...usage.total, cost: 1_000 });
    expect((await verifySession(opened.session)).checkpointDifferences).toEqual([
      { what: "usage", entry: null },
    ]);
  });
});

function everyRow({ count }: IndexTable): number[] {
  return Array.from({ length: count }, (_, row) => row);
}

it("a line that was read completely is not read again when a process returns all entries", async () => {
  const path = await logOfAnswers();
  await leaveCheckpoint(path);
  const engine = Engine.openSync(path, always);
  decodeCounter.parses = 0;
  expect(handOut(engine, () => everyRow(engine.index))).toHaveLength(answers);
  expect(decodeCounter.parses).toBeGreaterThanOrEqual(answers - 1);
  engine.checkpoints.saveSync();
  const next = SessionManager.open(path);
  decodeCounter.parses = 0;
  expect(next.getEntries()).toHaveLength(answers);
  expect(decodeCounter.parses).toBe(0);
});

it("a checkpoint of only an index has no checksums, and keeps existing ones", async () => {
  const path = await logOfAnswers();
  await leaveCheckpoint(path, { checkpoint: "index" });
  const without = await openSession(path, { access: "read" });
  expect((await verifySession(without)).checksums).toMatchObject({ entries: 0 });
  // A session that appends takes them.
  await leaveCheckpoint(path);
  const asked = { access: "append", checkpointEveryBytes: 1, checkpoint: "index" } as const;
  await (await usageOf(path, asked)).session.close();
  const { checksums } = await verifySession(await openSession(path, { access: "read" }));
  expect(checksums).toEqual({ state: "compared", entries: answers, unseenEntries: 0 });
  expect((await usageOf(path)).parses).toBe(0);
});
