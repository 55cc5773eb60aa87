/** What a session syncs, and when, by what it was promised: one log on a disk in memory. */
import { describe, expect, it } from "vitest";
import {
  ManualClock,
  MemoryFileSystem,
  createMemoryPorts,
  jsonLines,
  sampleHeader,
} from "@branchlog/core/testing";
import { runSync } from "@branchlog/streaming";
import type { Durability } from "@branchlog/core";
import { unsyncedEntriesMax } from "../../../packages/core/src/limits.ts";
import { LogDurability } from "../../../packages/core/src/log/log-durability.ts";
import { TrackedLog } from "../../../packages/core/src/log/tracked-log.ts";
import { LogFile } from "../../../packages/core/src/platform/log-file.ts";
import { observedFileSystem } from "../../support/observed-file-system.ts";

const path = "/s.jsonl";

/** A log that was read, and a disk that fails to sync when it is told to. */
class Disk {
  readonly memory = new MemoryFileSystem();
  readonly clock = new ManualClock();
  readonly log: TrackedLog;
  failures = 0;
  readonly #fs = observedFileSystem(this.memory, (call, effect) => {
    if (call.name.startsWith("fdatasync") && this.failures > 0) {
      this.failures -= 1;
      throw Object.assign(new Error("EIO: i/o error, fdatasync"), { code: "EIO" });
    }
    return effect();
  });

  constructor() {
    this.memory.writeFileSync(path, Buffer.from(jsonLines(sampleHeader())));
    const options = { lineBytesMax: 1000, bodyCacheBytesMax: 1000 };
    this.log = new TrackedLog(new LogFile(this.#fs, path), options);
    runSync(this.log.open());
  }

  durability(mode: Durability): LogDurability {
    const ports = createMemoryPorts({ fs: this.#fs, clock: this.clock });
    return new LogDurability(mode, this.log, ports);
  }

  /** Another file takes the name, and is read. */
  replace(): void {
    this.memory.writeFileSync("/other", Buffer.from(jsonLines(sampleHeader({ id: "other" }))));
    this.memory.renameSync("/other", path);
    runSync(this.log.catchUp());
  }

  get syncs(): number {
    return this.memory.callCount("fdatasync") + this.memory.callCount("fdatasyncSync");
  }
}

const manyIds = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, n) => `${n}`);

describe("the durability of a log", () => {
  it("keeps no ids and reports no doubt where nothing is synced", async () => {
    const disk = new Disk();
    const durability = disk.durability("os");
    durability.wroteSync(["a"], true);
    expect(durability.wrote(["b"], true)).toBeUndefined();
    expect(durability.unsyncedIds).toEqual([]);
    expect([durability.isInDoubt, durability.needsSeparator]).toEqual([false, false]);
    await durability.flush();
    expect(disk.syncs).toBe(0);
  });

  it("is what another session of the log was promised, too, but not one without syncs", () => {
    const disk = new Disk();
    const [one, other, none] = [
      disk.durability({ intervalMs: 1000 }),
      disk.durability("disk"),
      disk.durability("os"),
    ];
    disk.failures = 1;
    expect(() => other.wroteSync(["a"], false)).toThrow("EIO");
    expect([one.unsyncedIds, other.unsyncedIds, none.unsyncedIds]).toEqual([["a"], ["a"], []]);
    expect([one.isInDoubt, other.isInDoubt, none.isInDoubt]).toEqual([true, true, false]);
    expect([one.needsSeparator, none.needsSeparator]).toEqual([true, false]);
    const unknown = { code: "ERR_DURABILITY_UNKNOWN", path };
    expect(() => one.requireKnown()).toThrow(expect.objectContaining(unknown));
    none.requireKnown();
  });

  it("needs a newline after a failed sync until one was written, a retry not counted", () => {
    const disk = new Disk();
    const durability = disk.durability("disk");
    disk.failures = 1;
    // Nothing is relied on yet, so nothing is in doubt but the end of the file.
    expect(() => durability.wroteSync([], false)).toThrow("EIO");
    expect([durability.isInDoubt, durability.needsSeparator]).toEqual([false, true]);
    durability.wroteSync(["found"], false);
    expect(durability.needsSeparator).toBe(true);
    durability.wroteSync(["written"], true);
    expect(durability.needsSeparator).toBe(false);
  });

  it("begins anew with a file that took the name", () => {
    const disk = new Disk();
    const durability = disk.durability({ intervalMs: 1000 });
    durability.wroteSync(["a"], true);
    expect(durability.unsyncedIds).toEqual(["a"]);
    disk.replace();
    expect(durability.unsyncedIds).toEqual([]);
  });

  it("syncs before its interval ends when too many ids wait, and not for one less", async () => {
    for (const isBlocking of [true, false]) {
      const disk = new Disk();
      const durability = disk.durability({ intervalMs: 1000 });
      const note = async (ids: readonly string[]): Promise<void> =>
        isBlocking ? durability.wroteSync(ids, true) : durability.wrote(ids, true);
      await note(manyIds(unsyncedEntriesMax - 1));
      expect(disk.syncs).toBe(0);
      await note(["last"]);
      expect(disk.syncs).toBe(1);
      expect(durability.unsyncedIds).toEqual([]);
    }
  });

  it("syncs in a blocking call only when its interval has ended", () => {
    const disk = new Disk();
    const durability = disk.durability({ intervalMs: 1000 });
    durability.wroteSync(["a"], true);
    disk.clock.advance(0);
    durability.wroteSync(["b"], true);
    expect([disk.syncs, durability.unsyncedIds]).toEqual([0, ["a", "b"]]);
  });
});
