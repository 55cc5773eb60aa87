/** KeyedMutex: in order, one at a time per path, and nothing left behind. */
import { describe, expect, it } from "vitest";
import { KeyedMutex } from "../../../packages/core/src/platform/lock.ts";

describe("a keyed mutex", () => {
  it("are acquired in the order of requests, one at a time", async () => {
    const mutex = new KeyedMutex();
    const events: string[] = [];
    const work = (name: string) => async (): Promise<string> => {
      events.push(`${name} begins`);
      await Promise.resolve();
      events.push(`${name} ends`);
      return name;
    };
    const names = ["one", "two", "three"];
    expect(await Promise.all(names.map((name) => mutex.run("a", work(name))))).toEqual(names);
    expect(events).toEqual(names.flatMap((name) => [`${name} begins`, `${name} ends`]));
  });

  it("are fair: a caller that returns queues behind the waiters", async () => {
    const mutex = new KeyedMutex();
    const order: string[] = [];
    const take = (name: string, times: number): Promise<void> =>
      mutex.run("a", async () => {
        order.push(name);
        if (times > 1) again.push(take(name, times - 1));
      });
    const again: Promise<void>[] = [];
    const first = [take("one", 3), take("two", 3), take("three", 3)];
    await Promise.all(first);
    while (again.length > 0) await again.shift();
    expect(order).toEqual(Array.from({ length: 3 }, () => ["one", "two", "three"]).flat());
  });

  it("continue after one that failed, and report it to its caller only", async () => {
    const mutex = new KeyedMutex();
    const failed = mutex.run("a", async () => {
      throw new Error("no");
    });
    const next = mutex.run("a", async () => "yes");
    await expect(failed).rejects.toThrow("no");
    expect(await next).toBe("yes");
  });

  it("of different paths do not wait for each other, and leave nothing behind", async () => {
    const mutex = new KeyedMutex();
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow = mutex.run("a", async () => held);
    expect(await mutex.run("b", async () => 1)).toBe(1);
    expect(mutex.busyCount).toBe(1);
    release();
    await slow;
    await Promise.resolve();
    expect(mutex.busyCount).toBe(0);
  });
});
