/** The descriptor pool where another device, with the same inode numbers, comes under a path. */
import { describe, expect, it } from "vitest";
import { MemoryFileSystem } from "@branchlog/core/testing";
import type { FileStat, OpenMode } from "@branchlog/core/testing";
import { DescriptorPool } from "../../../packages/core/src/platform/descriptor-pool.ts";
import { isSameFile } from "../../../packages/core/src/platform/ports.ts";
import { textOf } from "./pooled-files.ts";

/** Files with equal names and inodes on two devices, of which one at a time is mounted. */
class MountedFiles extends MemoryFileSystem {
  mounted: number = 1;
  /** The device that `statSync` gives for the mounted one. */
  named: number | undefined;
  readonly #deviceOf = new Map<number, number>();

  override openSync(path: string, mode: OpenMode): number {
    const fd = super.openSync(path, mode);
    this.#deviceOf.set(fd, this.mounted);
    return fd;
  }

  override statSync(path: string): FileStat | null {
    const stat = super.statSync(path);
    return stat && { ...stat, dev: this.named ?? this.mounted };
  }

  override fstatSync(fd: number): FileStat {
    return { ...super.fstatSync(fd), dev: this.#deviceOf.get(fd) ?? 0 };
  }
}

const path = "/a";

function mountedFiles() {
  const fs = new MountedFiles();
  fs.writeFileSync(path, Buffer.from("text"));
  const pool = new DescriptorPool(fs, 3);
  pool.retain(path);
  const read = (file?: FileStat | null): string =>
    pool.useSync(path, "read", file ?? undefined, (fd) => textOf(fs, fd));
  return { fs, pool, read };
}

describe("a file on another device", () => {
  it("is opened again even if its path and inode are known", () => {
    const { fs, read } = mountedFiles();
    read();
    read();
    expect(fs.callCount("openSync")).toBe(1);
    fs.mounted = 2;
    read();
    read(fs.statSync(path));
    expect(fs.callCount("openSync")).toBe(2);
  });

  it("is not read instead of the adopted one", () => {
    const { fs, pool, read } = mountedFiles();
    const adopted = fs.statSync(path);
    read(adopted);
    fs.mounted = 2;
    expect(read(adopted)).toBe("text");
    expect(fs.callCount("openSync")).toBe(1);
    pool.closeIdle();
    expect(() => read(adopted)).toThrow(expect.objectContaining({ code: "ERR_LOG_GONE", path }));
    expect([pool.openCount, fs.openCount]).toEqual([0, 0]);
  });

  it("cannot be distinguished when the system reports no device for paths", () => {
    const { fs, read } = mountedFiles();
    fs.named = 0;
    expect([read(), read(fs.statSync(path))]).toEqual(["text", "text"]);
    expect(fs.callCount("openSync")).toBe(1);
  });
});

it.each([
  [{ dev: 1, ino: 5 }, { dev: 1, ino: 5 }, true],
  [{ dev: 1, ino: 5 }, { dev: 1, ino: 6 }, false],
  [{ dev: 1, ino: 5 }, { dev: 2, ino: 5 }, false],
  [{ dev: 0, ino: 5 }, { dev: 2, ino: 5 }, true],
  [{ dev: 0, ino: 5 }, { dev: 2, ino: 6 }, false],
])("two files are the same by inode and device: %j, %j", (one, other, expected) => {
  expect([isSameFile(one, other), isSameFile(other, one)]).toEqual([expected, expected]);
});
