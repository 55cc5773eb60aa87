/**
 * What an entry that another writer appends costs watchers, in bytes that are read: that
 * entry, and the few bytes by which its file is known again, however long its log is, and however
 * many other files there are.
 */
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Session } from "@branchlog/core";
import { ManualClock, MemoryHints, jsonLines, sampleHeader } from "@branchlog/core/testing";
import { live } from "@branchlog/core/live";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { path, seen, turns, World } from "./support.ts";
import { Watching } from "./watched-directory.ts";
import { bytesReadBy } from "../../library/catalog/saved-directory.ts";
import { appendTo } from "../../support/append-to.ts";

const sizes = [100, 400, 1_600];
const header = jsonLines(sampleHeader({ timestamp: "", cwd: "/" }));

/** Entries of which each is the child of the one before; all lines are of one length. */
function line(n: number): string {
  const [id, parent] = [n, n - 1].map((at) => `${at}`.padStart(8, "0"));
  return (
    `{"type":"message","id":"${id}","parentId":${n === 0 ? null : `"${parent}"`},` +
    `"timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"said",` +
    `"timestamp":1}}\n`
  );
}
const lineBytes = line(1).length;
/** A body is read without its newline. */
const bodyBytes = lineBytes - 1;
/** The start of a log, and its end: what it is known again by. */
const knownBytes = 512 + 64;

function logOf(count: number): string {
  return header + Array.from({ length: count }, (_, n) => line(n)).join("");
}

describe("an entry that another writer appends", () => {
  it.each([
    ["where it stands", (session: Session) => live(session).leaf$, 0],
    ["its tree", (session: Session) => live(session).tree$, 0],
    ["its context", (session: Session) => live(session).context$, 1],
    ["its summary", (session: Session) => live(session).summary$, 1],
    ["its entries", (session: Session) => live(session).entries$({ from: 90 }), 1],
  ])("costs an observer of %s only that entry", async (_, watch, bodies) => {
    for (const size of sizes) {
      const world = new World();
      world.fs.writeFileSync(path, Buffer.from(logOf(size)));
      const session = await world.open("read");
      // However many watch.
      const watched = Array.from({ length: 3 }, () => seen<unknown>(watch(session)));
      await turns(50);
      for (const n of [size, size + 1, size + 2]) {
        appendTo(world.fs, path, line(n));
        const before = watched.map(({ items }) => items.length);
        const bytes = await bytesReadBy(async () => {
          await world.hint();
          await turns(10);
        });
        expect(watched.map(({ items }) => items.length)).toEqual(before.map((count) => count + 1));
        // To be indexed, to be confirmed as the last one, and to be shown.
        const wanted = knownBytes + lineBytes + (1 + bodies) * bodyBytes;
        expect([size, n, bytes]).toEqual([size, n, wanted]);
      }
      // A hint of nothing costs nothing.
      expect(await bytesReadBy(() => world.hint())).toBe(0);
      for (const one of watched) one.unsubscribe();
    }
  });

  it("costs a watched directory only that entry, and no read of another file", async () => {
    for (const size of sizes) {
      const directory = temporaryDirectory();
      const log = join(directory, "one.jsonl");
      writeFileSync(log, logOf(size));
      for (let n = 0; n < size / 20; n += 1) writeFileSync(join(directory, `${n}.jsonl`), logOf(9));
      const hints = new MemoryHints();
      // Later than any change, so that what is read counts as known.
      const clock = new ManualClock(Date.now() + 1_000_000);
      const options = { pollMs: 1_000, catalog: "off", ports: { hints, clock } } as const;
      const watching = new Watching(directory, options);
      const isKnown = (count: number): Promise<unknown> =>
        watching.until(({ sessions }) =>
          sessions.some((one) => one.path === log && one.summary.messageCount === count),
        );
      await isKnown(size);
      // By a hint of that file, and by a poll of all of them.
      const tellings = [() => hints.tell(log), () => clock.advance(1_000)];
      for (const [at, tell] of [...tellings, ...tellings].entries()) {
        appendFileSync(log, line(size + at));
        const bytes = await bytesReadBy(() => {
          tell();
          return isKnown(size + at + 1);
        });
        expect([size, at, bytes]).toEqual([size, at, knownBytes + lineBytes]);
      }
      watching.end();
    }
  });
});
