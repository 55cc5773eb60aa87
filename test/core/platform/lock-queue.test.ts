/** The queue of those that wait for a lock: its order, and what is left behind in it. */
import fs, {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { ticketGraceMs, ticketStaleMs } from "../../../packages/core/src/limits.ts";
import {
  directoryQueue,
  removeAbandonedTickets,
} from "../../../packages/core/src/platform/lock-queue.ts";
import { ownProcessName } from "../../../packages/core/src/platform/process-name.ts";
import type { LockPlace } from "../../../packages/core/src/platform/ports.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

function newPath(): { readonly path: string; readonly directory: string } {
  const path = join(temporaryDirectory(), "s.jsonl");
  return { path, directory: `${path}.branchlog-queue` };
}

function placeIn(path: string): LockPlace {
  const place = directoryQueue.joinSync(path);
  if (place === null) throw new Error(`no place in the queue of ${path}`);
  return place;
}

/** Nobody waits in it, and nobody gets a place in it. */
function expectUncounted(path: string): void {
  expect(directoryQueue.isBusySync(path)).toBe(false);
  expect(directoryQueue.joinSync(path)).toBeNull();
}

const ticket = (ms: number, owner: string): string =>
  `${String(ms).padStart(15, "0")}-${owner}-00000000`;
const own = ownProcessName();
/** A process that has ended: its id is larger than any. */
const ended = own.replace(/^\d+/, "4194305");
/** One of which nothing is known. */
const unknown = `7.1.${"0".repeat(32)}`;
/** Elsewhere no process is known to have ended. */
const onLinux = process.platform === "linux";

/** Writes the ticket of a process that said it would check so many milliseconds ago. */
function writeTicket(directory: string, owner: string, lateMs: number = 0): string {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, ticket(1, owner));
  writeFileSync(path, "");
  return announce(path, lateMs);
}

function announce(path: string, lateMs: number): string {
  const time = new Date(Date.now() - lateMs);
  utimesSync(path, time, time);
  return path;
}

describe("a queue", () => {
  it("exists while a process waits in it, and is removed with the last", () => {
    const { path, directory } = newPath();
    expect(directoryQueue.isBusySync(path)).toBe(false);
    const [one, other] = [placeIn(path), placeIn(path)];
    expect(directoryQueue.isBusySync(path)).toBe(true);
    one.leaveSync();
    expect(directoryQueue.isBusySync(path)).toBe(true);
    other.leaveSync();
    expect(existsSync(directory)).toBe(false);
  });

  it.runIf(process.platform !== "win32")("is private to its user", () => {
    const { path, directory } = newPath();
    const place = placeIn(path);
    const [name = ""] = readdirSync(directory);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600);
    place.leaveSync();
  });

  it("has exactly one first waiter, regardless of which one leaves", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(9), { maxLength: 12 }), (leavers) => {
        const { path, directory } = newPath();
        let places = Array.from({ length: 10 }, () => placeIn(path));
        for (const leaver of leavers) {
          places[leaver % places.length]?.leaveSync();
          places = places.filter((_, at) => at !== leaver % places.length);
          const ahead = places.map((place) => place.aheadSync());
          expect(ahead.filter((count) => count === 0)).toHaveLength(Math.min(1, places.length));
        }
        for (const place of places) place.leaveSync();
        expect(existsSync(directory)).toBe(false);
      }),
      { numRuns: 20 },
    );
  });

  it.runIf(onLinux)("has no position for a process that has ended", () => {
    const { path, directory } = newPath();
    writeTicket(directory, ended);
    const place = placeIn(path);
    expect(place.aheadSync()).toBe(0);
    place.leaveSync();
    expect(existsSync(directory)).toBe(false);
  });

  it.each([
    ["later than it said", 60_000],
    ["so far ahead that its clock was set", -60_000],
  ])("skips a live process that checks %s, which keeps its position", (_, lateMs) => {
    const { path, directory } = newPath();
    const stopped = writeTicket(directory, own, lateMs);
    const place = placeIn(path);
    expect(place.aheadSync()).toBe(0);
    announce(stopped, 0);
    expect(place.aheadSync()).toBe(onLinux ? 1 : 0);
    place.leaveSync();
    expect(existsSync(stopped)).toBe(onLinux);
  });

  it.each([
    [0, 1, true],
    [ticketGraceMs + 500, 0, true],
    [ticketStaleMs + 500, 0, false],
    [-60_000, 0, false],
  ])(
    "removes the ticket of an unknown process when it is stale: late by %d ms, %d in front",
    (lateMs, ahead, stays) => {
      const { path, directory } = newPath();
      const stopped = writeTicket(directory, unknown, lateMs);
      const place = placeIn(path);
      expect(place.aheadSync()).toBe(ahead);
      expect(existsSync(stopped)).toBe(stays);
      place.leaveSync();
    },
  );

  it("keeps the position of a process that checks after its ticket was removed", () => {
    const { path, directory } = newPath();
    const places = [placeIn(path), placeIn(path)];
    const [, second] = places.toSorted((a, b) => a.aheadSync() - b.aheadSync());
    const [, ticketOfSecond = ""] = readdirSync(directory).toSorted();
    rmSync(join(directory, ticketOfSecond));
    second?.pauseSync(0);
    expect(second?.aheadSync()).toBe(1);
    expect(readdirSync(directory)).toContain(ticketOfSecond);
    for (const place of places) place.leaveSync();
  });

  it("ignores files that are not tickets", () => {
    const { path, directory } = newPath();
    mkdirSync(directory);
    writeFileSync(join(directory, "000-notes.txt"), "mine");
    const place = placeIn(path);
    expect(place.aheadSync()).toBe(0);
    place.leaveSync();
    expect(readdirSync(directory)).toEqual(["000-notes.txt"]);
  });

  it("that cannot be written gives no position, and does not throw", () => {
    const { path, directory } = newPath();
    writeFileSync(directory, "a file has the name");
    expectUncounted(path);
  });

  it.runIf(process.platform !== "win32")(
    "that others can write to is ignored: they could hold the first position",
    () => {
      const { path, directory } = newPath();
      const first = writeTicket(directory, own);
      expect(placeIn(path).aheadSync()).toBe(1);
      for (const mode of [0o777, 0o770, 0o1777]) {
        chmodSync(directory, mode);
        expectUncounted(path);
        removeAbandonedTickets(path);
        expect(existsSync(first)).toBe(true);
      }
    },
  );

  it.runIf(process.getuid?.() === 0)("of another user is ignored", () => {
    const { path, directory } = newPath();
    mkdirSync(directory, { mode: 0o700 });
    chownSync(directory, 65_534, 65_534);
    expectUncounted(path);
    expect(readdirSync(directory)).toEqual([]);
  });

  it.runIf(process.platform !== "win32")(
    "that is a link to a directory is ignored, and nothing in it is touched",
    () => {
      const { path, directory } = newPath();
      const foreign = temporaryDirectory();
      writeFileSync(join(foreign, ticket(1, ended)), "");
      symlinkSync(foreign, directory);
      expectUncounted(path);
      removeAbandonedTickets(path);
      expect(readdirSync(foreign)).toEqual([ticket(1, ended)]);
    },
  );

  it.runIf(onLinux)(
    "is removed with the tickets of processes that have ended, and not while one waits",
    () => {
      const { path, directory } = newPath();
      writeTicket(directory, ended);
      removeAbandonedTickets(path);
      expect(existsSync(directory)).toBe(false);
      const waiting = placeIn(path);
      removeAbandonedTickets(path);
      expect(waiting.aheadSync()).toBe(0);
      expect(readdirSync(directory)).toHaveLength(1);
      waiting.leaveSync();
    },
  );
});

