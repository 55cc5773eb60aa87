/** The lock of a log as others see it: a dangling symbolic link, so `existsSync` lies. */
import { lstatSync, symlinkSync, unlinkSync } from "node:fs";

/** Where the lock of a log is. */
export function lockPathOf(path: string): string {
  return `${path}.branchlog-lock`;
}

/** Whether anything has the name of the lock. */
export function isLocked(path: string): boolean {
  return isThere(lockPathOf(path));
}

/** Whether anything has this name, including a dangling link. */
export function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Replaces a lock by that of a process of which nothing is known. */
export function replaceLock(lockPath: string): void {
  unlinkSync(lockPath);
  symlinkSync("elsewhere", lockPath);
}
