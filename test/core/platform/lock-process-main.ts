/** The program of lock-process.ts: locks one path on command. */
import { existsSync } from "node:fs";
import type { HeldLock } from "@branchlog/core/testing";
import { nodePorts } from "@branchlog/core/testing";
import { createLockfileLock } from "../../../packages/core/src/platform/lockfile-lock.ts";
import type { LockTimes } from "../../../packages/core/src/platform/lockfile-lock.ts";
import type { LockCommand, LockRequest } from "./lock-process.ts";

const path = process.argv[2] ?? "";
const times = JSON.parse(process.argv[3] ?? "") as LockTimes;
const lock = createLockfileLock(times);
let held: HeldLock | null = null;

function tryAcquire(): boolean {
  const acquired = lock.tryAcquireSync(path);
  held = acquired ?? held;
  return acquired !== null;
}

/** Lets nothing else run, timers included. */
function stall(isOver: () => boolean): void {
  while (!isOver());
}

const commands: Readonly<Record<LockCommand, (file: string) => unknown>> = {
  tryAcquire,
  acquire() {
    while (!tryAcquire()) nodePorts.clock.sleepSync(5);
  },
  isOurs: () => held?.isOursSync(),
  release: () => held?.releaseSync(),
  stall: (file) => stall(() => existsSync(file)),
  stallAndRelease(file) {
    stall(() => existsSync(file));
    const isOurs = held?.isOursSync();
    held?.releaseSync();
    return isOurs;
  },
  exit: () => process.exit(0),
};

process.on("message", ({ command, file }: LockRequest) => {
  process.send?.({ result: commands[command](file) ?? null });
});
