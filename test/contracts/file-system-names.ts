/** How every file system adapter must keep names and files apart. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { createFile, textAt, textOf } from "./file-system-setting.ts";
import type { FileSystemSetting } from "./file-system-setting.ts";

/** Unlinking, renaming and linking. */
export function fileNames(setUp: () => FileSystemSetting): void {
  it("keeps an unlinked file for those who have it open", () => {
    const setting = setUp();
    const path = join(setting.root, "a");
    createFile(setting, path, "old");
    const fd = setting.fs.openSync(path, "append");
    setting.fs.unlinkSync(path);
    setting.fs.writeSync(fd, Buffer.from("er"), 0, 2);
    expect(textOf(setting, fd)).toBe("older");
    expect(setting.fs.statSync(path)).toBeNull();
    setting.fs.closeSync(fd);
  });

  it("replaces a file by renaming, and leaves the old one to those who have it open", () => {
    const setting = setUp();
    const [from, to] = [join(setting.root, "from"), join(setting.root, "to")];
    createFile(setting, from, "new");
    createFile(setting, to, "old");
    const fd = setting.fs.openSync(to, "read");
    const { ino } = setting.fs.fstatSync(fd);
    setting.fs.renameSync(from, to);
    expect(textOf(setting, fd)).toBe("old");
    expect(textAt(setting, to)).toBe("new");
    expect(setting.fs.statSync(from)).toBeNull();
    expect(setting.fs.statSync(to)?.ino).not.toBe(ino);
    setting.fs.closeSync(fd);
  });

  it("links a second name to one file", () => {
    const setting = setUp();
    const [one, other] = [join(setting.root, "one"), join(setting.root, "other")];
    createFile(setting, one, "text");
    setting.fs.linkSync(one, other);
    expect(setting.fs.statSync(other)?.ino).toBe(setting.fs.statSync(one)?.ino);
    setting.fs.unlinkSync(one);
    expect(textAt(setting, other)).toBe("text");
  });

  it("leaves two names of one file alone when one is renamed to the other", () => {
    const setting = setUp();
    const [one, other] = [join(setting.root, "one"), join(setting.root, "other")];
    createFile(setting, one, "text");
    setting.fs.linkSync(one, other);
    setting.fs.renameSync(one, other);
    expect([...setting.fs.listSync(setting.root)].sort()).toEqual(["one", "other"]);
  });
}

/** What is said of a file. */
export function fileStats(setUp: () => FileSystemSetting): void {
  it("tells files apart by inode, and the same file by the same inode", () => {
    const setting = setUp();
    const [one, other] = [join(setting.root, "one"), join(setting.root, "other")];
    createFile(setting, one);
    createFile(setting, other);
    const fd = setting.fs.openSync(one, "read");
    expect(setting.fs.fstatSync(fd).ino).toBe(setting.fs.statSync(one)?.ino);
    expect(setting.fs.statSync(other)?.ino).not.toBe(setting.fs.statSync(one)?.ino);
    expect(setting.fs.statSync(other)?.dev).toBe(setting.fs.statSync(one)?.dev);
    setting.fs.closeSync(fd);
  });

  it("says the size, the kind and the times of a file", () => {
    const setting = setUp();
    const path = join(setting.root, "a");
    createFile(setting, path, "four");
    const stat = setting.fs.statSync(path);
    expect(stat).toMatchObject({ size: 4, isFile: true, isDirectory: false });
    const fd = setting.fs.openSync(path, "append");
    setting.fs.writeSync(fd, Buffer.from("!"), 0, 1);
    const after = setting.fs.fstatSync(fd);
    expect(after.size).toBe(5);
    expect(after.mtimeMs).toBeGreaterThanOrEqual(stat?.mtimeMs ?? Number.NaN);
    expect(after.ctimeMs).toBeGreaterThanOrEqual(stat?.ctimeMs ?? Number.NaN);
    setting.fs.closeSync(fd);
  });
}
