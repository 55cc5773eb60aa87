/** How every file system adapter must fail: with errors as Node throws them, changing nothing. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { failures } from "./file-system-failure-cases.ts";
import { createFile, textAt } from "./file-system-setting.ts";
import type { FileSystemSetting } from "./file-system-setting.ts";

/** The error that `action` throws. */
function thrownBy(action: () => unknown): NodeJS.ErrnoException {
  try {
    action();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error("expected an error");
}

/** The part of the suite about failures. */
export function fileSystemFailures(setUp: () => FileSystemSetting): void {
  it.each(failures)("$name fails with $code and changes nothing", ({ code, syscall, act }) => {
    const setting = setUp();
    createFile(setting, join(setting.root, "file"), "content");
    setting.fs.makeDirectorySync(join(setting.root, "directory", "inner"));
    const error = thrownBy(() => act(setting));
    expect(error.code).toMatch(code);
    expect(error.syscall).toContain(syscall);
    expect(error.errno).toBeTypeOf("number");
    expect(textAt(setting, join(setting.root, "file"))).toBe("content");
    expect(setting.fs.listSync(join(setting.root, "directory"))).toEqual(["inner"]);
  });

  it("says the path, and for two paths both, in its errors", () => {
    const { fs, root } = setUp();
    const [from, to] = [join(root, "from"), join(root, "to")];
    expect(thrownBy(() => fs.openSync(from, "read"))).toMatchObject({ path: from });
    expect(thrownBy(() => fs.renameSync(from, to))).toMatchObject({ path: from, dest: to });
    expect(thrownBy(() => fs.linkSync(from, to))).toMatchObject({ path: from, dest: to });
  });

  it("says null of what does not exist, also in a missing directory or below a file", () => {
    const setting = setUp();
    const { fs, root } = setting;
    createFile(setting, join(root, "file"), "a");
    expect(fs.statSync(join(root, "missing"))).toBeNull();
    expect(fs.statSync(join(root, "missing", "too"))).toBeNull();
    expect(fs.statSync(join(root, "file", "below"))).toBeNull();
  });

  it("refuses a descriptor that is closed", async () => {
    const setting = setUp();
    createFile(setting, join(setting.root, "a"), "a");
    const { fs } = setting;
    const fd = fs.openSync(join(setting.root, "a"), "append");
    fs.closeSync(fd);
    const byte = Buffer.alloc(1);
    expect(thrownBy(() => fs.closeSync(fd))).toMatchObject({ code: "EBADF" });
    expect(thrownBy(() => fs.fstatSync(fd))).toMatchObject({ code: "EBADF" });
    expect(thrownBy(() => fs.readSync(fd, byte, 0, 1, 0))).toMatchObject({ code: "EBADF" });
    expect(thrownBy(() => fs.writeSync(fd, byte, 0, 1))).toMatchObject({ code: "EBADF" });
    expect(thrownBy(() => fs.fdatasyncSync(fd))).toMatchObject({ code: "EBADF" });
    await expect(fs.read(fd, byte, 0, 1, 0)).rejects.toMatchObject({ code: "EBADF" });
    await expect(fs.fdatasync(fd)).rejects.toMatchObject({ code: "EBADF" });
  });
}
