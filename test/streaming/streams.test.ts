/** Files as observables: the same items as the iterators, and nothing left after unsubscribing. */
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  follow$,
  lines$,
  linesSync,
  type Observable,
  readCounter,
  records$,
  recordsSync,
  type Subscription,
} from "@branchlog/streaming";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { told } from "./support/followed.ts";
import { nextDescriptor, settled, timersNow, watchersNow } from "./support/resources.ts";
import { uncaughtError } from "./support/uncaught-error.ts";

function fileWith(content: string): string {
  const path = join(temporaryDirectory(), "lines.jsonl");
  writeFileSync(path, content);
  return path;
}

/** The items until it completes. */
function all<T>(observable: Observable<T>): Promise<T[]> {
  return new Promise((resolve, reject) => {
    const items: T[] = [];
    observable.subscribe({
      next: (item) => items.push(item),
      error: reject,
      complete: () => resolve(items),
    });
  });
}

describe("lines$ and records$", () => {
  it("lines$ and records$ emit the items of lines and records to each subscriber", async () => {
    const path = fileWith('{"n":1}\n[]\n{"n":2}\n{"torn');
    const stream = lines$(path, { chunkBytes: 4 });
    expect(await all(stream)).toEqual([...linesSync(path)]);
    appendFileSync(path, "\n");
    expect(await all(stream)).toEqual([...linesSync(path)]);
    const options = { from: 8, lineBytesMax: 5 };
    expect(await all(records$(path, options))).toEqual([...recordsSync(path, options)]);
  });

  it("lines$ and records$ fail with the error of the file system", async () => {
    const missing = join(temporaryDirectory(), "none");
    await expect(all(lines$(missing))).rejects.toThrow("ENOENT");
    await expect(all(records$(missing))).rejects.toThrow("ENOENT");
    await expect(all(follow$(missing))).rejects.toThrow("ENOENT");
  });

  it("lines$ and records$ stop reading when next() unsubscribes", async () => {
    const path = fileWith('{"n":1}\n'.repeat(100_000));
    const before = nextDescriptor(path);
    const bytesBefore = readCounter.bytes;
    let seen = 0;
    const subscription = records$(path, { chunkBytes: 4096 }).subscribe(() => {
      seen += 1;
      subscription.unsubscribe();
    });
    await expect.poll(() => seen).toBe(1);
    await expect.poll(() => nextDescriptor(path)).toBe(before);
    expect(seen).toBe(1);
    // What is pulled, and what is read ahead meanwhile.
    expect(readCounter.bytes - bytesBefore).toBeLessThanOrEqual(2 * 4096);
  });
});

describe("follow$", () => {
  it("follow$ emits existing lines, appended lines, and resets", async () => {
    const path = fileWith('{"n":1}\n');
    const seen: unknown[] = [];
    const subscription = follow$(path).subscribe((event) => seen.push(told(event)));
    await expect.poll(() => seen).toEqual([{ n: 1 }]);
    appendFileSync(path, '{"n":2}\n');
    await expect.poll(() => seen).toEqual([{ n: 1 }, { n: 2 }]);
    writeFileSync(path, "");
    await expect.poll(() => seen).toEqual([{ n: 1 }, { n: 2 }, "truncated"]);
    subscription.unsubscribe();
  });

  it("follow$ continues when a subscriber throws", async () => {
    const path = fileWith('{"n":1}\n{"n":2}\n');
    const seen: unknown[] = [];
    const subscriptions: Subscription[] = [];
    const error = await uncaughtError(() => {
      const subscription = follow$(path).subscribe((event) => {
        seen.push(told(event));
        if (seen.length === 1) throw new Error("a bug of the subscriber");
      });
      subscriptions.push(subscription);
    });
    expect(error.message).toBe("a bug of the subscriber");
    await expect.poll(() => seen).toEqual([{ n: 1 }, { n: 2 }]);
    for (const subscription of subscriptions) subscription.unsubscribe();
  });

  it("follow$ allows a subscriber to append from inside next()", async () => {
    const path = fileWith('{"n":0}\n');
    const seen: unknown[] = [];
    const subscription = follow$(path).subscribe((event) => {
      seen.push(told(event));
      if (seen.length < 20) appendFileSync(path, `{"n":${seen.length}}\n`);
    });
    await expect.poll(() => seen).toHaveLength(20);
    subscription.unsubscribe();
    expect(seen).toEqual(Array.from({ length: 20 }, (_, n) => ({ n })));
  });

  it("shares one watcher among a thousand subscribers of a directory", async () => {
    expect(await settled(watchersNow, 0)).toBe(0);
    const path = fileWith("");
    let seen = 0;
    const subscriptions = Array.from({ length: 1000 }, () =>
      follow$(path, { pollMs: 1_000_000 }).subscribe(() => {
        seen += 1;
      }),
    );
    appendFileSync(path, '{"n":1}\n');
    await expect.poll(() => seen, { timeout: 10_000 }).toBe(1000);
    expect(watchersNow()).toBe(1);
    for (const subscription of subscriptions) subscription.unsubscribe();
    expect(await settled(watchersNow, 0)).toBe(0);
  });

  it.each([0, 1, 3])(
    "follow$ closes all files after 3,000 subscriptions that end after %i turns",
    async (turns) => {
      expect(await settled(watchersNow, 0)).toBe(0);
      const path = fileWith('{"n":1}\n');
      const other = fileWith("");
      const before = nextDescriptor(other);
      for (let n = 0; n < 3000; n++) {
        const subscription = follow$(path, { from: 8 }).subscribe(() => undefined);
        for (let count = turns; count > 0; count--) await turn();
        subscription.unsubscribe();
        // Only so many at a time that the descriptors of the process suffice.
        if (turns === 0 && n % 100 === 99) await turn();
      }
      await expect.poll(() => nextDescriptor(other)).toBe(before);
      expect(await settled(watchersNow, 0)).toBe(0);
      expect(await settled(timersNow, 0)).toBe(0);
    },
  );
});

function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