describe("a waiter", () => {
  it.runIf(onLinux)("is behind live processes, and those before a live one", () => {
    const kinds = fc.array(fc.boolean(), { maxLength: 8 });
    fc.assert(
      fc.property(kinds, fc.integer(), (isLive, seed) => {
        const { path, directory } = newPath();
        mkdirSync(directory);
        const tickets = isLive.map((live, at) => ticket(at, live ? own : ended));
        // Directories list names in any order.
        const written = tickets.toSorted((one, other) => hash(one, seed) - hash(other, seed));
        for (const name of written) writeFileSync(join(directory, name), "");
        const place = placeIn(path);
        const firstLive = isLive.indexOf(true);
        const ahead = firstLive < 0 ? [] : tickets.slice(firstLive);
        expect(place.aheadSync()).toBe(ahead.length);
        expect(readdirSync(directory).toSorted().slice(0, -1)).toEqual(ahead);
        rmSync(directory, { recursive: true });
      }),
    );
  });

  it("announces its next check by the time of its ticket", () => {
    const { path, directory } = newPath();
    const place = placeIn(path);
    const [name = ""] = readdirSync(directory);
    const startMs = Date.now();
    place.pauseSync(4_000);
    const dueMs = statSync(join(directory, name)).mtimeMs - startMs;
    expect(dueMs).toBeGreaterThanOrEqual(3_999);
    expect(dueMs).toBeLessThan(60_000);
    place.leaveSync();
  });

  it("reads one ticket for each check while nothing moves, however many are in front", () => {
    const { path } = newPath();
    const places = Array.from({ length: 50 }, () => placeIn(path)).toSorted(
      (one, other) => one.aheadSync() - other.aheadSync(),
    );
    const stat = vi.spyOn(fs, "statSync");
    const list = vi.spyOn(fs, "readdirSync");
    syncBuiltinESMExports();
    onTestFinished(() => {
      vi.restoreAllMocks();
      syncBuiltinESMExports();
    });
    const last = places.at(-1);
    for (let n = 0; n < 10; n += 1) expect(last?.aheadSync()).toBeGreaterThan(0);
    expect(stat).toHaveBeenCalledTimes(10);
    expect(list).not.toHaveBeenCalled();
    for (const place of places) place.leaveSync();
  });

  it("is first when the ticket in front of it cannot be read", () => {
    const { path, directory } = newPath();
    mkdirSync(directory, { mode: 0o700 });
    const before = join(directory, ticket(1, unknown));
    // A link to itself: its status fails, and it is not a file that could be read.
    symlinkSync(before, before);
    const place = placeIn(path);
    expect(place.aheadSync()).toBe(0);
    expect(readdirSync(directory)).toHaveLength(1);
    place.leaveSync();
    expect(existsSync(directory)).toBe(false);
  });
});

/** Some order of names that is not their own. */
function hash(name: string, seed: number): number {
  return crc32(name, seed >>> 0);
}
