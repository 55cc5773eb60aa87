/** The memory file system: the contract, the same answers as the disk, faults and counters. */
import { join, resolve } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MemoryFileSystem, fileError } from "@branchlog/core/testing";
import { fileSystemContract } from "../../contracts/file-system.ts";
import { nodeFileSystem } from "../../../packages/core/src/platform/node-file-system.ts";
import { itPasses } from "../../contracts/contract.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { answers, arbitraryCalls } from "./file-system-calls.ts";

function memoryRoot(): { fs: MemoryFileSystem; root: string } {
  const fs = new MemoryFileSystem();
  const root = resolve("/", "sessions");
  fs.makeDirectorySync(root);
  return { fs, root };
}

itPasses("the memory as a file system", fileSystemContract(memoryRoot));

describe("the memory file system", () => {
  it("behaves like the disk for every sequence of calls", () => {
    const disk = temporaryDirectory();
    let runs = 0;
    fc.assert(
      fc.property(arbitraryCalls, (calls) => {
        runs += 1;
        const root = join(disk, String(runs));
        nodeFileSystem.makeDirectorySync(root);
        const memory = memoryRoot();
        expect(answers(memory.fs, memory.root, calls)).toEqual(
          answers(nodeFileSystem, root, calls),
        );
      }),
      { numRuns: 200 },
    );
  });

  it("moves the times of a file with every change, and only then", () => {
    const { fs, root } = memoryRoot();
    const path = join(root, "a");
    const fd = fs.openSync(path, "create");
    const times = new Set<number>();
    for (let count = 0; count < 5; count += 1) {
      fs.writeSync(fd, Buffer.from("x"), 0, 1);
      times.add(fs.fstatSync(fd).mtimeMs);
      fs.readSync(fd, Buffer.alloc(1), 0, 1, 0);
      times.add(fs.fstatSync(fd).mtimeMs);
    }
    expect(times.size).toBe(5);
    const { mtimeMs, ctimeMs } = fs.fstatSync(fd);
    fs.renameSync(path, join(root, "b"));
    expect(fs.fstatSync(fd).mtimeMs).toBe(mtimeMs);
    expect(fs.fstatSync(fd).ctimeMs).toBeGreaterThan(ctimeMs);
  });

  it("copies its arguments and results", () => {
    const { fs, root } = memoryRoot();
    const fd = fs.openSync(join(root, "a"), "create");
    const bytes = Buffer.from("before");
    fs.writeSync(fd, bytes, 0, bytes.length);
    bytes.fill("!");
    fs.readFileSync(join(root, "a")).fill("?");
    expect(fs.readFileSync(join(root, "a")).toString()).toBe("before");
  });

  it("replaces content in place without a new inode", () => {
    const { fs, root } = memoryRoot();
    const path = join(root, "a");
    fs.writeFileSync(path, Buffer.from("long content"));
    const before = fs.statSync(path);
    fs.writeFileSync(path, Buffer.from("short"));
    expect(fs.readFileSync(path).toString()).toBe("short");
    expect(fs.statSync(path)).toMatchObject({ ino: before?.ino, size: 5 });
    expect(fs.statSync(path)?.mtimeMs).toBeGreaterThan(before?.mtimeMs ?? Number.NaN);
  });
});

describe("the hook and the counters", () => {
  it("fails the call that the hook fails, before anything has changed", () => {
    const { fs, root } = memoryRoot();
    const path = join(root, "a");
    const fd = fs.openSync(path, "create");
    fs.onCall = ({ name, path: about }) => {
      if (name === "writeSync") throw fileError("ENOSPC", "write", about);
    };
    const write = (): number => fs.writeSync(fd, Buffer.from("text"), 0, 4);
    expect(write).toThrow(expect.objectContaining({ code: "ENOSPC", errno: -28, path }));
    expect(fs.fstatSync(fd).size).toBe(0);
    fs.onCall = undefined;
    expect(write()).toBe(4);
  });

  it("rejects, not throws, when the hook fails a call that returns a promise", async () => {
    const { fs, root } = memoryRoot();
    const fd = fs.openSync(join(root, "a"), "create");
    fs.onCall = ({ name }) => {
      if (name === "read" || name === "fdatasync") throw fileError("EIO", name);
    };
    const reading = fs.read(fd, Buffer.alloc(1), 0, 1, 0);
    await expect(reading).rejects.toMatchObject({ code: "EIO" });
    await expect(fs.fdatasync(fd)).rejects.toMatchObject({ code: "EIO" });
  });

  it("halves a write that the hook shortens", () => {
    const { fs, root } = memoryRoot();
    const fd = fs.openSync(join(root, "a"), "create");
    fs.onCall = () => "short";
    expect(fs.writeSync(fd, Buffer.from("12345"), 0, 5)).toBe(2);
    expect(fs.readFileSync(join(root, "a")).toString()).toBe("12");
  });

  it("counts calls and open files", () => {
    const { fs, root } = memoryRoot();
    const fd = fs.openSync(join(root, "a"), "create");
    expect(() => fs.openSync(join(root, "a"), "create")).toThrow();
    expect(fs.callCount("openSync")).toBe(2);
    expect(fs.callCount("readSync")).toBe(0);
    expect(fs.openCount).toBe(1);
    fs.closeSync(fd);
    expect(fs.openCount).toBe(0);
  });
});
