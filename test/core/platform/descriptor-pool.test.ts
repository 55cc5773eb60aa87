/** The descriptor pool: which file one gets, and how many are open. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { names, pooledFiles, textOf } from "./pooled-files.ts";

/** A promise that the test settles. */
function gate(): { opened: Promise<void>; open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((settle) => {
    open = settle;
  });
  return { opened, open };
}

describe("the file of a descriptor", () => {
  it("is opened once for many uses, and found by its identity without a system call", () => {
    const { fs, read, fileOf } = pooledFiles();
    const file = fileOf("a");
    const looks = fs.callCount("statSync");
    for (let use = 0; use < 10; use += 1) expect(read("a", file)).toBe("a");
    expect(fs.callCount("openSync")).toBe(1);
    expect(fs.callCount("statSync")).toBe(looks);
  });

  it("is looked up at each use when the caller does not specify the file", () => {
    const { fs, path, read } = pooledFiles();
    expect(read("a")).toBe("a");
    fs.renameSync(path("b"), path("a"));
    expect(read("a")).toBe("b");
    const { openCount } = fs;
    expect(() => read("missing")).toThrow(expect.objectContaining({ code: "ENOENT" }));
    fs.unlinkSync(path("a"));
    expect(() => read("a")).toThrow(expect.objectContaining({ code: "ENOENT" }));
    // Only a lack of descriptors is a reason to give up others.
    expect(fs.openCount).toBe(openCount);
  });

  it("is opened for each of its names, so that closing one keeps the other", () => {
    const { fs, pool, path, read } = pooledFiles();
    fs.unlinkSync(path("b"));
    fs.linkSync(path("a"), path("b"));
    expect([read("a"), read("b"), pool.openCount]).toEqual(["a", "a", 2]);
    pool.closePath(path("b"));
    expect(pool.openCount).toBe(1);
  });

  it("stays the adopted one when another file took its name", () => {
    const { fs, path, read, fileOf } = pooledFiles();
    const old = fileOf("a");
    expect(read("a", old)).toBe("a");
    fs.renameSync(path("b"), path("a"));
    expect(read("a", fileOf("a"))).toBe("b");
    expect(read("a", old)).toBe("a");
  });

  it("is never a file other than expected for an append", () => {
    const { fs, pool, path, fileOf } = pooledFiles();
    const old = fileOf("a");
    fs.renameSync(path("b"), path("a"));
    const append = (fd: number): number => fs.writeSync(fd, Buffer.from("!"), 0, 1);
    expect(() => pool.useSync(path("a"), "append", old, append)).toThrow(
      expect.objectContaining({ code: "ERR_LOG_GONE" }),
    );
    expect(fs.readFileSync(path("a")).toString()).toBe("b");
  });

  it("is not the read-only one for an append", () => {
    const { fs, pool, path, read, fileOf } = pooledFiles();
    expect(read("a", fileOf("a"))).toBe("a");
    const append = (fd: number): number => fs.writeSync(fd, Buffer.from("!"), 0, 1);
    pool.useSync(path("a"), "append", fileOf("a"), append);
    expect(read("a", fileOf("a"))).toBe("a!");
    expect(pool.openCount).toBe(2);
  });

  it("is correct, with the pool within its size, in every sequence of uses", () => {
    const steps = fc.array(fc.record({ name: fc.constantFrom(...names), isKnown: fc.boolean() }));
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 4 }), (uses, max) => {
        const { fs, pool, read, fileOf } = pooledFiles(max);
        for (const { name, isKnown } of uses) {
          expect(read(name, isKnown ? fileOf(name) : undefined)).toBe(name);
          expect(fs.openCount).toBe(pool.openCount);
          expect(pool.openCount).toBeLessThanOrEqual(max);
        }
      }),
    );
  });
});

describe("the number of open descriptors", () => {
  it("is bounded: the least recently used goes first", () => {
    const { fs, read } = pooledFiles();
    for (const name of "abcab") read(name);
    read("d");
    const opens = fs.callCount("openSync");
    for (const name of "abd") read(name);
    expect(fs.callCount("openSync")).toBe(opens);
    read("c");
    expect(fs.callCount("openSync")).toBe(opens + 1);
  });

  it("is bounded while one is used: the oldest unused one is closed", async () => {
    const { pool, path, read } = pooledFiles();
    const { opened, open } = gate();
    const using = pool.use(path("a"), "read", undefined, () => opened);
    for (const name of "bc") read(name);
    pool.useSync(path("d"), "read", undefined, () => expect(pool.openCount).toBe(3));
    open();
    await using;
  });

  it("can exceed the bound only by those in use, which are not closed", async () => {
    const { fs, pool, path } = pooledFiles();
    const { opened, open } = gate();
    const reading = names.map((name) =>
      pool.use(path(name), "read", undefined, async (fd) => {
        await opened;
        return textOf(fs, fd);
      }),
    );
    expect(pool.openCount).toBe(6);
    pool.closeIdle();
    expect(pool.openCount).toBe(6);
    open();
    expect(await Promise.all(reading)).toEqual(names);
    expect([pool.openCount, fs.openCount]).toEqual([3, 3]);
  });

  it("decreases when files are closed on request", () => {
    const { fs, pool, path, read } = pooledFiles();
    for (const name of "abc") read(name);
    pool.closePath(path("b"));
    expect(fs.openCount).toBe(2);
    pool.closeIdle();
    expect([pool.openCount, fs.openCount]).toEqual([0, 0]);
  });
});
