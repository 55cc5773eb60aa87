/** The lock inside one process, and the one that locks nothing. */
import { expect, it } from "vitest";
import { MemoryLock, noLock } from "../../../packages/core/src/store/memory-lock.ts";
import { acquire, fileLockContract } from "../../contracts/file-lock.ts";

fileLockContract("the memory", () => {
  const lock = new MemoryLock();
  const takeOver = (): void => {
    lock.breakLock("a");
    acquire(lock, "a");
  };
  return { lock, path: "a", otherPath: "b", takeOver };
});

it("grants every request where nobody else can reach the log", () => {
  const one = acquire(noLock, "a");
  const other = acquire(noLock, "a");
  one.releaseSync();
  expect(other.isOursSync()).toBe(true);
  other.releaseSync();
});
