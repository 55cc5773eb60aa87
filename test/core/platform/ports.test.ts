/** The ready-made sets of ports. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { ManualClock, createMemoryPorts, nodePorts } from "@branchlog/core/testing";
import { createFile, textAt } from "../../contracts/file-system-setting.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

it("of this machine work on its files", () => {
  const { fs, lock, clock, ids } = nodePorts;
  const path = join(temporaryDirectory(), `${ids.sessionId()}.jsonl`);
  const held = lock.tryAcquireSync(path);
  createFile({ fs, root: "" }, path, String(clock.now()));
  expect(lock.tryAcquireSync(path)).toBeNull();
  held?.releaseSync();
  expect(Number(textAt({ fs, root: "" }, path))).toBeLessThanOrEqual(clock.now());
});

it("in memory share nothing with each other", () => {
  const [one, other] = [createMemoryPorts(), createMemoryPorts()];
  createFile({ fs: one.fs, root: "" }, join("/", "a"), "text");
  expect(other.fs.statSync(join("/", "a"))).toBeNull();
  expect(one.lock.tryAcquireSync("a")).not.toBeNull();
  expect(other.lock.tryAcquireSync("a")).not.toBeNull();
});

it("in memory can be replaced one by one", () => {
  const clock = new ManualClock(5);
  expect(createMemoryPorts({ clock }).clock).toBe(clock);
});
