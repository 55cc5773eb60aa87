/** One log as a file: which file is read, which is written to, and the report when it is missing. */
import { describe, expect, it } from "vitest";
import { readCounter } from "@branchlog/streaming";
import { MemoryFileSystem, fileError } from "@branchlog/core/testing";
import type { FileStat } from "@branchlog/core/testing";
import { LogFile } from "../../../packages/core/src/platform/log-file.ts";
import { observedFileSystem } from "../../support/observed-file-system.ts";

const path = "/d/s.jsonl";

function memoryWith(text: string): MemoryFileSystem {
  const fs = new MemoryFileSystem();
  fs.makeDirectorySync("/d");
  fs.writeFileSync(path, Buffer.from(text));
  return fs;
}

function statOf(fs: MemoryFileSystem, at: string = path): FileStat {
  const stat = fs.statSync(at);
  if (stat === null) throw new Error(`no ${at}`);
  return stat;
}

function replace(fs: MemoryFileSystem, text: string): void {
  fs.writeFileSync("/d/new", Buffer.from(text));
  fs.renameSync("/d/new", path);
}

const textOf = (chunks: Iterable<Buffer>): string => Buffer.concat([...chunks]).toString();

describe("a log as a file", () => {
  it("has the adopted file, and no file before that", () => {
    const fs = memoryWith("one\n");
    const first = statOf(fs);
    const file = new LogFile(fs, path);
    expect(file.isAt(first)).toBe(false);
    file.adopt(first);
    expect(file.isAt(first)).toBe(true);
    replace(fs, "two\n");
    expect(file.isAt(statOf(fs))).toBe(false);
  });

  it("counts the bytes read, blocking and asynchronous", async () => {
    const fs = memoryWith("0123456789\n");
    const file = new LogFile(fs, path, statOf(fs));
    const before = readCounter.bytes;
    expect(file.readSync(Buffer.alloc(4), 0, 4, 0)).toBe(4);
    expect(readCounter.bytes - before).toBe(4);
    expect(await file.read(Buffer.alloc(99), 0, 99, 4)).toBe(7);
    expect(readCounter.bytes - before).toBe(11);
  });

  it("is not readable when its file was replaced or removed", async () => {
    for (const change of [
      (fs: MemoryFileSystem) => replace(fs, "two\n"),
      (fs: MemoryFileSystem) => fs.unlinkSync(path),
    ]) {
      const fs = memoryWith("one\n");
      const file = new LogFile(fs, path, statOf(fs));
      change(fs);
      const gone: unknown = expect.objectContaining({ code: "ERR_LOG_GONE", path });
      expect(() => file.readSync(Buffer.alloc(4), 0, 4, 0)).toThrow(gone);
      await expect(file.read(Buffer.alloc(4), 0, 4, 0)).rejects.toEqual(gone);
      // What is not retained is not open, so it cannot be written back either.
      expect(() => textOf(file.openBytes())).toThrow(gone);
    }
  });

  it("fails as unreadable, with the cause, for other failures", () => {
    const fs = observedFileSystem(memoryWith("one\n"), (call, effect) => {
      if (call.name === "readSync") throw fileError("EIO", "read", path);
      return effect();
    });
    const file = new LogFile(fs, path);
    const cause: unknown = expect.objectContaining({ code: "EIO" });
    const unreadable: unknown = expect.objectContaining({
      code: "ERR_LOG_UNREADABLE",
      path,
      cause,
    });
    expect(() => file.readSync(Buffer.alloc(4), 0, 4, 0)).toThrow(unreadable);
  });

  it("returns all bytes of its open file, whatever has the name", () => {
    const fs = memoryWith("one\n");
    const file = new LogFile(fs, path, statOf(fs));
    const release = file.retain({});
    file.readSync(Buffer.alloc(4), 0, 4, 0);
    replace(fs, "two\n");
    expect(textOf(file.openBytes())).toBe("one\n");
    release();
    expect(() => textOf(file.openBytes())).toThrow(
      expect.objectContaining({ code: "ERR_LOG_GONE" }),
    );
  });

  it("is closed by its last user, and by each of them once", () => {
    const fs = memoryWith("one\n");
    const file = new LogFile(fs, path, statOf(fs));
    const [release, other] = [file.retain({}), file.retain({})];
    file.readSync(Buffer.alloc(4), 0, 4, 0);
    release();
    release();
    expect(fs.openCount).toBe(1);
    other();
    expect(fs.openCount).toBe(0);
  });

  it("appends to the file with the name, syncs it, and keeps it open", async () => {
    const fs = memoryWith("one\n");
    const file = new LogFile(fs, path, statOf(fs));
    expect(file.appendSync(Buffer.from("two\n"))).toBe(4);
    expect(fs.readFileSync(path).toString()).toBe("one\ntwo\n");
    file.syncSync();
    expect(fs.callCount("fdatasyncSync")).toBe(1);
    await file.sync();
    expect(fs.callCount("fdatasync")).toBe(1);
    await expect(file.keepOpen(async () => fs.openCount)).resolves.toBe(1);
  });

  it("has one path for any links to it", () => {
    const memory = memoryWith("one\n");
    const linked = (resolve: (at: string) => string): LogFile => {
      const realpathSync = (at: string): string => resolve(at);
      return new LogFile(
        { ...observedFileSystem(memory, (_, effect) => effect()), realpathSync },
        "/l/s.jsonl",
      );
    };
    const missing = (at: string): never => {
      throw fileError("ENOENT", "realpath", at);
    };
    expect(linked((at) => at.replace("/l", "/d")).path).toBe(path);
    // Of a file that is to be created, its directory's links are resolved.
    const ofDirectory = (at: string): string => (at === "/l" ? "/d" : missing(at));
    expect(linked(ofDirectory).path).toBe(path);
    expect(linked(missing).path).toBe("/l/s.jsonl");
    // A canonical path is not resolved again.
    const elsewhere = {
      ...observedFileSystem(memory, (_, effect) => effect()),
      realpathSync: () => "/elsewhere",
    };
    expect(new LogFile(elsewhere, path, statOf(memory)).path).toBe(path);
  });
});
