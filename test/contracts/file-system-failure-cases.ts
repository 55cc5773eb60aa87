/** Calls that every file system adapter must refuse, and how. */
import { join } from "node:path";
import type { FileSystemSetting } from "./file-system-setting.ts";

/** A call that must fail. */
export interface Failure {
  readonly name: string;
  /** Some differ between operating systems. */
  readonly code: string | RegExp;
  readonly syscall: string;
  readonly act: (setting: FileSystemSetting) => unknown;
}

/** The calls. In each case the root holds the file `file` and the directory `directory/inner`. */
export const failures: readonly Failure[] = [
  {
    name: "opening a missing file to read",
    code: "ENOENT",
    syscall: "open",
    act: ({ fs, root }) => fs.openSync(join(root, "missing"), "read"),
  },
  {
    name: "opening a missing file to append",
    code: "ENOENT",
    syscall: "open",
    act: ({ fs, root }) => fs.openSync(join(root, "missing"), "append"),
  },
  {
    name: "creating a file that exists",
    code: "EEXIST",
    syscall: "open",
    act: ({ fs, root }) => fs.openSync(join(root, "file"), "create"),
  },
  {
    name: "creating a file where a directory is",
    code: "EEXIST",
    syscall: "open",
    act: ({ fs, root }) => fs.openSync(join(root, "directory"), "create"),
  },
  {
    name: "creating a file in a missing directory",
    code: "ENOENT",
    syscall: "open",
    act: ({ fs, root }) => fs.openSync(join(root, "missing", "a"), "create"),
  },
  {
    name: "opening a directory to append",
    code: /^(EISDIR|EPERM)$/,
    syscall: "open",
    act: ({ fs, root }) => fs.openSync(join(root, "directory"), "append"),
  },
  {
    name: "opening a file below a file",
    code: /^(ENOTDIR|ENOENT)$/,
    syscall: "open",
    act: ({ fs, root }) => fs.openSync(join(root, "file", "a"), "read"),
  },
  {
    name: "linking to a name that is taken",
    code: "EEXIST",
    syscall: "link",
    act: ({ fs, root }) => fs.linkSync(join(root, "file"), join(root, "directory")),
  },
  {
    name: "linking a missing file",
    code: "ENOENT",
    syscall: "link",
    act: ({ fs, root }) => fs.linkSync(join(root, "missing"), join(root, "new")),
  },
  {
    name: "renaming a missing file",
    code: "ENOENT",
    syscall: "rename",
    act: ({ fs, root }) => fs.renameSync(join(root, "missing"), join(root, "new")),
  },
  {
    name: "renaming into a missing directory",
    code: "ENOENT",
    syscall: "rename",
    act: ({ fs, root }) => fs.renameSync(join(root, "file"), join(root, "missing", "new")),
  },
  {
    name: "renaming a file to a directory",
    code: /^(EISDIR|EPERM)$/,
    syscall: "rename",
    act: ({ fs, root }) => fs.renameSync(join(root, "file"), join(root, "directory")),
  },
  {
    name: "renaming a directory to a file",
    code: /^(ENOTDIR|EPERM|EACCES)$/,
    syscall: "rename",
    act: ({ fs, root }) => fs.renameSync(join(root, "directory"), join(root, "file")),
  },
  {
    name: "renaming a directory into itself",
    code: /^(EINVAL|EPERM|EBUSY)$/,
    syscall: "rename",
    act: ({ fs, root }) =>
      fs.renameSync(join(root, "directory"), join(root, "directory", "inner", "new")),
  },
  {
    name: "renaming a directory to one that is not empty",
    code: /^(ENOTEMPTY|EEXIST|EPERM)$/,
    syscall: "rename",
    act({ fs, root }) {
      fs.makeDirectorySync(join(root, "other"));
      fs.renameSync(join(root, "other"), join(root, "directory"));
    },
  },
  {
    name: "unlinking a missing file",
    code: "ENOENT",
    syscall: "unlink",
    act: ({ fs, root }) => fs.unlinkSync(join(root, "missing")),
  },
  {
    name: "unlinking a directory",
    code: /^(EISDIR|EPERM)$/,
    syscall: "unlink",
    act: ({ fs, root }) => fs.unlinkSync(join(root, "directory")),
  },
  {
    name: "making a directory where a file is",
    code: "EEXIST",
    syscall: "mkdir",
    act: ({ fs, root }) => fs.makeDirectorySync(join(root, "file")),
  },
  {
    name: "making a directory below a file",
    code: /^(ENOTDIR|ENOENT)$/,
    syscall: "mkdir",
    act: ({ fs, root }) => fs.makeDirectorySync(join(root, "file", "a")),
  },
  {
    name: "listing a missing directory",
    code: "ENOENT",
    syscall: "scandir",
    act: ({ fs, root }) => fs.listSync(join(root, "missing")),
  },
  {
    name: "listing a file",
    code: "ENOTDIR",
    syscall: "scandir",
    act: ({ fs, root }) => fs.listSync(join(root, "file")),
  },
  {
    name: "canonicalising what does not exist",
    code: "ENOENT",
    syscall: "realpath",
    act: ({ fs, root }) => fs.realpathSync(join(root, "missing")),
  },
  {
    name: "reading a directory",
    code: /^(EISDIR|EPERM)$/,
    syscall: "read",
    act({ fs, root }) {
      const fd = fs.openSync(join(root, "directory"), "read");
      try {
        fs.readSync(fd, Buffer.alloc(1), 0, 1, 0);
      } finally {
        fs.closeSync(fd);
      }
    },
  },
  {
    name: "writing to a file opened to read",
    code: /^(EBADF|EPERM)$/,
    syscall: "write",
    act({ fs, root }) {
      const fd = fs.openSync(join(root, "file"), "read");
      try {
        fs.writeSync(fd, Buffer.from("x"), 0, 1);
      } finally {
        fs.closeSync(fd);
      }
    },
  },
];
