/** What every clock adapter must do. */
import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import type { Clock } from "@branchlog/core/testing";
import type { Contract } from "./contract.ts";

// Timers of Node may fire a fraction of a millisecond early.
const toleranceMs = 1;

/** A clock, and how time passes on it: at once for a manual one. */
export interface ClockSetting {
  readonly clock: Clock;
  /** Lets sleepers of up to `ms` wake. */
  readonly pass: (ms: number) => void;
}

/** The suite. `setUp` is called inside each check. */
export function clockContract(setUp: () => ClockSetting): Contract {
  return {
    "does not go back, and says whole epochs"() {
      const { clock } = setUp();
      const readings = Array.from({ length: 1_000 }, () => clock.monotonicMs());
      deepEqual(
        readings,
        readings.toSorted((one, other) => one - other),
      );
      equal(Number.isFinite(clock.now()), true);
    },

    "sleeps for at least the time it was asked to"() {
      const { clock } = setUp();
      const [before, epoch] = [clock.monotonicMs(), clock.now()];
      clock.sleepSync(5);
      ok(clock.monotonicMs() - before >= 5 - toleranceMs);
      ok(clock.now() > epoch);
    },

    async "waits for at least the time it was asked to"() {
      const { clock, pass } = setUp();
      const before = clock.monotonicMs();
      const sleeping = clock.sleep(5);
      pass(5);
      await sleeping;
      ok(clock.monotonicMs() - before >= 5 - toleranceMs);
    },

    async "does not mind sleeping for no time, or less"() {
      const { clock } = setUp();
      for (const ms of [0, -1]) {
        clock.sleepSync(ms);
        await clock.sleep(ms);
      }
    },

    async "rejects with the reason of a signal that is aborted while it waits"() {
      const { clock } = setUp();
      const controller = new AbortController();
      const reason = new Error("enough");
      const sleeping = clock.sleep(3_600_000, controller.signal);
      controller.abort(reason);
      await rejects(sleeping, (error) => error === reason);
    },

    async "rejects with the reason of a signal that was aborted before"() {
      const { clock } = setUp();
      const reason = new Error("too late");
      await rejects(clock.sleep(0, AbortSignal.abort(reason)), (error) => error === reason);
    },

    async "does not mind a signal that is aborted after it woke"() {
      const { clock, pass } = setUp();
      const controller = new AbortController();
      const sleeping = clock.sleep(1, controller.signal);
      pass(1);
      await sleeping;
      controller.abort(new Error("nobody listens"));
      equal(await sleeping, undefined);
    },
  };
}
