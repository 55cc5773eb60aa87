/** The lease: when a lock is kept, for how long, and who gets it back. */
import { describe, expect, it } from "vitest";
import { MemoryLock } from "@branchlog/core/testing";
import {
  leaseAfterAppends,
  leaseAfterAwaited,
  leaseMsMax,
} from "../../../packages/core/src/limits.ts";
import { LockLease } from "../../../packages/core/src/store/lock-lease.ts";
import type { LeaseUse } from "../../../packages/core/src/store/lock-lease.ts";

/** Appends with a lease, at times of the caller's choice. */
class Appender {
  readonly lock = new MemoryLock();
  readonly lease = new LockLease();
  acquired = 0;

  append(
    path: string,
    startMs: number,
    endMs: number = startMs,
    isReturnedBy: LeaseUse["isReturnedBy"] = "lease",
  ): void {
    const held = this.lease.take(path, startMs) ?? this.#acquire(path, startMs);
    this.lease.giveBack(path, held, { startMs, nowMs: endMs, keeper: this, isReturnedBy });
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
    this.lease.begin(nowMs);
    return held;
  }
}

describe("a lock", () => {
  it("is kept from the third append on", () => {
    const one = new Appender();
    for (let n = 1; n < leaseAfterAppends; n += 1) {
      one.append("a", 0);
      expect(one.isFree("a")).toBe(true);
    }
    one.append("a", 0);
    expect(one.isFree("a")).toBe(false);
    for (let n = 0; n < 100; n += 1) one.append("a", 1);
    expect(one.acquired).toBe(leaseAfterAppends);
  });

  it("is given back when the caller's code ends", async () => {
    const one = new Appender();
    for (let n = 0; n < 5; n += 1) one.append("a", 0);
    expect(one.isFree("a")).toBe(false);
    await Promise.resolve();
    expect(one.isFree("a")).toBe(true);
    for (let n = 0; n < 5; n += 1) one.append("a", 0.5);
    expect(one.isFree("a")).toBe(false);
    await Promise.resolve();
    expect(one.isFree("a")).toBe(true);
  });

  it("is kept for as long however long it was waited for", () => {
    const one = new Appender();
    for (let n = 0; n < leaseAfterAppends; n += 1) one.append("a", 0);
    one.lease.release();
    one.lease.take("a", 0);
    one.lease.begin(100);
    const held = one.lock.tryAcquireSync("a");
    if (held === null) throw new Error("locked");
    one.lease.giveBack("a", held, { startMs: 0, nowMs: 101, keeper: one, isReturnedBy: "lease" });
    expect(one.isFree("a")).toBe(false);
  });

  it("is acquired anew when it was kept for long enough", () => {
    const one = new Appender();
    for (let ms = 0; ms <= 1000; ms += 0.5) one.append("a", ms, ms + 0.25);
    expect(one.acquired).toBeGreaterThan(1000 / leaseMsMax - 5);
    expect(one.acquired).toBeLessThan(1000 / leaseMsMax + 20);
  });

  it("is not kept by an append that took too long itself", () => {
    const one = new Appender();
    for (let ms = 0; ms < 100; ms += 10) {
      one.append("a", ms, ms + 9.9);
      expect(one.isFree("a")).toBe(true);
    }
  });

  it("is not kept for appends that are far apart, however many there are", () => {
    const one = new Appender();
    for (let ms = 0; ms < 100; ms += 2) {
      one.append("a", ms);
      expect(one.isFree("a")).toBe(true);
    }
  });

  it("is kept on a slow machine, too: what appends take themselves is no pause", () => {
    const one = new Appender();
    for (let ms = 0; ms < 12; ms += 4) one.append("a", ms, ms + 3.9);
    expect(one.isFree("a")).toBe(false);
  });

  it("of one path is given back before that of another is kept", () => {
    const one = new Appender();
    for (let n = 0; n < 5; n += 1) one.append("a", 0);
    one.append("b", 0);
    expect(one.isFree("a")).toBe(true);
    expect(one.isFree("b")).toBe(true);
  });

  it("that its appender returns is kept until then, and is its own only", async () => {
    const one = new Appender();
    for (let n = 1; n < leaseAfterAwaited; n += 1) {
      one.append("a", 0, 0, "appender");
      expect(one.isFree("a")).toBe(true);
    }
    one.append("a", 0, 0, "appender");
    await Promise.resolve();
    expect(one.isFree("a")).toBe(false);
    expect([one.lease.isKeptBy(one), one.lease.isKeptBy({})]).toEqual([true, false]);
    expect([one.lease.isOverdue("a", 4), one.lease.isOverdue("a", 5)]).toEqual([false, true]);
    expect(one.lease.isOverdue("b", 5)).toBe(false);
    one.lease.release();
    expect(one.isFree("a")).toBe(true);
    expect(one.lease.isKeptBy(one)).toBe(false);
  });

  it("that was released on demand is not given back twice", async () => {
    const one = new Appender();
    for (let n = 0; n < 5; n += 1) one.append("a", 0);
    expect(one.lease.isKeptBy(one)).toBe(true);
    one.lease.release();
    const other = one.lock.tryAcquireSync("a");
    await Promise.resolve();
    expect(one.lease.isKeptBy(one)).toBe(false);
    expect(other?.isOursSync()).toBe(true);
  });
});
