/**
 * What an acknowledgement means: when syncs happen, whom they serve, and what a failed one costs.
 */
import { describe, expect, it } from "vitest";
import { createSession, openSession } from "@branchlog/core";
import type { Durability, Session } from "@branchlog/core";
import {
  ManualClock,
  MemoryFileSystem,
  MemoryLock,
  createMemoryPorts,
  sampleHeader,
  userDraft,
} from "@branchlog/core/testing";
import type { Ports } from "@branchlog/core/testing";
import { unsyncedEntriesMax } from "../../../packages/core/src/limits.ts";
import { deferred } from "../../../packages/core/src/append/deferred.ts";
import type { Deferred } from "../../../packages/core/src/append/deferred.ts";
import { BlockingSession } from "../../support/blocking-session.ts";
import { observedFileSystem } from "../../support/observed-file-system.ts";
import { turns } from "../live/support.ts";

const path = "/s.jsonl";

/** A machine whose disk syncs when it is told to, or fails to. */
class World {
  readonly memory = new MemoryFileSystem();
  readonly clock = new ManualClock(Date.UTC(2026, 0, 1));
  readonly lock = new MemoryLock();
  /** Syncs that have begun and wait for the disk. */
  readonly underWay: Deferred<void>[] = [];
  isPatient = false;
  failures = 0;
  readonly ports: Ports;

  constructor() {
    const fs = observedFileSystem(this.memory, (call, effect) => {
      if (!call.name.startsWith("fdatasync")) return effect();
      if (this.failures > 0) {
        this.failures -= 1;
        throw Object.assign(new Error("EIO: i/o error, fdatasync"), { code: "EIO" });
      }
      return effect();
    });
    const slow = {
      ...fs,
      fdatasync: async (fd: number) => {
        if (this.isPatient) {
          const disk = deferred<void>();
          this.underWay.push(disk);
          await disk.promise;
        }
        await fs.fdatasync(fd);
      },
    };
    this.ports = createMemoryPorts({ fs: slow, clock: this.clock, lock: this.lock });
  }

  create(durability: Durability): Promise<Session> {
    return createSession(path, { ports: this.ports, durability, cwd: "/w" });
  }

  open(durability: Durability): Promise<Session> {
    return openSession(path, { ports: this.ports, durability });
  }

  /** Syncs of data since this was asked last. */
  syncs(): number {
    const { memory } = this;
    const now = memory.callCount("fdatasync") + memory.callCount("fdatasyncSync");
    const count = now - this.#counted;
    this.#counted = now;
    return count;
  }

  get lines(): readonly string[] {
    return this.memory.readFileSync(path).toString().split("\n").slice(0, -1);
  }

  #counted = 0;
}

/** A new log with a session that appends to it; the syncs of creating it are not counted. */
async function opened(
  durability: Durability,
): Promise<{ readonly world: World; readonly session: Session }> {
  const world = new World();
  const session = await world.create(durability);
  world.syncs();
  return { world, session };
}

/** Which of the promises have settled. */
async function settledOf(promises: readonly Promise<unknown>[]): Promise<boolean[]> {
  const settled = promises.map(() => false);
  const note = (at: number) => (): void => {
    settled[at] = true;
  };
  for (const [at, one] of promises.entries()) void one.then(note(at), note(at));
  await turns(5);
  return settled;
}

it("os, the default, syncs nothing (Verifies: P5)", async () => {
  const world = new World();
  const session = await createSession(path, { ports: world.ports });
  world.syncs();
  await Promise.all([1, 2, 3].map((n) => session.append(userDraft(`${n}`))));
  BlockingSession.open(path, { ports: world.ports }).append({ draft: userDraft("4") });
  await session.close();
  expect(world.syncs()).toBe(0);
});

