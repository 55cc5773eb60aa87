/** The lock inside one process, and the one that locks nothing. */
import { expect, it } from "vitest";
import { MemoryLock } from "@branchlog/core/testing";
import { noLock } from "../../../packages/core/src/platform/private-ports.ts";
import { acquire, fileLockContract } from "../../contracts/file-lock.ts";
import { itPasses } from "../../contracts/contract.ts";

itPasses(
  "the memory",
  fileLockContract(() => {
    const lock = new MemoryLock();
    const takeOver = (): void => {
      lock.breakLock("a");
      acquire(lock, "a");
    };
    return { lock, path: "a", otherPath: "b", takeOver };
  }),
);

it("a lock grants every request when the log has a single owner", () => {
  const one = acquire(noLock, "a");
  const other = acquire(noLock, "a");
  one.releaseSync();
  expect(other.isOursSync()).toBe(true);
  other.releaseSync();
});
