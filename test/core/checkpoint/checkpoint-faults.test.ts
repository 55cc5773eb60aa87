/**
 * Checkpoints while the n-th file-system call fails: no failure, whether of the log or of a
 * checkpoint, may leave one that differs from the log.
 */
import { describe, expect, it } from "vitest";
import { openSession } from "@branchlog/core";
import type { Session } from "@branchlog/core";
import { Engine } from "@branchlog/core/engine";
import { failEveryCall, failingWorld, failures } from "../../support/failing-calls.ts";
import type { FailingWorld } from "../../support/failing-calls.ts";
import { fixtureBytes } from "../../support/fixture.ts";
import { appendTo } from "../../support/append-to.ts";
import { say } from "../live/support.ts";
import { always, expectSame, isTakenUp } from "./session-facts.ts";

const path = "/s.jsonl";
/** A log, and what another program appends to it. */
const bytes = fixtureBytes("pi-branches");
const middle = bytes.indexOf(10, bytes.length / 2) + 1;
const added = bytes.subarray(middle);

const newWorld = (): FailingWorld => failingWorld({ [path]: bytes.subarray(0, middle) });

/** A record that takes several reads. */
const long = Buffer.from(
  `{"type":"custom","id":"1","parentId":null,"customType":"c","data":"${"x".repeat(700_000)}"}\n`,
);

/** A session that reads, appends and is closed; whatever of it fails. */
async function use({ memory, ports }: FailingWorld): Promise<void> {
  const session = await openSession(path, { ports, ...always, durability: "disk" }).catch(
    () => undefined,
  );
  appendTo(memory, path, added);
  await session?.refresh().catch(() => undefined);
  await session?.append(say("own")).catch(() => undefined);
  await session?.close().catch(() => undefined);
}

describe("a checkpoint", () => {
  it.each(Object.entries(failures))(
    "equals the log after any failure: %s (Verifies: P12, P21)",
    { timeout: 60_000 },
    async (_, failure) => {
      const calls = await failEveryCall(async (n) => {
        const world = newWorld();
        world.failing.arm(n, failure);
        await use(world);
        const hasFailed = world.failing.disarm();
        await expectSame(path, { ports: world.ports });
        return hasFailed;
      });
      expect(calls).toBeGreaterThan(0);
    },
  );

  it("is loaded again after a read of the log failed", async () => {
    const isRead = ({ name }: { name: string }): boolean => name === "read" || name === "readSync";
    await failEveryCall(async (n) => {
      const { memory, failing, ports } = newWorld();
      const session: Session = await openSession(path, { ports, ...always });
      appendTo(memory, path, Buffer.concat([added, long]));
      failing.arm(n, { concerns: isRead, code: "EIO" });
      await session.refresh().catch(() => undefined);
      const hasFailed = failing.disarm();
      await session.refresh();
      await session.close();
      expect(await isTakenUp(path, { ports })).toBe(true);
      await expectSame(path, { ports });
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
    expect(await isTakenUp(path, { ports })).toBe(true);
  });
});

it("saving is not retried repeatedly when it fails", async () => {
  const { memory, ports } = newWorld();
  const tried: string[] = [];
  memory.onCall = ({ name, path: target }) => {
    if (target?.includes(".ckpt.") !== true) return undefined;
    tried.push(name);
    throw new Error("EROFS");
  };
  const engine = Engine.openSync(path, { ports, ...always });
  await engine.checkpoints.save();
  appendTo(memory, path, added);
  engine.refreshSync();
  await engine.checkpoints.save();
  engine.checkpoints.saveSync();
  expect(tried).toEqual(["openSync"]);
});
