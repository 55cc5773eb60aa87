/**
 * How a process waits for a lock: in the order of the queue, ever more rarely, up to a deadline.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runSync } from "@branchlog/streaming";
import type { BranchlogError } from "@branchlog/core";
import {
  ManualClock,
  MemoryLock,
  createMemoryPorts,
  createSeededIds,
} from "@branchlog/core/testing";
import type { FileLock, Ports } from "@branchlog/core/testing";
import {
  lockPauseMsMax,
  lockPausePlaceMsMax,
  lockWaitTotalFactor,
  nearPauseMsMax,
} from "../../../packages/core/src/limits.ts";
import { acquireLock } from "../../../packages/core/src/platform/lock.ts";
import { lockPauseMs } from "../../../packages/core/src/platform/lock-wait.ts";
import type { LockWait } from "../../../packages/core/src/platform/lock-wait.ts";
import type { LockQueue } from "../../../packages/core/src/platform/ports.ts";
import { thrownBy, typedError } from "../../support/typed-errors.ts";

const path = "/s.jsonl";
const holder = { pid: 4711, isOwnProcess: false, heldMs: 90_000, refreshedMsAgo: 30 };

/** A queue in which so many wait in front; one of them leaves with each look. */
class QueueOf implements LockQueue {
  looks = 0;
  joined = 0;
  left = 0;
  #ahead: number;

  constructor(ahead: number) {
    this.#ahead = ahead;
  }

  isBusySync(): boolean {
    return this.#ahead > 0;
  }

