/** How every file system adapter must refuse: with errors as Node throws them, changing nothing. */
import { deepEqual, equal, match, ok, rejects, throws } from "node:assert/strict";
import { join } from "node:path";
import type { FileSystem, OpenMode } from "@branchlog/core/testing";
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
  setting.fs.makeDirectorySync(join(setting.root, "other"));
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

type Code = Failure["code"];

const opening = (name: string, code: Code, path: string, mode: OpenMode): Failure => {
  return {
    name,
    code,
    syscall: "open",
    act: ({ fs, root }) => fs.openSync(join(root, path), mode),
  };
};
const moving = (
  how: "link" | "rename",
  name: string,
  code: Code,
  from: string,
  to: string,
): Failure => {
  const act = ({ fs, root }: FileSystemSetting): void =>
    fs[`${how}Sync`](join(root, from), join(root, to));
  return { name, code, syscall: how, act };
};
const calls = {
  unlink: "unlinkSync",
  mkdir: "makeDirectorySync",
  scandir: "listSync",
  realpath: "realpathSync",
} as const;
const calling = (syscall: keyof typeof calls, name: string, code: Code, path: string): Failure => {
  return { name, code, syscall, act: ({ fs, root }) => fs[calls[syscall]](join(root, path)) };
};
/** A call with a descriptor of a path. */
const using =
  (path: string, act: (fs: FileSystem, fd: number) => unknown): Failure["act"] =>
  ({ fs, root }) => {
    const fd = fs.openSync(join(root, path), "read");
    try {
      act(fs, fd);
    } finally {
      fs.closeSync(fd);
    }
  };

const isDirectory = /^(EISDIR|EPERM)$/;
const belowFile = /^(ENOTDIR|ENOENT)$/;

/** The calls. The root holds the file `file`, and the directories `directory/inner` and `other`. */
const failures: readonly Failure[] = [
  opening("opening a missing file to read", "ENOENT", "missing", "read"),
  opening("opening a missing file to append", "ENOENT", "missing", "append"),
  opening("creating a file that exists", "EEXIST", "file", "create"),
  opening("creating a file where a directory is", "EEXIST", "directory", "create"),
  opening("creating a file in a missing directory", "ENOENT", "missing/a", "create"),
  opening("opening a directory to append", isDirectory, "directory", "append"),
  opening("opening a file below a file", belowFile, "file/a", "read"),
  moving("link", "linking to a name that is taken", "EEXIST", "file", "directory"),
  moving("link", "linking a missing file", "ENOENT", "missing", "new"),
  moving("rename", "renaming a missing file", "ENOENT", "missing", "new"),
  moving("rename", "renaming into a missing directory", "ENOENT", "file", "missing/new"),
  moving("rename", "renaming a file to a directory", isDirectory, "file", "directory"),
  moving(
    "rename",
    "renaming a directory to a file",
    /^(ENOTDIR|EPERM|EACCES)$/,
    "directory",
    "file",
  ),
  moving(
    "rename",
    "renaming a directory into itself",
    /^(EINVAL|EPERM|EBUSY)$/,
    "directory",
    "directory/inner/new",
  ),
  moving(
    "rename",
    "renaming a directory to one that is not empty",
    /^(ENOTEMPTY|EEXIST|EPERM)$/,
    "other",
    "directory",
  ),
  calling("unlink", "unlinking a missing file", "ENOENT", "missing"),
  calling("unlink", "unlinking a directory", isDirectory, "directory"),
  calling("mkdir", "making a directory where a file is", "EEXIST", "file"),
  calling("mkdir", "making a directory below a file", belowFile, "file/a"),
  calling("scandir", "listing a missing directory", "ENOENT", "missing"),
  calling("scandir", "listing a file", "ENOTDIR", "file"),
  calling("realpath", "canonicalising what does not exist", "ENOENT", "missing"),
  {
    name: "reading a directory",
    code: isDirectory,
    syscall: "read",
    act: using("directory", (fs, fd) => fs.readSync(fd, Buffer.alloc(1), 0, 1, 0)),
  },
  {
    name: "writing to a file opened to read",
    code: /^(EBADF|EPERM)$/,
    syscall: "write",
    act: using("file", (fs, fd) => fs.writeSync(fd, Buffer.from("x"), 0, 1)),
  },
];
