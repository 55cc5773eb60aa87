/** How every file system adapter must refuse: with errors as Node throws them, changing nothing. */
import { deepEqual, equal, match, ok, rejects, throws } from "node:assert/strict";
import { join } from "node:path";
import type { Contract } from "./contract.ts";
import { createFile, textAt } from "./file-system-setting.ts";
import type { FileSystemSetting } from "./file-system-setting.ts";

/** The part of the suite about refusals. */
export function fileSystemRefusals(setUp: () => FileSystemSetting): Contract {
  const refused: Record<string, () => void> = {};
  for (const failure of failures) {
    refused[`fails ${failure.name}, and changes nothing`] = () => checkFailure(setUp(), failure);
  }
  return {
    ...refused,
    "says the path, and for two paths both, in its errors"() {
      const { fs, root } = setUp();
      const [from, to] = [join(root, "from"), join(root, "to")];
      throws(() => fs.openSync(from, "read"), { path: from });
      throws(() => fs.renameSync(from, to), { path: from, dest: to });
      throws(() => fs.linkSync(from, to), { path: from, dest: to });
    },

    "says null of what does not exist, also in a missing directory or below a file"() {
      const setting = setUp();
      const { fs, root } = setting;
      createFile(setting, join(root, "file"), "a");
      equal(fs.statSync(join(root, "missing")), null);
      equal(fs.statSync(join(root, "missing", "too")), null);
      equal(fs.statSync(join(root, "file", "below")), null);
    },

    async "refuses a descriptor that is closed"() {
      const setting = setUp();
      createFile(setting, join(setting.root, "a"), "a");
      const { fs } = setting;
      const fd = fs.openSync(join(setting.root, "a"), "append");
      fs.closeSync(fd);
      const byte = Buffer.alloc(1);
      throws(() => fs.closeSync(fd), { code: "EBADF" });
      throws(() => fs.fstatSync(fd), { code: "EBADF" });
      throws(() => fs.readSync(fd, byte, 0, 1, 0), { code: "EBADF" });
      throws(() => fs.writeSync(fd, byte, 0, 1), { code: "EBADF" });
      throws(() => fs.fdatasyncSync(fd), { code: "EBADF" });
      await rejects(fs.read(fd, byte, 0, 1, 0), { code: "EBADF" });
      await rejects(fs.fdatasync(fd), { code: "EBADF" });
    },
  };
}

function checkFailure(setting: FileSystemSetting, { code, syscall, act }: Failure): void {
  createFile(setting, join(setting.root, "file"), "content");
  setting.fs.makeDirectorySync(join(setting.root, "directory", "inner"));
  throws(
    () => act(setting),
    (error: NodeJS.ErrnoException) => {
      match(error.code ?? "", typeof code === "string" ? new RegExp(`^${code}$`) : code);
      ok(error.syscall?.includes(syscall));
      equal(typeof error.errno, "number");
      return true;
    },
  );
  equal(textAt(setting, join(setting.root, "file")), "content");
  deepEqual(setting.fs.listSync(join(setting.root, "directory")), ["inner"]);
}

/** A call that must fail. */
interface Failure {
  readonly name: string;
  /** Some differ between operating systems. */
  readonly code: string | RegExp;
  readonly syscall: string;
  readonly act: (setting: FileSystemSetting) => unknown;
}

/** The calls. In each case the root holds the file `file` and the directory `directory/inner`. */
const failures: readonly Failure[] = [
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