describe("disk", () => {
  it("syncs once for all entries written together (Verifies: P5)", async () => {
    const { world, session } = await opened("disk");
    await Promise.all(Array.from({ length: 64 }, (_, n) => session.append(userDraft(`${n}`))));
    expect(world.syncs()).toBe(1);
  });

  it("acknowledges after the sync, and continues writing in the meantime (Verifies: P5)", async () => {
    const { world, session } = await opened("disk");
    world.isPatient = true;
    const first = session.append(userDraft("1"));
    await turns(5);
    expect(world.lines).toHaveLength(2);
    const second = session.append(userDraft("2"));
    await turns(5);
    const third = session.append(userDraft("3"));
    expect(await settledOf([first, second, third])).toEqual([false, false, false]);
    expect(world.lines).toHaveLength(4);
    expect(world.lock.tryAcquireSync(path)?.releaseSync()).toBeUndefined();

    // The sync that began before they were written does not serve the others; the next serves both.
    expect(world.underWay).toHaveLength(1);
    world.underWay[0]?.resolve();
    expect(await settledOf([first, second, third])).toEqual([true, false, false]);
    expect(world.underWay).toHaveLength(2);
    world.underWay[1]?.resolve();
    expect(await settledOf([first, second, third])).toEqual([true, true, true]);
    await session.close();
    expect(world.underWay).toHaveLength(2);
  });

  it("syncs before a blocking append returns, and again for a retry", () => {
    const world = new World();
    const options = { ports: world.ports, durability: "disk" } as const;
    const session = BlockingSession.create(path, sampleHeader(), options);
    world.syncs();
    session.append({ draft: userDraft("1") });
    expect(world.syncs()).toBe(1);
    for (let n = 0; n < 10; n += 1) session.append({ draft: userDraft(`${n}`) });
    expect(world.syncs()).toBe(10);
  });

  it("waits for pending syncs when the session is closed", async () => {
    const { world, session } = await opened("disk");
    world.isPatient = true;
    const append = session.append(userDraft("1"));
    const closed = session.close();
    expect(await settledOf([append, closed])).toEqual([false, false]);
    world.underWay[0]?.resolve();
    expect(await settledOf([append, closed])).toEqual([true, true]);
  });

  it("rejects appends beyond queuedBytesMax of unsynced bytes", async () => {
    const world = new World();
    const options = { ports: world.ports, durability: "disk", queuedBytesMax: 5000 } as const;
    const session = await createSession(path, options);
    world.isPatient = true;
    const appends = [1, 2, 3].map(() => session.append(userDraft("x".repeat(1000))));
    await turns(5);
    const refused = session.append(userDraft("x".repeat(1000)));
    await expect(refused).rejects.toMatchObject({ code: "ERR_QUEUE_FULL" });
    world.underWay[0]?.resolve();
    await Promise.all(appends);
    world.isPatient = false;
    await session.append(userDraft("y"));
  });
});

describe("an interval", () => {
  it("syncs once after it for all writes within it (Verifies: P5)", async () => {
    const { world, session } = await opened({ intervalMs: 100 });
    for (let n = 0; n < 5; n += 1) await session.append(userDraft(`${n}`));
    world.clock.advance(99);
    await turns(5);
    expect(world.syncs()).toBe(0);
    world.clock.advance(1);
    await turns(5);
    expect(world.syncs()).toBe(1);
    world.clock.advance(1000);
    await turns(5);
    expect(world.syncs()).toBe(0);
    await session.append(userDraft("later"));
    world.clock.advance(100);
    await turns(5);
    expect(world.syncs()).toBe(1);
  });

  it("holds for a caller that blocks the event loop", () => {
    const world = new World();
    const options = { ports: world.ports, durability: { intervalMs: 10 } };
    const session = BlockingSession.create(path, sampleHeader(), options);
    world.syncs();
    for (let n = 0; n < 100; n += 1) {
      session.append({ draft: userDraft(`${n}`) });
      world.clock.advance(1);
    }
    const syncs = world.syncs();
    expect(syncs).toBeGreaterThanOrEqual(9);
    expect(syncs).toBeLessThanOrEqual(11);
  });

  it("ends early when too many entries wait for it, but not with one fewer", async () => {
    const { world, session } = await opened({ intervalMs: 1000 });
    const drafts = Array.from({ length: unsyncedEntriesMax - 1 }, () => userDraft(""));
    await session.appendAll(drafts);
    expect(world.syncs()).toBe(0);
    await session.append(userDraft("last"));
    await turns(5);
    expect(world.syncs()).toBe(1);
  });

  it("reports a failed sync at the next append", async () => {
    const { world, session } = await opened({ intervalMs: 100 });
    const { id } = await session.append(userDraft("1"));
    world.failures = 1;
    world.clock.advance(100);
    await turns(5);
    const next = session.append(userDraft("2"));
    await expect(next).rejects.toMatchObject({ code: "ERR_DURABILITY_UNKNOWN", written: [] });
    expect(await session.recover()).toEqual({ isRestored: false, appendedAgain: [id] });
    await session.append(userDraft("2"));
  });
});