  joinSync(): ReturnType<LockQueue["joinSync"]> {
    this.joined += 1;
    return {
      aheadSync: () => {
        this.looks += 1;
        return Math.max(0, this.#ahead--);
      },
      pauseSync: () => undefined,
      leaveSync: () => (this.left += 1),
    };
  }
}

/** A queue that is busy, with so many in front. */
function queueAt(aheadSync: () => number): LockQueue {
  const place = { aheadSync, pauseSync: () => undefined, leaveSync: () => undefined };
  return { isBusySync: () => true, joinSync: () => place };
}

interface Setting {
  readonly ports: Ports;
  readonly clock: ManualClock;
  readonly inner: MemoryLock;
  /** How often the lock itself was tried. */
  readonly tries: () => number;
}

function setUp(queue?: LockQueue): Setting {
  const inner = new MemoryLock();
  let tries = 0;
  const lock: FileLock = {
    tryAcquireSync(of) {
      tries += 1;
      return inner.tryAcquireSync(of);
    },
    holderSync: () => holder,
    ...(queue === undefined ? {} : { queue }),
  };
  const clock = new ManualClock();
  const ports = createMemoryPorts({ lock, clock, ids: createSeededIds(1, clock) });
  return { ports, clock, inner, tries: () => tries };
}

const errorOf = (work: () => unknown): BranchlogError => typedError(thrownBy(work));

describe("a process that waits for a lock", () => {
  it("acquires a free lock at once, without a queue position", () => {
    const queue = new QueueOf(0);
    const { ports, clock } = setUp(queue);
    runSync(acquireLock(path, ports, 1_000));
    expect(clock.monotonicMs()).toBe(0);
    expect(queue.joined).toBe(0);
  });

  it("does not acquire a free lock before earlier waiters", () => {
    const queue = new QueueOf(3);
    const { ports, tries } = setUp(queue);
    runSync(acquireLock(path, ports, 60_000));
    expect(queue).toMatchObject({ looks: 4, joined: 1, left: 1 });
    expect(tries()).toBe(1);
  });

  it("checks a number of times that grows with the logarithm of the wait", () => {
    const { ports, inner, tries } = setUp();
    inner.tryAcquireSync(path);
    expect(() => runSync(acquireLock(path, ports, 15_000))).toThrow("was not acquired");
    expect(tries()).toBeLessThan(200);
  });

  it("gets an error with the tries, the time and the holder of the lock", () => {
    const { ports, inner, tries } = setUp(new QueueOf(0));
    inner.tryAcquireSync(path);
    const wait = (): unknown => runSync(acquireLock(path, ports, 1_000));
    const thrown = errorOf(wait);
    const facts = { tries: tries(), waitedMs: 1_000, ahead: 0, holder };
    expect(thrown).toMatchObject({ code: "ERR_LOCK_TIMEOUT", path, lock: facts });
    expect(thrown.message).toMatch(
      /within 1000 ms \(\d+ tries\); nothing.*by process 4711, for 90000 ms, last refreshed 30 ms ago/,
    );
  });

  it("gets an error with the number of waiters in front, without a known holder", () => {
    const { ports, inner } = setUp(new QueueOf(1_000_000));
    inner.tryAcquireSync(path);
    const lock = { ...ports.lock, holderSync: () => ({ ...holder, pid: null }) };
    const thrown = errorOf(() => runSync(acquireLock(path, { ...ports, lock }, 100)));
    expect(thrown.message).toMatch(
      /tries, 99\d{4} others ahead in the queue\); .*by another process/,
    );
  });

  it("times out lockWaitMs after its last progress, when the lock has no new holder", () => {
    const { ports, clock, inner } = setUp(queueAt(() => 3));
    inner.tryAcquireSync(path);
    const nowMs = (): number => clock.monotonicMs();
    // Holders every 800 ms; the third stays.
    const heldMs = (): number => nowMs() - Math.min(1_600, Math.floor(nowMs() / 800) * 800);
    const lock = { ...ports.lock, holderSync: () => ({ ...holder, heldMs: heldMs() }) };
    const { waitedMs } = errorOf(() => runSync(acquireLock(path, { ...ports, lock }, 1_000)))
      .lock ?? { waitedMs: 0 };
    expect(waitedMs).toBeGreaterThanOrEqual(2_600);
    expect(waitedMs).toBeLessThan(3_000);
  });

  it.each([
    ["lockWaitMs when others leave without having had the lock", 10_000, 3_600_000, 1],
    ["several times lockWaitMs, however the queue advances", 1_000_000, 0, lockWaitTotalFactor],
  ])("times out after %s", (_, waiting, heldMs, times) => {
    const { ports, clock, inner } = setUp(queueAt(() => waiting - Math.floor(clock.monotonicMs())));
    inner.tryAcquireSync(path);
    const lock = { ...ports.lock, holderSync: () => ({ ...holder, heldMs }) };
    const thrown = errorOf(() => runSync(acquireLock(path, { ...ports, lock }, 1_000)));
    expect(thrown.lock).toMatchObject({ waitedMs: 1_000 * times });
  });

  it("acquires a lock that is free at the end of its wait, out of order", () => {
    const { ports, clock } = setUp(queueAt(() => 1));
    const lock = { ...ports.lock, holderSync: () => null };
    runSync(acquireLock(path, { ...ports, lock }, 300)).releaseSync();
    expect(clock.monotonicMs()).toBe(300);
  });

  it("waits in the position of another waiter of its thread, which it blocks", () => {
    const queue = new QueueOf(2);
    const { ports } = setUp(queue);
    const steps = acquireLock(path, ports, 60_000);
    while (queue.joined === 0) steps.next();
    runSync(acquireLock(path, ports, 60_000)).releaseSync();
    expect(queue).toMatchObject({ joined: 1, left: 0 });
    runSync(steps).releaseSync();
    expect(queue).toMatchObject({ joined: 1, left: 1 });
  });

  it("tries once without a wait, whatever the queue", () => {
    const queue = new QueueOf(3);
    const { ports, inner, tries } = setUp(queue);
    runSync(acquireLock(path, ports, 0)).releaseSync();
    inner.tryAcquireSync(path);
    expect(() => runSync(acquireLock(path, ports, 0))).toThrow("(1 try)");
    expect(tries()).toBe(2);
    expect(queue.joined).toBe(0);
  });

  /** The pauses of a waiter, each as long as `tookMs`, at the least jitter; `most` of them. */
  function pausesOf({ ports }: Setting, tookMs: number, most = Number.POSITIVE_INFINITY): number[] {
    const clock = new ManualClock();
    const ids = { ...ports.ids, jitter: () => 0 };
    const steps = acquireLock(path, { ...ports, clock, ids }, 1e4);
    const pausesMs: number[] = [];
    for (let next = steps.next(); next.done !== true; next = steps.next()) {
      if (!("kind" in next.value) || next.value.kind !== "wait") continue;
      pausesMs.push(next.value.ms);
      if (pausesMs.length === most) break;
      clock.advance(tookMs);
    }
    return pausesMs;
  }

  it("pauses by its position in the queue and by the progress of those ahead", () => {
    // No place ahead is expected, then three, two, one; then it is the next.
    const waits = [
      { paceMs: 0, ahead: 4 },
      { paceMs: 96, ahead: 3 },
      { paceMs: 96, ahead: 2 },
      { paceMs: 96, ahead: 1 },
    ].map((wait) => ({ ...wait, unchangedMs: 0 }));
    const wanted = waits.map((wait) => lockPauseMs({ ...wait, isQueued: true }, 0));
    expect(pausesOf(setUp(new QueueOf(4)), 96)).toEqual(wanted);
  });

  it("pauses without a position when the queue has none for it", () => {
    const setting = setUp({ isBusySync: () => true, joinSync: () => null });
    setting.inner.tryAcquireSync(path);
    expect(pausesOf(setting, 100, 2)).toEqual([1, 25]);
    expect(setting.tries()).toBe(2);
  });

  it("leaves the queue when its wait is aborted", () => {
    const queue = new QueueOf(100);
    const { ports } = setUp(queue);
    const steps = acquireLock(path, ports, 1_000);
    for (let next = steps.next(); next.value && next.done !== true; next = steps.next()) {
      if ("kind" in next.value && next.value.kind === "wait") break;
    }
    expect(() => steps.throw(new Error("aborted"))).toThrow("aborted");
    expect(queue).toMatchObject({ joined: 1, left: 1 });
  });
});

