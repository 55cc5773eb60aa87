/** The disk that loses power in these tests behaves as a file system until then, and loses as said. */
import { describe, expect, it } from "vitest";
import type { MemoryFileSystem } from "@branchlog/core/testing";
import { itPasses } from "../contracts/contract.ts";
import { fileSystemContract } from "../contracts/file-system.ts";
import { CrashFileSystem } from "../support/crash-file-system.ts";
import { Schedules } from "../support/schedules.ts";

itPasses(
  "the disk that loses power",
  fileSystemContract(() => {
    const { fs } = new CrashFileSystem();
    fs.makeDirectorySync("/root");
    return { fs, root: "/root" };
  }),
);

function write({ fs }: CrashFileSystem, fd: number, text: string): void {
  fs.writeSync(fd, Buffer.from(text), 0, text.length);
}

/** What can be at a path after a power failure, in all cases; "-" is nothing. */
function allContents(disk: CrashFileSystem, path: string): string[] {
  const schedules = new Schedules();
  const found = new Set<string>();
  while (schedules.next()) {
    const fs: MemoryFileSystem = disk.afterPowerLoss((of) => schedules.choose(of));
    found.add(fs.statSync(path) === null ? "-" : fs.readFileSync(path).toString());
  }
  return [...found].toSorted();
}

describe("after a power failure", () => {
  it("synced bytes are present, and the rest in every possible state of a disk", () => {
    const disk = new CrashFileSystem();
    const fd = disk.fs.openSync("/a", "create");
    expect(allContents(disk, "/a")).toEqual(["", "-"]);
    disk.fs.syncDirectorySync("/");
    write(disk, fd, "one ");
    disk.fs.fdatasyncSync(fd);
    expect(allContents(disk, "/a")).toEqual(["one "]);
    write(disk, fd, "ab");
    expect(allContents(disk, "/a")).toEqual(["one ", "one \0\0", "one a", "one ab"]);
    write(disk, fd, "c");
    expect(allContents(disk, "/a")).toEqual(
      ["", "\0\0", "\0\0\0", "\0\0c", "a", "a\0", "a\0\0", "a\0c", "ab", "ab\0", "abc"]
        .map((rest) => `one ${rest}`)
        .toSorted(),
    );
  });

  it("a sync covers what was written before it began, and nothing if it failed", async () => {
    const disk = new CrashFileSystem();
    const fd = disk.fs.openSync("/a", "create");
    disk.fs.syncDirectorySync("/");
    write(disk, fd, "a");
    const syncing = disk.fs.fdatasync(fd);
    write(disk, fd, "b");
    await syncing;
    expect(allContents(disk, "/a")).toEqual(["a", "a\0", "ab"]);
    disk.failSyncs(true);
    expect(() => disk.fs.fdatasyncSync(fd)).toThrow("EIO");
    await expect(disk.fs.fdatasync(fd)).rejects.toThrow("EIO");
    disk.failSyncs(false);
    disk.fs.fdatasyncSync(fd);
    expect(allContents(disk, "/a")).toEqual(["a", "a\0", "ab"]);
  });

  it("an unsynced name is any since the last sync, and its directory may be missing", () => {
    const disk = new CrashFileSystem();
    disk.addDurable("/d/old", Buffer.from("old"));
    disk.addDurable("/d/new", Buffer.from("new"));
    disk.fs.renameSync("/d/new", "/d/old");
    expect(allContents(disk, "/d/old")).toEqual(["new", "old"]);
    expect(allContents(disk, "/d/new")).toEqual(["-", "new"]);
    disk.fs.syncDirectorySync("/d");
    expect(allContents(disk, "/d/old")).toEqual(["new"]);
    disk.fs.makeDirectorySync("/made/below");
    disk.fs.linkSync("/d/old", "/made/below/link");
    disk.fs.syncDirectorySync("/made/below");
    expect(allContents(disk, "/made/below/link")).toEqual(["-", "new"]);
    disk.fs.syncDirectorySync("/made");
    disk.fs.syncDirectorySync("/");
    expect(allContents(disk, "/made/below/link")).toEqual(["new"]);
  });

  it("a process that died earlier makes no more calls", () => {
    const disk = new CrashFileSystem();
    disk.dieAfter(1);
    const fd = disk.fs.openSync("/a", "create");
    expect(disk.isDead).toBe(false);
    expect(() => write(disk, fd, "a")).toThrow("dead");
    expect(disk.isDead).toBe(true);
    expect(disk.memory.readFileSync("/a").toString()).toBe("");
  });
});
