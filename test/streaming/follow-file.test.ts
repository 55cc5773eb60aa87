/** Following a file: what is appended comes once and whole, whatever becomes of the file. */
import {
  appendFileSync,
  closeSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import {
  followFile,
  type FollowOptions,
  type HintListener,
  readCounter,
} from "@branchlog/streaming";
import type { WatchDirectory } from "../../packages/streaming/src/change-wait.ts";
import { followFileWith } from "../../packages/streaming/src/follow-file.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { followByHints, followByPoll, followDeaf, Pulled } from "./support/followed.ts";
import { nextDescriptor, settled, timersNow, watchersNow } from "./support/resources.ts";

function fileWith(content: string): string {
  const path = join(temporaryDirectory(), "lines.jsonl");
  writeFileSync(path, content);
  return path;
}

/** Another file takes the place of one, as editors and tools save it. */
function replaceFile(path: string, content: string): void {
  writeFileSync(`${path}.new`, content);
  renameSync(`${path}.new`, path);
}

/** Overwrites bytes where they are; the size stays. */
function overwrite(path: string, position: number, text: string): void {
  const descriptor = openSync(path, "r+");
  writeSync(descriptor, text, position);
  closeSync(descriptor);
}

/** `1,000` zeros make a line that is longer than the edge that is compared. */
const long = (n: number): string => `{"n":${n},"padding":"${"0".repeat(1000)}"}\n`;

const ways: readonly (readonly [string, (path: string, options?: FollowOptions) => Pulled])[] = [
  ["hints", followByHints],
  ["the poll", followByPoll],
];

describe.each(ways)("following by %s", (_, follow) => {
  it("a follower replays the file and continues with appended lines", async () => {
    const path = fileWith('{"n":1}\n{"n":2}\n');
    const pulled = follow(path);
    expect(await pulled.take(2)).toEqual([{ n: 1 }, { n: 2 }]);
    const next = pulled.take(2);
    appendFileSync(path, '{"n":3}\n\n');
    expect(await next).toEqual([{ n: 3 }, "blank"]);
  });

  it("a follower yields a line once, when its end is written", async () => {
    const path = fileWith('{"n":1}\n{"te');
    const pulled = follow(path);
    expect(await pulled.take(1)).toEqual([{ n: 1 }]);
    const next = pulled.take(2);
    const rest = Buffer.from('xt":"漢"}\n{"n":3}\n');
    for (const byte of rest) appendFileSync(path, Buffer.of(byte));
    expect(await next).toEqual([{ text: "漢" }, { n: 3 }]);
  });

  it("a follower starts over when another file replaces the path", async () => {
    const path = fileWith('{"n":1}\n');
    const pulled = follow(path);
    expect(await pulled.take(1)).toEqual([{ n: 1 }]);
    const next = pulled.take(3);
    replaceFile(path, '{"n":1}\n{"n":2}\n');
    expect(await next).toEqual(["replaced", { n: 1 }, { n: 2 }]);
    const later = pulled.take(1);
    appendFileSync(path, '{"n":3}\n');
    expect(await later).toEqual([{ n: 3 }]);
  });

  it("a follower starts over when lines were truncated", async () => {
    const path = fileWith('{"n":1}\n{"n":2}\n');
    const pulled = follow(path);
    await pulled.take(2);
    const next = pulled.take(2);
    truncateSync(path, 8);
    expect(await next).toEqual(["truncated", { n: 1 }]);
    const emptied = pulled.take(1);
    truncateSync(path, 0);
    expect(await emptied).toEqual(["truncated"]);
    const later = pulled.take(1);
    appendFileSync(path, '{"n":4}\n');
    expect(await later).toEqual([{ n: 4 }]);
  });

  it("a follower starts over when the file is rewritten in place", async () => {
    const path = fileWith(long(1) + long(2));
    const pulled = follow(path);
    await pulled.take(2);
    const same = pulled.take(1);
    overwrite(path, long(1).length, long(2).replaceAll("0", "9"));
    expect(await same).toEqual(["replaced"]);
    expect(await pulled.take(2)).toMatchObject([{ n: 1 }, { n: 2 }]);
    const longer = pulled.take(4);
    overwrite(path, 0, long(4) + long(5) + long(6));
    expect(await longer).toMatchObject(["replaced", { n: 4 }, { n: 5 }, { n: 6 }]);
  });

  it("a follower never joins the halves of two lines with different beginnings", async () => {
    const end = "0".repeat(200);
    const path = fileWith(`{"n":1}\n{"n":2,"x":"${end}`);
    const pulled = follow(path);
    await pulled.take(1);
    truncateSync(path, 0);
    appendFileSync(path, `{"n":3}\n{"n":4,"x":"${end}"}\n`);
    expect(await pulled.take(3)).toMatchObject(["replaced", { n: 3 }, { n: 4 }]);
  });

  it("a follower reads a line again when its beginning was rewritten", async () => {
    const end = "0".repeat(200);
    const path = fileWith(`{"n":1}\n{"n":2,"x":"${end}`);
    const pulled = follow(path);
    await pulled.take(1);
    truncateSync(path, '{"n":1}\n'.length);
    appendFileSync(path, `{"n":3,"x":"${end}"}\n{"n":4}\n`);
    expect(await pulled.take(2)).toMatchObject([{ n: 3 }, { n: 4 }]);
  });

  it("a follower waits when the file vanished, until it exists again", async () => {
    const path = fileWith('{"n":1}\n');
    const pulled = follow(path);
    await pulled.take(1);
    const next = pulled.take(2);
    unlinkSync(path);
    writeFileSync(path, '{"n":2}\n');
    expect(await next).toEqual(["replaced", { n: 2 }]);
  });

  it("a follower counts lines and offsets from its start position", async () => {
    const path = fileWith('{"n":1}\n{"n":2}\n');
    const pulled = follow(path, { from: 8 });
    const first = await pulled.next();
    expect(first).toMatchObject({ record: { offset: 8, length: 7, lineNumber: 1 } });
    replaceFile(path, '{"n":3}\n');
    expect(await pulled.next()).toEqual({ kind: "reset", reason: "replaced" });
    expect(await pulled.next()).toMatchObject({ record: { offset: 0, lineNumber: 1 } });
  });
});

describe("following", () => {
  it("a follower reads the last lines of a file that was deleted or replaced", async () => {
    const lines = Array.from({ length: 100 }, (_, n) => `{"n":${n}}\n`);
    const path = fileWith(lines.join(""));
    const pulled = followByHints(path, { chunkBytes: 16 });
    await pulled.take(3);
    unlinkSync(path);
    expect(await pulled.take(90)).toEqual(Array.from({ length: 90 }, (_, n) => ({ n: n + 3 })));
    writeFileSync(path, "[]\n");
    expect(await pulled.take(9)).toEqual([
      ...Array.from({ length: 7 }, (_, n) => ({ n: n + 93 })),
      "replaced",
      "not-object",
    ]);
  });

  it("a follower continues without a reset when the same file returns", async () => {
    const path = fileWith('{"n":1}\n');
    const pulled = followByPoll(path);
    await pulled.take(1);
    renameSync(path, `${path}.away`);
    const next = pulled.take(1);
    appendFileSync(`${path}.away`, '{"n":2}\n');
    expect(await next).toEqual([{ n: 2 }]);
    renameSync(`${path}.away`, path);
    const later = pulled.take(1);
    appendFileSync(path, '{"n":3}\n');
    expect(await later).toEqual([{ n: 3 }]);
  });

  it("a follower drops an incomplete line without a reset when it is truncated", async () => {
    const path = fileWith(`{"n":1}\n{"torn":"${"x".repeat(200)}`);
    const pulled = followByPoll(path, { chunkBytes: 50 });
    await pulled.take(1);
    const next = pulled.take(1);
    const descriptor = openSync(path, "r+");
    // Until the beginning was read, which nothing else tells.
    const readBefore = readCounter.bytes;
    await expect.poll(() => readCounter.bytes - readBefore).toBeGreaterThan(500);
    ftruncateSync(descriptor, 8);
    closeSync(descriptor);
    appendFileSync(path, `{"n":2,"other":"${"y".repeat(300)}"}\n`);
    expect(await next).toMatchObject([{ n: 2 }]);
  });

  it("a follower starts over when more than the incomplete line was rewritten", async () => {
    const path = fileWith(`${long(1)}{"torn":"${"x".repeat(500)}`);
    const pulled = followByPoll(path, { chunkBytes: 50 });
    await pulled.take(1);
    const next = pulled.take(3);
    const readBefore = readCounter.bytes;
    await expect.poll(() => readCounter.bytes - readBefore).toBeGreaterThan(2000);
    overwrite(path, 0, long(2).replaceAll("0", "9") + long(3));
    expect(await next).toMatchObject(["replaced", { n: 2 }, { n: 3 }]);
  });

  it("a follower starts over when the file is shorter than its start position", async () => {
    const path = fileWith('{"n":1}\n');
    expect(await followByHints(path, { from: 9 }).take(2)).toEqual(["truncated", { n: 1 }]);
  });

  it("a follower waits in an empty file, and skips a byte-order mark", async () => {
    const path = fileWith("");
    const pulled = followByHints(path);
    const next = pulled.next();
    appendFileSync(path, '\ufeff{"n":1}\n');
    expect(await next).toMatchObject({ record: { value: { n: 1 }, offset: 3 } });
  });

  it("a follower describes lines above the maximum, in any number of reads", async () => {
    const path = fileWith("");
    const pulled = followByHints(path, { lineBytesMax: 50, chunkBytes: 16 });
    const next = pulled.next();
    for (let n = 0; n < 100; n++) appendFileSync(path, "x".repeat(100));
    appendFileSync(path, "\n");
    const found = { reason: "too-long", bytes: null, length: 10_000, terminated: true };
    expect(await next).toMatchObject({ record: found });
  });

  it("a follower continues when its directory was deleted", async () => {
    const directory = join(temporaryDirectory(), "sessions");
    const path = join(directory, "lines.jsonl");
    mkdirSync(directory);
    writeFileSync(path, '{"n":1}\n');
    const pulled = followByHints(path, { pollMs: 5 });
    await pulled.take(1);
    rmSync(directory, { recursive: true });
    const next = pulled.take(2);
    mkdirSync(directory);
    replaceFile(path, '{"n":2}\n');
    expect(await next).toEqual(["replaced", { n: 2 }]);
    const later = pulled.take(1);
    appendFileSync(path, '{"n":3}\n');
    expect(await later).toEqual([{ n: 3 }]);
  });

  it("a follower watches the target of a link, and detects a new target", async () => {
    const directory = temporaryDirectory();
    mkdirSync(join(directory, "far"));
    const [target, other] = [join(directory, "far", "a"), join(directory, "b")];
    const link = join(directory, "link");
    writeFileSync(target, '{"n":1}\n');
    symlinkSync(target, link);
    const byHints = followByHints(link);
    await byHints.take(1);
    const next = byHints.take(1);
    appendFileSync(target, '{"n":2}\n');
    expect(await next).toEqual([{ n: 2 }]);
    const byPoll = followByPoll(link);
    await byPoll.take(2);
    const elsewhere = byPoll.take(2);
    writeFileSync(other, '{"n":3}\n');
    unlinkSync(link);
    symlinkSync(other, link);
    expect(await elsewhere).toEqual(["replaced", { n: 3 }]);
  });

  it("a follower throws the error of the file system when the file is missing", async () => {
    const missing = join(temporaryDirectory(), "none");
    await expect(followFile(missing).next()).rejects.toThrow("ENOENT");
    await expect(followFile(temporaryDirectory()).next()).rejects.toThrow("EISDIR");
  });

  it("a follower reads one chunk per pull, and nothing before", async () => {
    const path = fileWith('{"n":1}\n'.repeat(100_000));
    const before = readCounter.bytes;
    const pulled = followByHints(path, { chunkBytes: 4096 });
    expect(readCounter.bytes).toBe(before);
    await pulled.take(500);
    expect(readCounter.bytes - before).toBe(4096);
    await pulled.take(100);
    // The second chunk, and the 64 bytes before it.
    expect(readCounter.bytes - before).toBe(2 * 4096 + 64);
  });

  it("a follower yields every line of another process, once and in order", async () => {
    const path = fileWith("");
    const script = fileURLToPath(new URL("./support/appending-lines.mjs", import.meta.url));
    const pulled = followByHints(path, { pollMs: 50 });
    const next = pulled.take(1000);
    const child = spawn(process.execPath, [script, path, "1000"], { stdio: "inherit" });
    const exit = new Promise((resolve) => {
      child.on("exit", resolve);
    });
    expect(await next).toMatchObject(Array.from({ length: 1000 }, (_, n) => ({ n })));
    expect(await exit).toBe(0);
  });
});

describe("a change during a read", () => {
  /** The events of a file of one line, from its end; `change` comes after the first read began. */
  async function followed(count: number, change: (path: string) => void): Promise<unknown[]> {
    const path = fileWith('{"n":1}\n');
    const hints: HintListener[] = [];
    const watch: WatchDirectory = (_directory, onHint) => {
      hints.push(onHint);
      return { closeSync: () => undefined };
    };
    const pulled = new Pulled(followFileWith(watch, path, { from: 8, pollMs: 1_000_000 }));
    const events = pulled.take(count);
    // Reads end in a later turn of the event loop, never in this one.
    while (hints.length === 0) await Promise.resolve();
    change(path);
    for (const onHint of hints) onHint("lines.jsonl");
    return events;
  }

  it("a change during a read is not missed when its hint comes before the wait", async () => {
    const change = (path: string): void => appendFileSync(path, '{"n":2}\n');
    expect(await followed(1, change)).toEqual([{ n: 2 }]);
  });

  it("a file replaced during a read is read to its end first", async () => {
    const change = (path: string): void => {
      appendFileSync(path, '{"n":2}\n');
      replaceFile(path, '{"n":3}\n');
    };
    expect(await followed(3, change)).toEqual([{ n: 2 }, "replaced", { n: 3 }]);
  });
});

describe("the end of following", () => {
  const endings: readonly (readonly [string, (path: string) => Promise<void>])[] = [
    [
      "an early exit of the loop",
      async (path) => {
        for await (const event of followFile(path)) if (event.kind === "record") break;
      },
    ],
    [
      "return() while a pull waits",
      async (path) => {
        const events = followFile(path, { from: 8 });
        const waiting = events.next();
        expect(await settled(timersNow, 1)).toBe(1);
        expect(await events.return()).toEqual({ done: true, value: undefined });
        expect(await waiting).toEqual({ done: true, value: undefined });
        expect(await events.next()).toEqual({ done: true, value: undefined });
      },
    ],
    [
      "throw()",
      async (path) => {
        const events = followFile(path);
        await events.next();
        await expect(events.throw(new Error("thrown in"))).rejects.toThrow("thrown in");
      },
    ],
    [
      "an abort while a pull waits",
      async (path) => {
        const controller = new AbortController();
        const waiting = followFile(path, { from: 8, signal: controller.signal }).next();
        const reason = new Error("enough");
        setImmediate(() => controller.abort(reason));
        await expect(waiting).rejects.toBe(reason);
      },
    ],
    [
      "an abort between two pulls",
      async (path) => {
        const controller = new AbortController();
        const events = followFile(path, { signal: controller.signal });
        await events.next();
        const reason = new Error("enough");
        controller.abort(reason);
        await expect(events.next()).rejects.toBe(reason);
        expect(await events.next()).toEqual({ done: true, value: undefined });
      },
    ],
    [
      "an abort before the first pull",
      async (path) => {
        const reason = new Error("never mind");
        const events = followFile(path, { signal: AbortSignal.abort(reason) });
        await expect(events.next()).rejects.toBe(reason);
      },
    ],
    [
      "an error of the file system",
      async (path) => {
        const events = followFile(path);
        await events.next();
        unlinkSync(path);
        mkdirSync(path);
        expect(await events.next()).toMatchObject({ value: { kind: "reset" } });
        await expect(events.next()).rejects.toThrow("EISDIR");
      },
    ],
    [
      "an end before the first pull",
      async (path) => {
        await followFile(path).return();
      },
    ],
  ];

  it.each(endings)("a follower closes its file and watcher at: %s", async (_, end) => {
    expect(await settled(watchersNow, 0)).toBe(0);
    expect(await settled(timersNow, 0)).toBe(0);
    const path = fileWith('{"n":1}\n');
    const other = fileWith("");
    const before = nextDescriptor(other);
    await end(path);
    expect(nextDescriptor(other)).toBe(before);
    expect(await settled(watchersNow, 0)).toBe(0);
    expect(await settled(timersNow, 0)).toBe(0);
  });

  it("one signal ends all its followers, without a warning", async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error): unknown => warnings.push(warning);
    process.on("warning", onWarning);
    const path = fileWith("");
    const controller = new AbortController();
    const { signal } = controller;
    const all = Array.from({ length: 100 }, () => followDeaf(path, { signal }).next());
    setImmediate(() => controller.abort(new Error("enough")));
    const outcomes = await Promise.allSettled(all);
    expect(outcomes.every(({ status }) => status === "rejected")).toBe(true);
    process.off("warning", onWarning);
    expect(warnings).toEqual([]);
  });
});
