/** The queue of those that wait for a lock: its order, and what is left behind in it. */
import {
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
import { join } from "node:path";
import { crc32 } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { ticketStaleMs } from "../../../packages/core/src/limits.ts";
import {
  directoryQueue,
  removeAbandonedTickets,
} from "../../../packages/core/src/store/lock-queue.ts";
import type { LockPlace } from "../../../packages/core/src/store/ports.ts";
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

const ticket = (ms: number, pid: number): string =>
  `${String(ms).padStart(15, "0")}-${pid}-00000000`;
// Larger than any process id.
const nobody = 2 ** 22 + 1;

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

  it.runIf(process.platform !== "win32")("is for its user alone", () => {
    const { path, directory } = newPath();
    const place = placeIn(path);
    const [name = ""] = readdirSync(directory);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600);
    place.leaveSync();
  });

  it("has one first, and as many in front of each other one as there are", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(9), { maxLength: 12 }), (leavers) => {
        const { path, directory } = newPath();
        let places = Array.from({ length: 10 }, () => placeIn(path));
        for (const leaver of leavers) {
          places[leaver % places.length]?.leaveSync();
          places = places.filter((_, at) => at !== leaver % places.length);
          const ahead = places.map((place) => place.aheadSync());
          expect(ahead.toSorted((a, b) => a - b)).toEqual(places.map((_, at) => at));
        }
        for (const place of places) place.leaveSync();
        expect(existsSync(directory)).toBe(false);
      }),
      { numRuns: 20 },
    );
  });

  it("has no place for a process that is gone", () => {
    const { path, directory } = newPath();
    mkdirSync(directory);
    writeFileSync(join(directory, ticket(1, nobody)), "");
    const place = placeIn(path);
    expect(place.aheadSync()).toBe(0);
    place.leaveSync();
    expect(existsSync(directory)).toBe(false);
  });

  it.each([-10 * ticketStaleMs, 10 * ticketStaleMs])(
    "has no place for a process that does not look: touched %d ms from now",
    (ms) => {
      const { path, directory } = newPath();
      mkdirSync(directory);
      const stopped = join(directory, ticket(1, process.pid));
      writeFileSync(stopped, "");
      const time = new Date(Date.now() + ms);
      utimesSync(stopped, time, time);
      const place = placeIn(path);
      expect(place.aheadSync()).toBe(0);
      expect(existsSync(stopped)).toBe(false);
      place.leaveSync();
    },
  );

  it("keeps the place of a process that checks, though its ticket was removed", () => {
    const { path, directory } = newPath();
    const places = [placeIn(path), placeIn(path)];
    const [, second] = places.toSorted((a, b) => a.aheadSync() - b.aheadSync());
    const [, ticketOfSecond = ""] = readdirSync(directory).toSorted();
    rmSync(join(directory, ticketOfSecond));
    expect(second?.aheadSync()).toBe(1);
    expect(readdirSync(directory)).toContain(ticketOfSecond);
    for (const place of places) place.leaveSync();
  });

  it("leaves files alone that are no tickets, and counts none of them", () => {
    const { path, directory } = newPath();
    mkdirSync(directory);
    writeFileSync(join(directory, "000-notes.txt"), "mine");
    const place = placeIn(path);
    expect(place.aheadSync()).toBe(0);
    place.leaveSync();
    expect(readdirSync(directory)).toEqual(["000-notes.txt"]);
  });

  it("that cannot be written gives no place, and throws nothing", () => {
    const { path, directory } = newPath();
    writeFileSync(directory, "a file has the name");
    expect(directoryQueue.isBusySync(path)).toBe(false);
    expect(directoryQueue.joinSync(path)).toBeNull();
  });

  it.runIf(process.platform !== "win32")(
    "that others can write to does not count: they could hold the first place",
    () => {
      const { path, directory } = newPath();
      mkdirSync(directory);
      const first = join(directory, ticket(1, process.pid));
      writeFileSync(first, "");
      expect(placeIn(path).aheadSync()).toBe(1);
      for (const mode of [0o777, 0o770, 0o1777]) {
        chmodSync(directory, mode);
        expect(directoryQueue.isBusySync(path)).toBe(false);
        expect(directoryQueue.joinSync(path)).toBeNull();
        removeAbandonedTickets(path);
        expect(existsSync(first)).toBe(true);
      }
    },
  );

  it.runIf(process.getuid?.() === 0)("of another user does not count", () => {
    const { path, directory } = newPath();
    mkdirSync(directory, { mode: 0o700 });
    chownSync(directory, 65_534, 65_534);
    expect(directoryQueue.isBusySync(path)).toBe(false);
    expect(directoryQueue.joinSync(path)).toBeNull();
    expect(readdirSync(directory)).toEqual([]);
  });

  it.runIf(process.platform !== "win32")(
    "that is a link to a directory does not count, and nothing in it is touched",
    () => {
      const { path, directory } = newPath();
      const foreign = temporaryDirectory();
      writeFileSync(join(foreign, ticket(1, nobody)), "");
      symlinkSync(foreign, directory);
      expect(directoryQueue.isBusySync(path)).toBe(false);
      expect(directoryQueue.joinSync(path)).toBeNull();
      removeAbandonedTickets(path);
      expect(readdirSync(foreign)).toEqual([ticket(1, nobody)]);
    },
  );

  it("is removed with what processes have left that are gone, and not while one waits", () => {
    const { path, directory } = newPath();
    mkdirSync(directory);
    writeFileSync(join(directory, ticket(1, nobody)), "");
    removeAbandonedTickets(path);
    expect(existsSync(directory)).toBe(false);
    const waiting = placeIn(path);
    removeAbandonedTickets(path);
    expect(waiting.aheadSync()).toBe(0);
    expect(readdirSync(directory)).toHaveLength(1);
    waiting.leaveSync();
  });
});

describe("a waiter", () => {
  it("has those in front of it that live, or are behind one that does", () => {
    const kinds = fc.array(fc.boolean(), { maxLength: 8 });
    fc.assert(
      fc.property(kinds, fc.integer(), (isLive, seed) => {
        const { path, directory } = newPath();
        mkdirSync(directory);
        const tickets = isLive.map((live, at) => ticket(at, live ? process.pid : nobody));
        // Directories list names in an order of their own.
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

  it("shows that it lives when a quarter of the time has passed after which it would not", () => {
    const { path, directory } = newPath();
    const place = placeIn(path);
    const [name = ""] = readdirSync(directory);
    const touchedMs = (): number => statSync(join(directory, name)).mtimeMs;
    vi.useFakeTimers({ toFake: ["Date"] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const startMs = Date.now();
    place.aheadSync();
    expect(Math.round(touchedMs())).toBe(startMs);
    vi.setSystemTime(startMs + ticketStaleMs / 4 - 1);
    place.aheadSync();
    expect(Math.round(touchedMs())).toBe(startMs);
    vi.setSystemTime(startMs + ticketStaleMs / 4);
    place.aheadSync();
    expect(Math.round(touchedMs())).toBe(startMs + ticketStaleMs / 4);
  });

  it("is first when what is in front of it cannot be read", () => {
    const { path, directory } = newPath();
    const place = placeIn(path);
    const before = join(directory, ticket(1, process.pid));
    // A link to itself: its status fails, and it is no file that could be read.
    symlinkSync(before, before);
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
