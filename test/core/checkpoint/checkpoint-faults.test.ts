/**
 * Checkpoints while the n-th file-system call fails: no failure, whether of the log or of a
 * checkpoint, may leave one that says something else than the log.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { decodeCounter } from "@branchlog/streaming";
import { openSession } from "@branchlog/core";
import type { OpenOptions, Session } from "@branchlog/core";
import { MemoryFileSystem, createMemoryPorts } from "@branchlog/core/testing";
import type { Ports } from "@branchlog/core/testing";
import { Engine } from "@branchlog/core/engine";
import { failEveryCall, failingFileSystem, failures } from "../../support/failing-calls.ts";
import { reproducible } from "../../support/reproducible-ports.ts";
import { say } from "../live/support.ts";
import { openedFacts } from "./session-facts.ts";

const path = "/s.jsonl";
const always: OpenOptions = { checkpointEveryBytes: 1 };
const [start, added] = halves();

/** A log, and what another program appends to it. */
function halves(): readonly [Buffer, Buffer] {
  const url = new URL("../../../fixtures/pi-branches.jsonl", import.meta.url);
  const bytes = readFileSync(fileURLToPath(url));
  const middle = bytes.indexOf(10, bytes.length / 2) + 1;
  return [bytes.subarray(0, middle), bytes.subarray(middle)];
}

/** A record that takes several reads. */
const long = Buffer.from(
  `{"type":"custom","id":"1","parentId":null,"customType":"c","data":"${"x".repeat(700_000)}"}\n`,
);

interface World {
  readonly memory: MemoryFileSystem;
  readonly failing: ReturnType<typeof failingFileSystem>;
  readonly ports: Ports;
}

function newWorld(): World {
  const memory = new MemoryFileSystem();
  memory.writeFileSync(path, start);
  const failing = failingFileSystem(memory);
  return { memory, failing, ports: createMemoryPorts({ fs: failing.fs, ...reproducible() }) };
}

function append(memory: MemoryFileSystem, bytes: Buffer): void {
  const fd = memory.openSync(path, "append");
  memory.writeSync(fd, bytes, 0, bytes.length);
  memory.closeSync(fd);
}

/** A session that reads, appends and is closed; whatever of it fails. */
async function use({ memory, ports }: World): Promise<void> {
  const session = await openSession(path, { ports, ...always, durability: "disk" }).catch(
    () => undefined,
  );
  append(memory, added);
  await session?.refresh().catch(() => undefined);
  await session?.append(say("own")).catch(() => undefined);
  await session?.close().catch(() => undefined);
}

async function expectSame(ports: Ports): Promise<void> {
  const without = await openedFacts(path, { ports, checkpoint: "off" });
  expect(await openedFacts(path, { ports, ...always })).toEqual(without);
}

/** Opens a log, and says whether its checkpoint covers it: then only the header is parsed. */
async function isCovered(ports: Ports): Promise<boolean> {
  decodeCounter.parses = 0;
  await openSession(path, { ports, access: "read", ...always });
  return decodeCounter.parses === 1;
}

describe("a checkpoint", () => {
  it.each(Object.keys(failures))(
    "says what the log says, whatever failed: %s (Verifies: P12, P21)",
    { timeout: 60_000 },
    async (name) => {
      const failure = failures[name];
      const calls = await failEveryCall(async (n) => {
        const world = newWorld();
        if (failure !== undefined) world.failing.arm(n, failure);
        await use(world);
        const hasFailed = world.failing.disarm();
        await expectSame(world.ports);
        return hasFailed;
      });
      expect(calls).toBeGreaterThan(0);
    },
  );

  it("is loaded again, also if reading the log had failed halfway before", async () => {
    const isRead = ({ name }: { name: string }): boolean => name === "read" || name === "readSync";
    await failEveryCall(async (n) => {
      const { memory, failing, ports } = newWorld();
      const session: Session = await openSession(path, { ports, ...always });
      append(memory, Buffer.concat([added, long]));
      failing.arm(n, { concerns: isRead, code: "EIO" });
      await session.refresh().catch(() => undefined);
      const hasFailed = failing.disarm();
      await session.refresh();
      await session.close();
      expect(await isCovered(ports)).toBe(true);
      await expectSame(ports);
      return hasFailed;
    });
  });

  it("is saved when the session is closed, also if its last sync failed", async () => {
    const { failing, ports } = newWorld();
    const session = await openSession(path, {
      ports,
      ...always,
      durability: { intervalMs: 60_000 },
    });
    await session.append(say("unsynced"));
    failing.arm(0, {
      concerns: ({ name }) => name.startsWith("fdatasync"),
      code: "EIO",
      later: "EIO",
    });
    await expect(session.close()).rejects.toThrow();
    expect(failing.disarm()).toBe(true);
    expect(await isCovered(ports)).toBe(true);
  });
});

describe("saving", () => {
  it("is not tried again and again where it fails", async () => {
    const { memory, ports } = newWorld();
    const tried: string[] = [];
    memory.onCall = ({ name, path: target }) => {
      if (target?.includes(".ckpt.") !== true) return undefined;
      tried.push(name);
      throw new Error("EROFS");
    };
    const engine = Engine.openSync(path, { ports, ...always });
    await engine.checkpoints.save();
    append(memory, added);
    engine.refreshSync();
    await engine.checkpoints.save();
    engine.checkpoints.saveSync();
    expect(tried).toEqual(["openSync"]);
  });
});
