/** The clock of the machine and the one under control. */
import { describe, expect, it } from "vitest";
import { ManualClock } from "@branchlog/core/testing";
import { clockContract } from "../../contracts/clock.ts";
import { systemClock } from "../../../packages/core/src/platform/ports.ts";
import { itPasses } from "../../contracts/contract.ts";

itPasses(
  "the machine's clock",
  clockContract(() => ({ clock: systemClock, pass: () => undefined })),
);

itPasses(
  "a manual clock",
  clockContract(() => {
    const clock = new ManualClock(1_700_000_000_000);
    return { clock, pass: (ms) => clock.advance(ms) };
  }),
);

describe("a manual clock", () => {
  it("does not move until it is moved", () => {
    const clock = new ManualClock(1_000);
    expect([clock.now(), clock.monotonicMs()]).toEqual([1_000, 0]);
    clock.advance(250);
    expect([clock.now(), clock.monotonicMs()]).toEqual([1_250, 250]);
    clock.sleepSync(50);
    expect([clock.now(), clock.monotonicMs()]).toEqual([1_300, 300]);
  });

  it("jumps without moving the monotonic time", () => {
    const clock = new ManualClock(1_000);
    clock.advance(100);
    clock.jumpTo(500);
    expect([clock.now(), clock.monotonicMs()]).toEqual([500, 100]);
  });

  it("wakes sleepers in the order in which they are due, and none before", async () => {
    const clock = new ManualClock();
    const woken: number[] = [];
    const sleeping = [30, 10, 20].map(async (ms) => {
      await clock.sleep(ms);
      woken.push(ms);
    });
    clock.advance(9);
    await Promise.resolve();
    expect(woken).toEqual([]);
    clock.advance(21);
    await Promise.all(sleeping);
    expect(woken).toEqual([10, 20, 30]);
  });
});
