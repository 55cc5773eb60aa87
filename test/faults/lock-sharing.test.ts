/**
 * Sessions of one log in one process, blocking and not, also from two copies of the package; and
 * processes that keep the lock for a moment. Real files, the real lock. No process waits for
 * itself.
 */
import { execFile } from "node:child_process";
import type { PromiseWithChild } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { setImmediate as nextIteration } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { createSession, openSession } from "@branchlog/core";
import { SessionManager } from "@branchlog/agents/pi";
import { ManualClock, MemoryLock, createMemoryPorts } from "@branchlog/core/testing";
import { managersWith } from "@branchlog/agents/testing";
import { runs } from "../support/fault-seed.ts";
import { isLocked } from "../support/lock-file.ts";
import { orphanIds, rawLog } from "../support/raw-log.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const execute = promisify(execFile);
/** A script prints the id of each append: megabytes of them. */
const run = (file: string, args: readonly string[]): PromiseWithChild<{ stdout: string }> =>
  execute(file, args, { encoding: "utf8", maxBuffer: 256 * 1024 * 1024 });
const core = fileURLToPath(new URL("../../packages/core", import.meta.url));
const script = (name: string): string =>
  fileURLToPath(new URL(`../support/${name}.mjs`, import.meta.url));

async function newLog(): Promise<string> {
  const path = join(temporaryDirectory(), "s.jsonl");
  await createSession(path);
  return path;
}

/** Ids in file order; every line is an entry, and every parent is there. */
function idsOf(path: string): string[] {
  const log = rawLog(readFileSync(path));
  expect([log.debris, orphanIds(log)]).toEqual([[], []]);
  return log.entries.map(({ id }) => id);
}

const custom = (data: unknown): { type: "custom"; customType: string; data: unknown } => ({
  type: "custom",
  customType: "x",
  data,
});

describe("a blocking and a waiting session of one log in one process", () => {
  it("do not deadlock while the other is in its critical section (Verifies: P11)", async () => {
    const path = await newLog();
    const session = await openSession(path);
    const manager = SessionManager.open(path);
    const blocking: string[] = [];
    const waiting: string[] = [];
    for (let round = 0; round < 30; round += 1) {
      const appends = [1, 2, 3].map((n) => session.append(custom({ round, n })));
      for (let n = 0; n < 10; n += 1) blocking.push(manager.appendCustomEntry("b", { round, n }));
      if (round % 2 === 0) await Promise.resolve();
      for (let n = 0; n < 3; n += 1) blocking.push(manager.appendCustomEntry("b", { round, n }));
      if (round % 3 === 0) await new Promise(setImmediate);
      for (const { id } of await Promise.all(appends)) waiting.push(id);
    }
    const ids = idsOf(path);
    expect(ids).toHaveLength(30 * 16);
    expect(new Set(ids)).toEqual(new Set([...blocking, ...waiting]));
    await nextIteration();
    expect(isLocked(path)).toBe(false);
  });

  it("do not wait for the other's retained lock, nor do sessions of other logs", async () => {
    const lock = new MemoryLock();
    const managers = managersWith({
      ports: createMemoryPorts({ lock, clock: new ManualClock() }),
      // A waiter would fail at once.
      lockWaitMs: 0,
    });
    const create = (content: string): SessionManager => {
      const manager = managers.create("/w", "/s");
      manager.appendMessage({ role: "user", content, timestamp: 1 });
      return manager;
    };
    const one = create("one");
    const path = one.getSessionFile() ?? "";
    const two = managers.open(path);
    const other = create("other");
    const isLockedBy = (manager: SessionManager): boolean => {
      const held = lock.tryAcquireSync(manager.getSessionFile() ?? "");
      held?.releaseSync();
      return held === null;
    };
    for (let n = 0; n < 5; n += 1) one.appendCustomEntry("x", n);
    expect(isLockedBy(one)).toBe(true);
    two.appendCustomEntry("x", 5);
    expect(isLockedBy(one)).toBe(true);
    for (let n = 0; n < 5; n += 1) other.appendCustomEntry("x", n);
    expect([isLockedBy(one), isLockedBy(other)]).toEqual([false, true]);
    await Promise.resolve();
    expect(isLockedBy(other)).toBe(false);
    expect(managers.open(path).getEntryCount()).toBe(7);
  });
});

/** A copy of the built package, which Node takes for another one. */
function copyOfCore(): string {
  const copy = join(temporaryDirectory(), "node_modules", "@branchlog", "core");
  mkdirSync(dirname(copy), { recursive: true });
  cpSync(join(core, "dist"), join(copy, "dist"), { recursive: true });
  cpSync(join(core, "package.json"), join(copy, "package.json"));
  symlinkSync(join(core, "node_modules"), join(copy, "node_modules"), "dir");
  return join(copy, "dist");
}

describe("two copies of the package in one process", () => {
  const rounds = runs(8, 25);

  it("share the lock and lose nothing (Verifies: P11)", async () => {
    const path = await newLog();
    const args = [
      script("two-copies-process"),
      path,
      join(core, "dist"),
      copyOfCore(),
      String(rounds),
    ];
    const { stdout } = await run(process.execPath, args);
    // What our own script has just printed.
    const said = JSON.parse(stdout) as {
      readonly blocking: string[];
      readonly inFlight: string[];
      readonly isShared: boolean;
      readonly isOneModule: boolean;
    };
    expect(said).toMatchObject({ isShared: true, isOneModule: false });
    expect(said.blocking).toHaveLength(rounds * 20);
    expect(said.inFlight).toHaveLength(rounds * 8);
    const ids = idsOf(path);
    expect(ids).toHaveLength(rounds * 28);
    expect(new Set(ids)).toEqual(new Set([...said.blocking, ...said.inFlight]));
  });
});

describe("a process that retains the lock while it appends continuously", () => {
  it("lets others acquire it, and leaves no lock when it exits (Verifies: P11)", async () => {
    const path = await newLog();
    const blocking = run(process.execPath, [
      script("blocking-process"),
      path,
      String(runs(300, 1500)),
    ]);
    const session = await openSession(path);
    const waiting: string[] = [];
    while (blocking.child.exitCode === null && waiting.length < 2000) {
      waiting.push((await session.append(custom(waiting.length))).id);
    }
    const { stdout } = await blocking;
    const acknowledged = stdout.split("\n").slice(0, -1);
    expect(waiting.length).toBeGreaterThan(0);
    expect(acknowledged.length).toBeGreaterThan(0);
    const ids = idsOf(path);
    expect(new Set(ids).size).toBe(ids.length);
    expect(new Set(ids)).toEqual(new Set([...acknowledged, ...waiting]));
    // The process may have ended in the midst of a row of ours, in which the lock is kept.
    await nextIteration();
    expect(isLocked(path)).toBe(false);
  });
});
