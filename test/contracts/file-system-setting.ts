/** What the file system contract works with: an adapter, a root, and files in it. */
import type { FileSystem } from "@branchlog/core/testing";

/** A file system and an existing, empty, canonical directory in it. */
export interface FileSystemSetting {
  readonly fs: FileSystem;
  readonly root: string;
}

/** Writes text to a new file. */
export function createFile({ fs }: FileSystemSetting, path: string, text: string = ""): void {
  const fd = fs.openSync(path, "create");
  const bytes = Buffer.from(text);
  fs.writeSync(fd, bytes, 0, bytes.length);
  fs.closeSync(fd);
}

/** The content of an open file, read in one go. */
export function textOf({ fs }: FileSystemSetting, fd: number): string {
  const target = Buffer.alloc(fs.fstatSync(fd).size);
  return target.toString("utf8", 0, fs.readSync(fd, target, 0, target.length, 0));
}

/** The content of the file at a path. */
export function textAt(setting: FileSystemSetting, path: string): string {
  const fd = setting.fs.openSync(path, "read");
  try {
    return textOf(setting, fd);
  } finally {
    setting.fs.closeSync(fd);
  }
}
