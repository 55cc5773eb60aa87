/** What becomes an observable: pulled item by item, ended by unsubscribing, with no loose ends. */
import { expect, it } from "vitest";
import type { Observable, Subscription } from "rxjs";
import { observableOf } from "../../../packages/core/src/live/live-value.ts";

/** Numbers up to `count`, with notes of what was requested and how it ended. */
class Numbers {
  pulls = 0;
  endings = 0;
  signals: AbortSignal[] = [];
  readonly observable: Observable<number>;

  constructor(count: number, failure?: Error) {
    this.observable = observableOf((signal) => this.#iterate(signal, count, failure));
  }

  async *#iterate(signal: AbortSignal, count: number, failure?: Error): AsyncGenerator<number> {
    this.signals.push(signal);
    try {
      for (let n = 1; n <= count; n++) {
        this.pulls += 1;
        yield await Promise.resolve(n);
      }
      if (failure) throw failure;
    } finally {
      this.endings += 1;
    }
  }
}

/** What an observable says until it completes or fails. */
function said<T>(observable: Observable<T>): Promise<(T | string)[]> {
  const list: (T | string)[] = [];
  return new Promise((resolve) => {
    observable.subscribe({
      next: (item) => list.push(item),
      error: (error) => resolve([...list, `failed: ${error instanceof Error && error.message}`]),
      complete: () => resolve([...list, "complete"]),
    });
  });
}

function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

it("observableOf fails with the thrown error, also before the first item", async () => {
  const numbers = new Numbers(1, new Error("torn"));
  expect(await said(numbers.observable)).toEqual([1, "failed: torn"]);
  const failing = observableOf<number>(() => {
    throw new Error("at once");
  });
  expect(await said(failing)).toEqual(["failed: at once"]);
});

it("observableOf emits nothing while subscribe runs", async () => {
  let isSubscribed = false;
  const early: boolean[] = [];
  await new Promise<void>((resolve) => {
    new Numbers(2).observable.subscribe({
      next: () => early.push(!isSubscribed),
      complete: resolve,
    });
    isSubscribed = true;
  });
  expect(early).toEqual([false, false]);
});

it("observableOf ends the iterator without a further pull when next() unsubscribes", async () => {
  const numbers = new Numbers(10);
  const seen: number[] = [];
  const subscription: Subscription = numbers.observable.subscribe((n) => {
    seen.push(n);
    if (n === 2) subscription.unsubscribe();
  });
  await expect.poll(() => numbers.endings).toBe(1);
  expect(seen).toEqual([1, 2]);
  expect(numbers.pulls).toBe(2);
  expect(numbers.signals[0]?.aborted).toBe(true);
});

it("observableOf ignores an error after unsubscribing", async () => {
  let isOver = false;
  const waiting = observableOf(async function* (signal): AsyncGenerator<number> {
    yield 1;
    try {
      await new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(new Error("cleaning up failed")));
      });
    } finally {
      isOver = true;
    }
  });
  const seen: unknown[] = [];
  const subscription = waiting.subscribe({
    next: (item) => seen.push(item),
    error: (error) => seen.push(error),
  });
  await expect.poll(() => seen).toEqual([1]);
  subscription.unsubscribe();
  await expect.poll(() => isOver).toBe(true);
  // An unhandled error would have been thrown here, and fail this run.
  for (let n = 0; n < 3; n++) await turn();
  expect(seen).toEqual([1]);
});
