/**
 * A large log is opened, and its checkpoint saved, in batches: whatever else a process does
 * continues meanwhile. A turn is measured in processor time, as the machine of a test does other
 * things, too; work that did not pause at all would take several times as long.
 */
import { closeSync, openSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openSession } from "@branchlog/core";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { cpuMs } from "../../support/cpu-time.ts";

const lines = 100_000;
/** What one turn takes is a few milliseconds. */
const turnMsMax = 100;

/** A log of 100 MB. */
function largeLog(): string {
  const path = join(temporaryDirectory(), "s.jsonl");
  const fd = openSync(path, "wx");
  const text = "t".repeat(850);
  writeSync(fd, '{"type":"session","version":3,"id":"s","timestamp":"","cwd":"/"}\n');
  for (let from = 0; from < lines; from += 1_000) {
    const batch = Array.from({ length: 1_000 }, (_, at) => entry(from + at, text));
    writeSync(fd, batch.join(""));
  }
  closeSync(fd);
  return path;
}

function entry(at: number, text: string): string {
  const [id, parent] = [at, at - 1].map((n) => n.toString(16).padStart(8, "0"));
  const parentId = at === 0 ? "null" : `"${parent}"`;
  const envelope = `"id":"${id}","parentId":${parentId},"timestamp":"2026-01-01T00:00:00.000Z"`;
  return `{"type":"message",${envelope},"message":{"role":"user","content":"${text}"}}\n`;
}

/** The longest iteration of the event loop while `work` runs, in milliseconds of the processor. */
async function longestTurnMs(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = cpuMs();
  const look = (): void => {
    const now = cpuMs();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const looking = { next: setImmediate(again) };
  function again(): void {
    look();
    looking.next = setImmediate(again);
  }
  await work();
  look();
  clearImmediate(looking.next);
  return longest;
}

/** The shortest of three, or the first short one: a turn that always is long is so each time. */
async function leastMs(measure: () => Promise<number>): Promise<number> {
  const found: number[] = [];
  for (let round = 0; round < 3 && Math.min(...found) >= turnMsMax; round += 1) {
    found.push(await measure());
  }
  return Math.min(...found);
}

it("a log of 100 MB is opened, saved and opened again without blocking the event loop", async () => {
  const path = largeLog();
  const open = (): Promise<unknown> => openSession(path, { access: "read" });
  expect(await leastMs(() => longestTurnMs(open))).toBeLessThan(turnMsMax);
  const save = async (): Promise<number> => {
    rmSync(`${path}.ckpt`, { force: true });
    const session = await openSession(path, { checkpointEveryBytes: 1 });
    return longestTurnMs(() => session.close());
  };
  expect(await leastMs(save)).toBeLessThan(turnMsMax);
  expect(statSync(`${path}.ckpt`).size).toBeGreaterThan(lines * 8);
  // From the checkpoint now.
  expect(await leastMs(() => longestTurnMs(open))).toBeLessThan(turnMsMax);
});
