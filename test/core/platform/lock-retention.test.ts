/** The retention: when a lock is kept, for how long, and which waiter gets it. */
import { describe, expect, it } from "vitest";
import { MemoryLock } from "@branchlog/core/testing";
import {
  retentionAfterAppends,
  awaitedTurnMsMax,
  retentionAfterAwaited,
  retentionMsMax,
  unawaitedRetentionMsMax,
} from "../../../packages/core/src/limits.ts";
import { LockRetention } from "../../../packages/core/src/platform/lock.ts";
import type { RetainedUse } from "../../../packages/core/src/platform/lock.ts";

/** Appends with a retention, at times of the caller's choice. */
class Appender {
  readonly lock = new MemoryLock();
  readonly retention = new LockRetention();
  acquired = 0;
  asked = 0;

  readonly #isAwaited: boolean;

  /** @param isAwaited Whether others wait for the lock. */
  constructor(isAwaited: boolean = true) {
    this.#isAwaited = isAwaited;
  }

  append(
    path: string,
    startMs: number,
    endMs: number = startMs,
    releasePolicy: RetainedUse["releasePolicy"] = "microtask",
  ): void {
    const isAwaited = (): boolean => {
      this.asked += 1;
      return this.#isAwaited;
    };
    const held = this.retention.take(path, startMs, isAwaited) ?? this.#acquire(path, startMs);
    this.retention.retainOrRelease(path, held, {
      startMs,
      nowMs: endMs,
      keeper: this,
      releasePolicy,
    });
  }

  isFree(path: string): boolean {
    const held = this.lock.tryAcquireSync(path);
    held?.releaseSync();
    return held !== null;
  }

  #acquire(path: string, nowMs: number): NonNullable<ReturnType<MemoryLock["tryAcquireSync"]>> {
    this.acquired += 1;
    const held = this.lock.tryAcquireSync(path);
    if (held === null) throw new Error(`${path} is locked`);
    this.retention.begin(nowMs);
    return held;
  }
}

describe("a lock", () => {
  it("is retained from the third append on", () => {
    const one = new Appender();
    for (let n = 1; n < retentionAfterAppends; n += 1) {
      one.append("a", 0);
      expect(one.isFree("a")).toBe(true);
    }
    one.append("a", 0);
    expect(one.isFree("a")).toBe(false);
    for (let n = 0; n < 100; n += 1) one.append("a", 1);
    expect(one.acquired).toBe(retentionAfterAppends);
  });

  it("is retained equally long after any wait", () => {
    const one = new Appender();
    for (let n = 0; n < retentionAfterAppends; n += 1) one.append("a", 0);
    one.retention.release();
    one.retention.take("a", 0, () => true);
    one.retention.begin(100);
    const held = one.lock.tryAcquireSync("a");
    if (held === null) throw new Error("locked");
    one.retention.retainOrRelease("a", held, {
      startMs: 0,
      nowMs: 101,
      keeper: one,
      releasePolicy: "microtask",
    });
    expect(one.isFree("a")).toBe(false);
  });

  it("is acquired again after its retention time when others wait", () => {
    const one = new Appender();
    for (let ms = 0; ms <= 1000; ms += 0.5) one.append("a", ms, ms + 0.25);
    expect(one.acquired).toBeGreaterThan(1000 / retentionMsMax - 5);
    expect(one.acquired).toBeLessThan(1000 / retentionMsMax + 20);
  });

  it("is retained longer without waiters, which is checked periodically", () => {
    const one = new Appender(false);
    for (let ms = 0; ms <= 1000; ms += 0.5) one.append("a", ms, ms + 0.25);
    expect(one.acquired).toBeGreaterThan(1000 / unawaitedRetentionMsMax - 2);
    expect(one.acquired).toBeLessThan(1000 / unawaitedRetentionMsMax + 5);
    expect(one.asked).toBeGreaterThan(1000 / retentionMsMax / 2);
    expect(one.asked).toBeLessThanOrEqual(1000 / retentionMsMax);
  });

  it("was checked by one appender until it is released", () => {
    const { retention } = new Appender();
    const [one, other] = [{}, {}];
    retention.begin(0);
    expect(retention.isValidated(one, 0)).toBe(false);
    retention.validated(one, 1);
    expect([4, 5.9, 6].map((ms) => retention.isValidated(one, ms))).toEqual([true, true, false]);
    expect(retention.isValidated(other, 1)).toBe(false);
    retention.validated(other, 2);
    expect(retention.isValidated(one, 2)).toBe(false);
    retention.begin(2);
    expect(retention.isValidated(other, 2)).toBe(false);
    retention.validated(one, 3);
    retention.release();
    expect(retention.isValidated(one, 3)).toBe(false);
  });

  it.each([
    ["by an append that took too long itself", 10, 9.9],
    ["for appends that are far apart, however many there are", 2, 0],
  ])("is not retained %s", (_, everyMs, tookMs) => {
    const one = new Appender();
    for (let ms = 0; ms < 100; ms += everyMs) {
      one.append("a", ms, ms + tookMs);
      expect(one.isFree("a")).toBe(true);
    }
  });

  it("is also retained on a slow machine: the time of appends is not a pause", () => {
    const one = new Appender();
    for (let ms = 0; ms < 12; ms += 4) one.append("a", ms, ms + 3.9);
    expect(one.isFree("a")).toBe(false);
  });

  it("that its appender releases is retained until then, only for it", async () => {
    const one = new Appender();
    for (let n = 1; n < retentionAfterAwaited; n += 1) {
      one.append("a", 0, 0, "caller");
      expect(one.isFree("a")).toBe(true);
    }
    one.append("a", 0, 0, "caller");
    await Promise.resolve();
    expect(one.isFree("a")).toBe(false);
    expect([one.retention.isRetainedBy(one), one.retention.isRetainedBy({})]).toEqual([
      true,
      false,
    ]);
    expect(one.retention.isOverdue("a", awaitedTurnMsMax - 1)).toBe(false);
    expect(one.retention.isOverdue("a", awaitedTurnMsMax)).toBe(true);
    expect(one.retention.isOverdue("b", awaitedTurnMsMax)).toBe(false);
    one.retention.release();
    expect(one.isFree("a")).toBe(true);
    expect(one.retention.isRetainedBy(one)).toBe(false);
  });

  it("that was released on demand is not released twice", async () => {
    const one = new Appender();
    for (let n = 0; n < 5; n += 1) one.append("a", 0);
    expect(one.retention.isRetainedBy(one)).toBe(true);
    one.retention.release();
    const other = one.lock.tryAcquireSync("a");
    await Promise.resolve();
    expect(one.retention.isRetainedBy(one)).toBe(false);
    expect(other?.isOursSync()).toBe(true);
  });
});
