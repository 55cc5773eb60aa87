/** The ready-made sets of ports. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { createMemoryPorts } from "@branchlog/core/testing";
import { createFile } from "../../contracts/file-system-setting.ts";

it("in memory share nothing with each other", () => {
  const [one, other] = [createMemoryPorts(), createMemoryPorts()];
  createFile({ fs: one.fs, root: "" }, join("/", "a"), "text");
  expect(other.fs.statSync(join("/", "a"))).toBeNull();
  expect(one.lock.tryAcquireSync("a")).not.toBeNull();
  expect(other.lock.tryAcquireSync("a")).not.toBeNull();
});
