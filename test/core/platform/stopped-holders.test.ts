/**
 * Holders of the lock that stop in the middle of an append, lose it to others, and go on as if
 * nothing had happened; locks that are removed under their holder. Whatever two holders do to each
 * other, nothing that was acknowledged is lost or written twice.
 */
import { unlinkSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextIteration } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createSession, openSession } from "@branchlog/core";
import { createLockfileLock } from "../../../packages/core/src/platform/lockfile-lock.ts";
import { patience, runs } from "../../support/fault-seed.ts";
import { inLanes } from "../../support/lanes.ts";
import { brokenPromises, misjudged } from "../../support/ledger.ts";
import { isLocked, lockPathOf } from "../../support/lock-file.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { staleMs, Victim } from "../../support/victims.ts";
import type { PausePoint, VictimOptions } from "../../support/victims.ts";

async function newLog(): Promise<string> {
  const path = join(temporaryDirectory(), "s.jsonl");
  await createSession(path);
  return path;
}

const ways: readonly Pick<VictimOptions, "way" | "batch">[] = [
  { way: "batches", batch: 3 },
  { way: "blocking" },
  { way: "together", batch: 4 },
];

function appender(path: string, at: number, count: number, pause?: PausePoint): Victim {
  const way = ways[at % ways.length] ?? { way: "blocking" };
  const options: VictimOptions = { path, name: `appender-${at}`, count, ...way };
  return new Victim(pause === undefined ? options : { ...options, pause });
}

async function expectKept(path: string, victims: readonly Victim[], debrisMax = 0): Promise<void> {
  const acknowledged = victims.flatMap((victim) => victim.acknowledged);
  expect(await brokenPromises(path, acknowledged, debrisMax)).toEqual([]);
}

const processes = runs(4, 8);

describe(`${processes} appending processes`, () => {
  it(
    "continue while one is stopped past staleness before its write, and after it continues (Verifies: P7, P11)",
    patience,
    async () => {
      const path = await newLog();
      const pause = { call: "writeSync", after: 3, signal: "SIGSTOP" } as const;
      const stopped = appender(path, 0, 20, pause);
      await stopped.said("paused");
      expect(isLocked(path)).toBe(true);
      const others = Array.from({ length: processes - 1 }, (_, at) =>
        appender(path, at + 1, runs(8, 24)),
      );
      // They cannot append before the lock is stale, and do not wait for its holder.
      await Promise.all(others.map((victim) => victim.said("acknowledged", 3)));
      stopped.resume();
      const all = [stopped, ...others];
      expect(await Promise.all(all.map(({ ended }) => ended))).toEqual(all.map(() => 0));
      await expectKept(path, all);
    },
  );
});

describe("two holders of one lock", () => {
  const stops = Array.from({ length: runs(6, 16) }, (_, at) => at * runs(3, 1));

  it("lose nothing wherever the first one was stopped (Verifies: P7, P11)", patience, async () => {
    const lock = createLockfileLock({ staleMs, updateMs: staleMs / 2 });
    const seen = await inLanes(stops.length, async (at) => {
      const path = await newLog();
      const session = await openSession(path, { ports: { lock } });
      const pause = { call: "any", after: at, signal: "SIGSTOP" } as const;
      const stopped = appender(path, at, 4, pause);
      await stopped.said("paused");
      const isHeld = isLocked(path);
      // As a process does that takes it for stale, with another clock or after a stall.
      if (isHeld) unlinkSync(lockPathOf(path));
      const ours = [];
      for (const n of [1, 2, 3]) {
        ours.push(await session.append({ type: "custom", customType: "ours", data: n }));
      }
      stopped.resume();
      expect(await stopped.ended).toBe(0);
      await expectKept(path, [stopped]);
      await session.refresh();
      for (const { id } of ours) expect(await session.entry(id)).toMatchObject({ id });
      return isHeld;
    });
    expect(seen.filter((isHeld) => isHeld).length).toBeGreaterThan(2);
  });

  it(
    "lose nothing, however often a thief removes the lock (Verifies: P7, P11)",
    patience,
    async () => {
      const path = await newLog();
      // Robbed three times in a row, an append may give up; then it must not have happened.
      const victims = Array.from({ length: 4 }, (_, at) => {
        const way = ways[at % ways.length] ?? { way: "blocking" };
        const count = runs(20, 60);
        const pause = at === 0 && ({ call: "writeSync", after: 3, signal: "SIGSTOP" } as const);
        return new Victim({
          path,
          name: `victim-${at}`,
          count,
          mayFail: true,
          ...way,
          ...(pause && { pause }),
        });
      });
      // One theft at least, however fast the machine is.
      await victims[0]?.said("paused");
      let stolen = removed(lockPathOf(path)) ? 1 : 0;
      victims[0]?.resume();
      while (victims.some(({ isAlive }) => isAlive)) {
        stolen += removed(lockPathOf(path)) ? 1 : 0;
        await nextIteration();
      }
      expect(await Promise.all(victims.map(({ ended }) => ended))).toEqual(victims.map(() => 0));
      expect(stolen).toBeGreaterThan(0);
      expect(
        misjudged(
          path,
          victims.flatMap((victim) => victim.rejected),
        ),
      ).toEqual([]);
      await expectKept(path, victims);
    },
  );
});

function removed(lockPath: string): boolean {
  try {
    unlinkSync(lockPath);
    return true;
  } catch {
    // It was not there.
    return false;
  }
}
