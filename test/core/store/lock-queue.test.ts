/** The queue of those that wait for a lock: its order, and what is left behind in it. */
import { existsSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
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

  it("keeps the place of a process that looks, though its ticket was removed", () => {
    const { path, directory } = newPath();
    const places = [placeIn(path), placeIn(path)];
    const [, second] = places.toSorted((a, b) => a.aheadSync() - b.aheadSync());
    const [, ticketOfSecond = ""] = readdirSync(directory).toSorted();
    rmSync(join(directory, ticketOfSecond));
    expect(second?.aheadSync()).toBe(1);
    expect(readdirSync(directory)).toContain(ticketOfSecond);
    for (const place of places) place.leaveSync();
  });

  it("leaves files alone that are no tickets, and takes them for nobody", () => {
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
    expect(directoryQueue.isBusySync(path)).toBe(true);
    expect(directoryQueue.joinSync(path)).toBeNull();
  });

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
