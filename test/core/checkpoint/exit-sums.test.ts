/**
 * Checkpoints that are saved when there is little time: the index comes first, checksums as far as
 * the time goes, and those that are missing come with the next one.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { ManualClock, MemoryFileSystem, createMemoryPorts } from "@branchlog/core/testing";
import { verifySession } from "@branchlog/tools";
import type { Checksums } from "@branchlog/core/types";
import { Engine } from "@branchlog/core/engine";
import { sessionOver } from "../../support/engine-session.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { isTakenUp } from "./session-facts.ts";

const entries = 9;
const header = '{"type":"session","version":3,"id":"s","timestamp":"","cwd":"/"}\n';
/** Checksums are taken a megabyte at a time: about one of these. */
const entry = (id: number): string =>
  `{"type":"custom","id":"${id}","parentId":null,"timestamp":"","customType":"x",` +
  `"data":"${"t".repeat(1_000_000)}"}\n`;
const log = Buffer.from(header + Array.from({ length: entries }, (_, id) => entry(id)).join(""));

/** A clock that advances by 100 ms whenever it is read. */
class HastyClock extends ManualClock {
  override monotonicMs(): number {
    this.advance(100);
    return super.monotonicMs();
  }
}

async function checksumsOf(path: string): Promise<Checksums> {
  const { ok, checksums } = await verifySession(
    sessionOver(Engine.openSync(path, { access: "read" })),
  );
  expect(ok).toBe(true);
  return checksums;
}

describe("a checkpoint with little time", () => {
  it.each([
    [0, 0, 0],
    [500, 1, entries - 1],
    [10_000, entries, entries],
  ])(
    "of %i ms has from %i to %i checksums, and the next one all (Verifies: P13, P21)",
    async (msMax, least, most) => {
      const fs = new MemoryFileSystem();
      fs.writeFileSync("/s.jsonl", log);
      const ports = createMemoryPorts({ fs, clock: new HastyClock() });
      const open = (): Engine => Engine.openSync("/s.jsonl", { ports, checkpointEveryBytes: 1 });
      const engine = open();
      engine.checkpoints.saveSync(msMax);
      expect(await isTakenUp("/s.jsonl", { ports })).toBe(true);
      const { ok, checksums } = await verifySession(sessionOver(open()));
      const compared = checksums.entries;
      expect(ok).toBe(true);
      expect(compared).toBeGreaterThanOrEqual(least);
      expect(compared).toBeLessThanOrEqual(most);
      expect(checksums.unseenEntries).toBe(entries - compared);

      // By the same session as by the next one.
      for (const next of most === entries ? [] : [engine, open()]) {
        const before = fs.readFileSync("/s.jsonl.ckpt");
        next.checkpoints.saveSync();
        const all = { state: "compared", entries, unseenEntries: 0 };
        expect((await verifySession(sessionOver(open()))).checksums).toEqual(all);
        expect(await isTakenUp("/s.jsonl", { ports })).toBe(true);
        fs.writeFileSync("/s.jsonl.ckpt", before);
      }
    },
  );
});

it("a process that exits saves the checksums it has time for, the next the rest (Verifies: P13, P21)", async () => {
  const directory = temporaryDirectory();
  const paths = ["a", "b", "c", "d"].map((name) => join(directory, `${name}.jsonl`));
  for (const path of paths) writeFileSync(path, log);
  const program = fileURLToPath(new URL("../../support/exiting-process.mjs", import.meta.url));
  // The one second for all of it is over at the 17th look.
  const child = fork(program, ["60", ...paths], { execArgv: [] });
  expect(await once(child, "exit")).toEqual([0, null]);

  const seen: number[] = [];
  for (const path of paths) {
    seen.push((await checksumsOf(path)).entries);
  }
  expect(paths.map((path) => existsSync(`${path}.ckpt`))).toEqual([true, true, true, false]);
  const [first = 0, second = 0, ...others] = seen;
  // Half of the time for the first, half of what is left for the second, and so on.
  expect(first).toBeLessThan(entries);
  expect(first).toBeGreaterThan(second);
  expect(second).toBeGreaterThan(0);
  expect(others).toEqual([0, 0]);
  for (const path of paths.slice(0, 3)) {
    expect(await isTakenUp(path)).toBe(true);
  }

  for (const path of paths) {
    Engine.openSync(path, { checkpointEveryBytes: 1 }).checkpoints.saveSync();
    expect((await checksumsOf(path)).entries).toBe(entries);
  }
});
