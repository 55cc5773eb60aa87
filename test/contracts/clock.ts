/** What every clock adapter must do. */
import { describe, expect, it } from "vitest";
import type { Clock } from "../../packages/core/src/store/ports.ts";

// Timers of Node may fire a fraction of a millisecond early.
const toleranceMs = 1;

/** A clock, and how time passes on it: at once for a manual one. */
export interface ClockSetting {
  readonly clock: Clock;
  /** Lets sleepers of up to `ms` wake. */
  readonly pass: (ms: number) => void;
}

/** The suite. `setUp` is called inside each test. */
export function clockContract(name: string, setUp: () => ClockSetting): void {
  describe(`${name} as a clock`, () => {
    it("does not go back, and says whole epochs", () => {
      const { clock } = setUp();
      const readings = Array.from({ length: 1_000 }, () => clock.monotonicMs());
      expect(readings).toEqual(readings.toSorted((one, other) => one - other));
      expect(Number.isFinite(clock.now())).toBe(true);
    });

    it("sleeps for at least the time it was asked to", () => {
      const { clock } = setUp();
      const [before, epoch] = [clock.monotonicMs(), clock.now()];
      clock.sleepSync(5);
      expect(clock.monotonicMs() - before).toBeGreaterThanOrEqual(5 - toleranceMs);
      expect(clock.now()).toBeGreaterThan(epoch);
    });

    it("waits for at least the time it was asked to", async () => {
      const { clock, pass } = setUp();
      const before = clock.monotonicMs();
      const sleeping = clock.sleep(5);
      pass(5);
      await sleeping;
      expect(clock.monotonicMs() - before).toBeGreaterThanOrEqual(5 - toleranceMs);
    });

    it.each([0, -1])("does not mind sleeping for %d ms", async (ms) => {
      const { clock } = setUp();
      clock.sleepSync(ms);
      await clock.sleep(ms);
    });

    it("rejects with the reason of a signal that is aborted while it waits", async () => {
      const { clock } = setUp();
      const controller = new AbortController();
      const reason = new Error("enough");
      const sleeping = clock.sleep(3_600_000, controller.signal);
      controller.abort(reason);
      await expect(sleeping).rejects.toBe(reason);
    });

    it("rejects with the reason of a signal that was aborted before", async () => {
      const { clock } = setUp();
      const reason = new Error("too late");
      await expect(clock.sleep(0, AbortSignal.abort(reason))).rejects.toBe(reason);
    });

    it("does not mind a signal that is aborted after it woke", async () => {
      const { clock, pass } = setUp();
      const controller = new AbortController();
      const sleeping = clock.sleep(1, controller.signal);
      pass(1);
      await sleeping;
      controller.abort(new Error("nobody listens"));
      await expect(sleeping).resolves.toBeUndefined();
    });
  });
}