describe("a sync that fails", () => {
  it("stops appends until its unsynced entries were written again (Verifies: P5)", async () => {
    const { world, session } = await opened("disk");
    const known = await session.append(userDraft("known"));
    world.failures = 1;
    const doubted = Promise.allSettled([
      session.append(userDraft("1"), { id: "one" }),
      session.append(userDraft("2"), { id: "two" }),
    ]);
    expect(await doubted).toMatchObject([
      { reason: { code: "ERR_DURABILITY_UNKNOWN", written: ["one"] } },
      { reason: { code: "ERR_DURABILITY_UNKNOWN", written: ["two"] } },
    ]);
    // The system would say yes now, having forgotten what it could not write.
    const before = world.lines;
    const next = session.append(userDraft("3"));
    await expect(next).rejects.toMatchObject({ code: "ERR_DURABILITY_UNKNOWN", written: [] });
    const retry = session.append(userDraft("1"), { id: "one" });
    await expect(retry).rejects.toMatchObject({ code: "ERR_DURABILITY_UNKNOWN" });
    expect(world.lines).toEqual(before);

    world.failures = 1;
    const failing = session.recover();
    await expect(failing).rejects.toMatchObject({ code: "ERR_DURABILITY_UNKNOWN" });
    world.syncs();
    expect(await session.recover()).toEqual({ isRestored: false, appendedAgain: ["one", "two"] });
    expect(world.syncs()).toBe(1);
    expect(world.lines.slice(-2)).toEqual(before.slice(-2));
    const last = await session.append(userDraft("3"));
    expect(last.parentId).toBe("two");
    const again = await world.open("os");
    const branch = (await again.branch()).map(({ id }) => id);
    expect(branch).toEqual([known.id, "one", "two", last.id]);
    expect(await session.recover()).toEqual({ isRestored: false, appendedAgain: [] });
  });

  it("is recovered from once the lock can be created again, and nothing is written before", async () => {
    const { world, session } = await opened("disk");
    world.failures = 1;
    const doubted = session.append(userDraft("1"), { id: "one" });
    await expect(doubted).rejects.toMatchObject({ code: "ERR_DURABILITY_UNKNOWN" });
    const before = world.lines;
    const tryAcquireSync = world.lock.tryAcquireSync.bind(world.lock);
    world.lock.tryAcquireSync = () => {
      throw Object.assign(new Error("EACCES: permission denied, mkdir"), { code: "EACCES" });
    };
    await expect(session.recover()).rejects.toMatchObject({ code: "ERR_APPEND_FAILED", path });
    expect(world.lines).toEqual(before);
    world.lock.tryAcquireSync = tryAcquireSync;
    expect(await session.recover()).toEqual({ isRestored: false, appendedAgain: ["one"] });
    // What the disk has of the bytes before is unknown: the new line begins on a new line.
    expect(world.lines).toEqual([...before, "", before.at(-1)]);
  });

  it("writes again the entries still in the log, and nothing else", async () => {
    for (const change of ["cut", "changed"]) {
      const { world, session } = await opened("disk");
      world.failures = 1;
      await Promise.allSettled([
        session.append(userDraft("1"), { id: "one" }),
        session.append(userDraft("2".repeat(200_000)), { id: "two" }),
      ]);
      const before = world.memory.readFileSync(path).toString();
      const cut = before.slice(0, before.lastIndexOf('{"type"'));
      const changed = before.replace('"id":"one"', '"id":"own"');
      world.memory.writeFileSync(path, Buffer.from(change === "cut" ? cut : changed));
      const appendedAgain = change === "cut" ? ["one"] : ["two"];
      expect(await session.recover()).toEqual({ isRestored: false, appendedAgain });
      const after = world.memory.readFileSync(path).toString();
      expect(after.startsWith(change === "cut" ? cut : changed)).toBe(true);
      expect(after.match(/"id":"one"/g) ?? []).toHaveLength(change === "cut" ? 2 : 0);
    }
  });

  it("stays unconfirmed when the repeated append is disturbed", async () => {
    const { world, session } = await opened("disk");
    world.failures = 1;
    await session.append(userDraft("1"), { id: "one" }).catch(() => undefined);
    // As a program that appends without a lock, at each write.
    const open = world.memory.openSync(path, "append");
    const writeSync = world.memory.writeSync.bind(world.memory);
    world.memory.writeSync = (...call) => {
      writeSync(open, Buffer.from("{"), 0, 1);
      return writeSync(...call);
    };
    const disturbed = session.recover();
    await expect(disturbed).rejects.toMatchObject({ code: "ERR_APPEND_UNCERTAIN", path });
    world.memory.writeSync = writeSync;
    expect(await session.recover()).toEqual({ isRestored: false, appendedAgain: ["one"] });
    expect((await world.open("os")).leaf).toBe("one");
  });

  it("is reported by close, if it was not reported before", async () => {
    const { world, session } = await opened({ intervalMs: 100 });
    const { id } = await session.append(userDraft("1"));
    world.failures = 1;
    const closed = session.close();
    await expect(closed).rejects.toMatchObject({ code: "ERR_DURABILITY_UNKNOWN", written: [id] });
  });
});
