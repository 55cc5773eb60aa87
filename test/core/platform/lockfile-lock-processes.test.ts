/** The lock between real processes, this one among them, and holders that stalled. */
import { lutimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { acquire } from "../../contracts/file-lock.ts";
import { createLockfileLock } from "../../../packages/core/src/platform/lockfile-lock.ts";
import { lockPathOf } from "../../support/lock-file.ts";
import type { StallCommand } from "./lock-process.ts";
import { LockProcess } from "./lock-process.ts";
import { runs } from "../../support/fault-seed.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

// The shortest that proper-lockfile allows.
const times = { staleMs: 2_000, updateMs: 1_000 };
// For asking whether the lock is held, however slowly the machine runs the holder's timers.
const patience = { staleMs: 600_000, updateMs: 300_000 };
const patientLock = createLockfileLock(patience);

function setUp(): { path: string; flag: string } {
  const root = temporaryDirectory();
  return { path: join(root, "a.jsonl"), flag: join(root, "flag") };
}

it("two processes do not hold the lock at the same time", async () => {
  const { path } = setUp();
  const other = new LockProcess(path, patience);
  await other.ask("acquire");
  expect(patientLock.tryAcquireSync(path)).toBeNull();
  await other.ask("release");
  const held = acquire(patientLock, path);
  expect(await other.ask("tryAcquire")).toBe(false);
  held.releaseSync();
  expect(await other.ask("tryAcquire")).toBe(true);
});

interface Robbery {
  readonly path: string;
  readonly holder: LockProcess;
  readonly thief: LockProcess;
  /** What the holder answered when it woke. */
  readonly woken: unknown;
}

describe("a holder that stalled until its lock was taken over", () => {
  async function robbed(stall: StallCommand): Promise<Robbery> {
    const { path, flag } = setUp();
    const [holder, thief] = [new LockProcess(path, times), new LockProcess(path, times)];
    await holder.ask("acquire");
    const stalled = holder.ask(stall, flag);
    // As if it had stalled for a while already; where its timer runs once more, for as long again.
    const before = new Date(Date.now() - 2 * times.staleMs);
    lutimesSync(lockPathOf(path), before, before);
    await thief.ask("acquire");
    writeFileSync(flag, "");
    return { path, holder, thief, woken: await stalled };
  }

  it("leaves it to the new holder when it releases at once, before any timer runs", async () => {
    const { path, thief, woken } = await robbed("stallAndRelease");
    expect(woken).toBe(false);
    expect(await thief.ask("isOurs")).toBe(true);
    expect(patientLock.tryAcquireSync(path)).toBeNull();
    await thief.ask("release");
    expect(patientLock.tryAcquireSync(path)?.isOursSync()).toBe(true);
  });

  it.runIf(runs(0, 1) > 0)(
    "leaves it to the new holder when it ends without releasing",
    async () => {
      const { path, holder, thief } = await robbed("stall");
      await holder.exit();
      expect(await thief.ask("isOurs")).toBe(true);
      expect(patientLock.tryAcquireSync(path)).toBeNull();
    },
  );
});
