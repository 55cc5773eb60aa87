/**
 * What watching leaves behind: nothing, however often subscribers come and go; and how long a
 * process lives that watches: until it stops watching. Real files, in separate processes.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { createSession } from "@branchlog/core";
import type { Session } from "@branchlog/core";
import { runs } from "../../support/fault-seed.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const script = fileURLToPath(new URL("../../support/lifetimes-process.mjs", import.meta.url));

/** What a process holds, as it says. */
interface Held {
  /** Heap and external memory, after a collection. */
  readonly bytes: number;
  readonly descriptors: number;
  /** Kinds of watchers and timers. */
  readonly waiting: readonly string[];
}

const cycles = runs(3_000, 10_000);
/**
 * A leak of 150 bytes per cycle would be more in a soak, one of 500 bytes elsewhere. Measured: less
 * than 300 kB, up or down.
 */
const growthBytesMax = 1_000_000;

async function newLog(): Promise<Session> {
  const session = await createSession(join(temporaryDirectory(), "s.jsonl"));
  await session.append({ type: "custom", customType: "first" });
  return session;
}

interface Running {
  /** The lines that it wrote so far. */
  readonly said: unknown[];
  /** Resolves once it wrote one. */
  readonly begun: Promise<unknown>;
  readonly isRunning: () => boolean;
  /** Resolves to the exit code once it has ended by itself. */
  readonly ended: Promise<number | null>;
}

function run(mode: string, { path }: Session, count = 0): Running {
  const args = ["--expose-gc", script, mode, path, String(count)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const lines = createInterface(child.stdout);
  const ended = Promise.all([once(child, "close"), once(lines, "close")]);
  const said: unknown[] = [];
  lines.on("line", (line) => said.push(JSON.parse(line)));
  return {
    said,
    begun: once(lines, "line"),
    isRunning: () => child.exitCode === null && child.signalCode === null,
    ended: ended.then(() => child.exitCode),
  };
}

/** What it held at ten moments. */
async function samples(mode: string, count: number): Promise<readonly Held[]> {
  const { said, ended } = run(mode, await newLog(), count);
  expect(await ended).toBe(0);
  expect(said).toHaveLength(10);
  // What our own script has just printed.
  return said as Held[];
}

/** How much more is held after all cycles than after three tenths, where it is level. */
function growth(held: readonly Held[]): number {
  return (held.at(-1)?.bytes ?? 0) - (held[2]?.bytes ?? 0);
}

describe(`${cycles} times`, () => {
  it.each(["subscribes", "opens"].slice(0, runs(1, 2)))(
    "a client %s, and leaves nothing behind",
    async (mode) => {
      const held = await samples(mode, cycles);
      expect(growth(held)).toBeLessThan(growthBytesMax);
      const descriptors = held.map((sample) => sample.descriptors);
      expect(Math.max(...descriptors)).toBe(Math.min(...descriptors));
      expect(held.flatMap(({ waiting }) => waiting)).toEqual([]);
    },
  );

  it("a manager, which has no close, leaves no file open once it is collected", async () => {
    const held = await samples("managers", runs(60, 200));
    const descriptors = held.map((sample) => sample.descriptors);
    expect(Math.max(...descriptors)).toBe(Math.min(...descriptors));
  });

  it("is often enough to detect leaks", async () => {
    const held = await samples("leaks", 300);
    expect(growth(held)).toBeGreaterThan(growthBytesMax);
    expect(held.at(-1)?.waiting).toContain("FSEventWrap");
  });
});

describe("a process", () => {
  it.each(["unsubscribe", "close", "return", "waits"])(
    "stays alive while it watches, and then exits: %s",
    async (mode) => {
      const session = await newLog();
      const { said, begun, isRunning, ended } = run(mode, session);
      await begun;
      for (const customType of ["more", "more", "last"]) {
        expect(isRunning()).toBe(true);
        await session.append({ type: "custom", customType });
      }
      expect(await ended).toBe(0);
      expect(said.at(-1)).toMatchObject({ saw: "last" });
    },
  );

  it("that never watched exits without waiting", async () => {
    const { said, ended } = run("opened", await newLog());
    expect(await ended).toBe(0);
    expect(said).toMatchObject([{ waiting: [] }]);
  });
});