describe("the pause of a waiter", () => {
  const waits = fc.record<LockWait>({
    paceMs: fc.double({ min: 0, max: 600_000, noNaN: true }),
    unchangedMs: fc.double({ min: 0, max: 600_000, noNaN: true }),
    ahead: fc.nat(2_000),
    isQueued: fc.boolean(),
  });
  const jitters = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

  it("is between 1 ms and the longest, and of the next in line so short that the lock is hardly idle", () => {
    fc.assert(
      fc.property(waits, jitters, (wait, jitter) => {
        const pauseMs = lockPauseMs(wait, jitter);
        expect(pauseMs).toBeGreaterThanOrEqual(1);
        const isBehind = wait.isQueued && wait.ahead > 0;
        expect(pauseMs).toBeLessThanOrEqual(isBehind ? lockPauseMsMax : nearPauseMsMax);
        if (wait.isQueued && !isBehind)
          expect(pauseMs).toBeLessThanOrEqual(Math.max(2, wait.unchangedMs / 8));
        if (wait.unchangedMs > 2 * nearPauseMsMax) return;
        const placeMs = wait.ahead * lockPausePlaceMsMax;
        expect(pauseMs).toBeLessThanOrEqual(Math.max(nearPauseMsMax, placeMs));
      }),
    );
  });

  // An eighth of the time without a change for the next, half of the wait to expect for the others;
  // both halved by the lowest jitter.
  it.each<[LockWait, number]>([
    [{ unchangedMs: 80, paceMs: 80, ahead: 0, isQueued: true }, 5],
    [{ unchangedMs: 4_000, paceMs: 4_000, ahead: 0, isQueued: true }, 125],
    [{ unchangedMs: 40, paceMs: 90, ahead: 0, isQueued: true }, 2.5],
    [{ unchangedMs: 0, paceMs: 90, ahead: 0, isQueued: true }, 1],
    [{ unchangedMs: 100, paceMs: 100, ahead: 0, isQueued: false }, 25],
    [{ unchangedMs: 10_000, paceMs: 10_000, ahead: 0, isQueued: false }, 125],
    [{ unchangedMs: 20, paceMs: 20, ahead: 3, isQueued: true }, 15],
    [{ unchangedMs: 100, paceMs: 10_000, ahead: 12, isQueued: true }, 125],
    [{ unchangedMs: 100, paceMs: 10_000, ahead: 13, isQueued: true }, 130],
    [{ unchangedMs: 100, paceMs: 10_000, ahead: 100, isQueued: true }, 1_000],
    [{ unchangedMs: 8_000, paceMs: 8_000, ahead: 1, isQueued: true }, 2_000],
    [{ unchangedMs: 60_000, paceMs: 60_000, ahead: 1, isQueued: true }, 2_500],
  ])("of %j is %d ms at least", (wait, pauseMs) => {
    expect(lockPauseMs(wait, 0)).toBe(pauseMs);
    expect(lockPauseMs(wait, 0.5)).toBe(pauseMs * 1.5);
  });

  it.each([
    [100, 1_000],
    [10, 4_000],
    [0.5, 10_000],
  ])("allows a waiter %d checks a second on average once nothing changed for %d ms", (most, ms) => {
    const checks = Array.from({ length: 100 }, (_, ahead) => {
      const wait = { unchangedMs: ms, paceMs: ms, ahead, isQueued: true };
      return 1_000 / lockPauseMs(wait, 0.5);
    });
    expect(checks.reduce((sum, each) => sum + each, 0) / 100).toBeLessThan(most);
  });

  it("never decreases without progress", () => {
    fc.assert(
      fc.property(waits, jitters, fc.nat(10_000), (wait, jitter, moreMs) => {
        const { paceMs, unchangedMs } = wait;
        const later = { ...wait, paceMs: paceMs + moreMs, unchangedMs: unchangedMs + moreMs };
        expect(lockPauseMs(later, jitter)).toBeGreaterThanOrEqual(lockPauseMs(wait, jitter));
      }),
    );
  });
});
