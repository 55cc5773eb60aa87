/** Syncs of one file that its appenders share, and what is known after one has failed. */
import { describe, expect, it } from "vitest";
import { MemoryFileSystem } from "@branchlog/core/testing";
import type { FileStat } from "@branchlog/core/testing";
import { DiskSync, diskSyncOf } from "../../../packages/core/src/platform/disk-sync.ts";
import { LogFile } from "../../../packages/core/src/platform/log-file.ts";
import { nodeFileSystem } from "../../../packages/core/src/platform/node-file-system.ts";
import { observedFileSystem } from "../../support/observed-file-system.ts";

const path = "/s.jsonl";
const failure = Object.assign(new Error("EIO: i/o error, fdatasync"), { code: "EIO" });

/** A file whose syncs end under control of the test, and of which some fail. */
class Disk {
  readonly memory = new MemoryFileSystem();
  readonly sync: DiskSync;
  /** The syncs under way: whether each of them works. */
  readonly running: ((works: boolean) => void)[] = [];
  begun = 0;

  constructor() {
    this.memory.writeFileSync(path, Buffer.from("{}\n"));
    const around = observedFileSystem(this.memory, (_, effect) => effect());
    const fdatasync = async (): Promise<void> => {
      this.begun += 1;
      const works = await new Promise<boolean>((resolve) => {
        this.running.push(resolve);
      });
      if (!works) throw failure;
    };
    this.sync = new DiskSync(new LogFile({ ...around, fdatasync }, path));
  }

  /** Ends the oldest sync, once there is one. */
  async end(works: boolean): Promise<void> {
    await expect.poll(() => this.running.length, { interval: 1 }).toBeGreaterThan(0);
    this.running.shift()?.(works);
  }
}

const at = (ms: number) => (): number => ms;

describe("the syncs of a file", () => {
  it("after a failed one reject even if no promise depended on it", async () => {
    const disk = new Disk();
    const first = disk.sync.sync(at(0));
    await expect.poll(() => disk.begun, { interval: 1 }).toBe(1);
    const second = disk.sync.sync(at(0));
    const outcomes = Promise.allSettled([first, second]);
    await disk.end(false);
    await disk.end(true);
    expect((await outcomes).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect([disk.sync.isInDoubt, disk.sync.tailMayBeTorn]).toEqual([false, true]);
    const third = disk.sync.sync(at(0));
    await disk.end(true);
    await third;
  });

  it("that block confirm nothing while another one is in progress, which may have failed", async () => {
    const disk = new Disk();
    const { sync } = disk;
    sync.note(["a"], 0);
    const running = sync.sync(at(0));
    await expect.poll(() => disk.begun, { interval: 1 }).toBe(1);
    sync.syncSync(1);
    expect(sync.unsyncedIds).toEqual(["a"]);
    await disk.end(true);
    await running;
    expect(sync.unsyncedIds).toEqual([]);
    sync.note(["b"], 2);
    sync.syncSync(3);
    expect(sync.unsyncedIds).toEqual([]);
  });

  it("start again after the file could not be opened", async () => {
    const disk = new Disk();
    const bytes = disk.memory.readFileSync(path);
    disk.memory.unlinkSync(path);
    await expect(disk.sync.sync(at(0))).rejects.toMatchObject({ code: "ENOENT" });
    disk.memory.writeFileSync(path, bytes);
    const again = disk.sync.sync(at(0));
    await disk.end(true);
    await again;
    expect(disk.begun).toBe(1);
  });
});

describe("the syncs that the sessions of a process share", () => {
  const stat: FileStat = (() => {
    const memory = new MemoryFileSystem();
    memory.writeFileSync(path, Buffer.from("{}\n"));
    const found = memory.statSync(path);
    if (found === null) throw new Error("no file");
    return found;
  })();

  it("are shared per file, and separate for another file, name or file system", () => {
    for (const fs of [new MemoryFileSystem(), nodeFileSystem]) {
      const file = new LogFile(fs, path);
      const shared = diskSyncOf(fs, file, stat);
      expect(diskSyncOf(fs, new LogFile(fs, path), stat)).toBe(shared);
      expect(diskSyncOf(fs, file, { ...stat, ino: stat.ino + 1 })).not.toBe(shared);
      expect(diskSyncOf(fs, file, { ...stat, dev: stat.dev + 1 })).not.toBe(shared);
      expect(diskSyncOf(fs, new LogFile(fs, "/other.jsonl"), stat)).not.toBe(shared);
      expect(diskSyncOf(new MemoryFileSystem(), file, stat)).not.toBe(shared);
    }
  });
});
