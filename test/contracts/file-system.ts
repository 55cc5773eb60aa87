/**
 * What every file system adapter must do. Run it with a root directory that is new for each test.
 */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fileAppending, fileReading, fileUpdating } from "./file-system-content.ts";
import { fileSystemFailures } from "./file-system-failures.ts";
import { fileNames, fileStats } from "./file-system-names.ts";
import { createFile } from "./file-system-setting.ts";
import type { FileSystemSetting } from "./file-system-setting.ts";

/** The suite. `setUp` is called inside each test. */
export function fileSystemContract(name: string, setUp: () => FileSystemSetting): void {
  describe(`${name} as a file system`, () => {
    describe("reading", () => {
      fileReading(setUp);
    });
    describe("appending", () => {
      fileAppending(setUp);
    });
    describe("writing in place", () => {
      fileUpdating(setUp);
    });
    describe("names", () => {
      fileNames(setUp);
    });
    describe("stat", () => {
      fileStats(setUp);
    });
    describe("directories", () => {
      directories(setUp);
    });
    describe("failures", () => {
      fileSystemFailures(setUp);
    });
  });
}

function directories(setUp: () => FileSystemSetting): void {
  it("makes directories with their parents, and does not mind existing ones", () => {
    const setting = setUp();
    const path = join(setting.root, "a", "b", "c");
    setting.fs.makeDirectorySync(path);
    setting.fs.makeDirectorySync(path);
    expect(setting.fs.statSync(path)).toMatchObject({ isFile: false, isDirectory: true });
    expect(setting.fs.listSync(join(setting.root, "a"))).toEqual(["b"]);
  });

  it("lists the names in a directory, not those further down", () => {
    const setting = setUp();
    createFile(setting, join(setting.root, "file"));
    setting.fs.makeDirectorySync(join(setting.root, "directory", "below"));
    expect([...setting.fs.listSync(setting.root)].sort()).toEqual(["directory", "file"]);
  });

  it("canonicalises paths of what exists", () => {
    const setting = setUp();
    createFile(setting, join(setting.root, "a"));
    const crooked = `${setting.root}/./x/../a`;
    setting.fs.makeDirectorySync(join(setting.root, "x"));
    expect(setting.fs.realpathSync(crooked)).toBe(join(setting.root, "a"));
  });

  it.runIf(process.platform !== "win32")("Verifies: P23. Modes are 0600 and 0700", () => {
    const setting = setUp();
    setting.fs.makeDirectorySync(join(setting.root, "d", "e"));
    createFile(setting, join(setting.root, "d", "e", "f"));
    const modeOf = (path: string): number => (setting.fs.statSync(path)?.mode ?? 0) & 0o777;
    expect(modeOf(join(setting.root, "d"))).toBe(0o700);
    expect(modeOf(join(setting.root, "d", "e"))).toBe(0o700);
    expect(modeOf(join(setting.root, "d", "e", "f"))).toBe(0o600);
  });

  it.runIf(process.platform !== "win32")("sets the permissions of an open file", () => {
    const { fs, root } = setUp();
    const fd = fs.openSync(join(root, "f"), "create");
    fs.setModeSync(fd, 0o100664);
    fs.closeSync(fd);
    expect((fs.statSync(join(root, "f"))?.mode ?? 0) & 0o7777).toBe(0o664);
  });
}
