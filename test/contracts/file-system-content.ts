/** How every file system adapter must read and append. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { createFile, textOf } from "./file-system-setting.ts";
import type { FileSystemSetting } from "./file-system-setting.ts";

/** Reading, in both forms. */
export function fileReading(setUp: () => FileSystemSetting): void {
  it("reads back what was written, from any position, up to the end", () => {
    const setting = setUp();
    const path = join(setting.root, "a");
    createFile(setting, path, "0123456789");
    const fd = setting.fs.openSync(path, "read");
    const target = Buffer.alloc(8, "-");
    expect(setting.fs.readSync(fd, target, 2, 4, 3)).toBe(4);
    expect(target.toString()).toBe("--3456--");
    expect(setting.fs.readSync(fd, target, 0, 8, 8)).toBe(2);
    expect(setting.fs.readSync(fd, target, 0, 8, 10)).toBe(0);
    expect(setting.fs.readSync(fd, target, 0, 8, 99)).toBe(0);
    setting.fs.closeSync(fd);
  });

  it("reads without blocking what it reads blocking", async () => {
    const setting = setUp();
    createFile(setting, join(setting.root, "a"), "0123456789");
    const fd = setting.fs.openSync(join(setting.root, "a"), "read");
    const target = Buffer.alloc(3);
    await expect(setting.fs.read(fd, target, 0, 3, 8)).resolves.toBe(2);
    expect(target.toString("utf8", 0, 2)).toBe("89");
    setting.fs.closeSync(fd);
  });

  it("writes the part of the buffer that it is given", () => {
    const setting = setUp();
    const path = join(setting.root, "a");
    const fd = setting.fs.openSync(path, "create");
    expect(setting.fs.writeSync(fd, Buffer.from("0123456789"), 3, 4)).toBe(4);
    expect(textOf(setting, fd)).toBe("3456");
    setting.fs.closeSync(fd);
  });
}

/** Writing in place. */
export function fileUpdating(setUp: () => FileSystemSetting): void {
  it("overwrites bytes in their place, and nothing else", () => {
    const setting = setUp();
    const path = join(setting.root, "a");
    createFile(setting, path, "0123456789");
    const fd = setting.fs.openSync(path, "update");
    expect(setting.fs.updateSync(fd, Buffer.from("abc"), 2)).toBe(3);
    expect(textOf(setting, fd)).toBe("01abc56789");
    expect(setting.fs.updateSync(fd, Buffer.from("XYZ"), 8)).toBe(3);
    expect(textOf(setting, fd)).toBe("01abc567XYZ");
    expect(setting.fs.updateSync(fd, Buffer.alloc(0), 0)).toBe(0);
    setting.fs.closeSync(fd);
  });

  it("overwrites across a hundred kilobytes", () => {
    const setting = setUp();
    const path = join(setting.root, "a");
    createFile(setting, path, "-".repeat(200_000));
    const fd = setting.fs.openSync(path, "update");
    setting.fs.updateSync(fd, Buffer.alloc(100_000, "+"), 50_000);
    expect(textOf(setting, fd)).toBe("-".repeat(50_000) + "+".repeat(100_000) + "-".repeat(50_000));
    setting.fs.closeSync(fd);
  });

  it("shows in what others read, and moves the times of the file", () => {
    const setting = setUp();
    const path = join(setting.root, "a");
    createFile(setting, path, "0123456789");
    const reading = setting.fs.openSync(path, "read");
    const fd = setting.fs.openSync(path, "update");
    setting.fs.updateSync(fd, Buffer.from("ab"), 0);
    expect(textOf(setting, reading)).toBe("ab23456789");
    expect(setting.fs.fstatSync(fd)).toMatchObject({ size: 10 });
    setting.fs.closeSync(fd);
    setting.fs.closeSync(reading);
  });

  it("is not done through a descriptor for something else", () => {
    const setting = setUp();
    const path = join(setting.root, "a");
    createFile(setting, path, "0123456789");
    const reading = setting.fs.openSync(path, "read");
    expect(() => setting.fs.updateSync(reading, Buffer.from("ab"), 0)).toThrow("EBADF");
    expect(() => setting.fs.openSync(join(setting.root, "missing"), "update")).toThrow("ENOENT");
    setting.fs.closeSync(reading);
  });
}

/** Appending, and making it durable. */
export function fileAppending(setUp: () => FileSystemSetting): void {
  it("appends at the end the file has, not the one it had when it was opened", () => {
    const setting = setUp();
    const path = join(setting.root, "a");
    createFile(setting, path);
    const one = setting.fs.openSync(path, "append");
    const other = setting.fs.openSync(path, "append");
    for (const [fd, text] of [
      [one, "a"],
      [other, "bb"],
      [one, "ccc"],
    ] as const) {
      setting.fs.writeSync(fd, Buffer.from(text), 0, text.length);
    }
    expect(textOf(setting, one)).toBe("abbccc");
    setting.fs.closeSync(one);
    setting.fs.closeSync(other);
  });

  it("stores large content byte for byte", () => {
    const setting = setUp();
    const bytes = Buffer.from(Array.from({ length: 300_007 }, (_, at) => (at * 31) % 251));
    const fd = setting.fs.openSync(join(setting.root, "a"), "create");
    for (let at = 0; at < bytes.length; at += 70_001) {
      setting.fs.writeSync(fd, bytes, at, Math.min(70_001, bytes.length - at));
    }
    const target = Buffer.alloc(bytes.length);
    expect(setting.fs.readSync(fd, target, 0, target.length, 0)).toBe(bytes.length);
    expect(target.equals(bytes)).toBe(true);
    setting.fs.closeSync(fd);
  });

  it("syncs files and directories", async () => {
    const setting = setUp();
    const fd = setting.fs.openSync(join(setting.root, "a"), "create");
    setting.fs.fdatasyncSync(fd);
    await setting.fs.fdatasync(fd);
    setting.fs.syncDirectorySync(setting.root);
    setting.fs.closeSync(fd);
  });
}
