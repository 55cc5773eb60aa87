/**
 * What every file system adapter must do: read, append, write in place, keep names and files apart.
 * How it must refuse is in `file-system-refusals.ts`.
 */
import { deepEqual, equal, notEqual, ok, throws } from "node:assert/strict";
import { join } from "node:path";
import type { Contract } from "./contract.ts";
import { createFile, textAt, textOf } from "./file-system-setting.ts";
import type { FileSystemSetting } from "./file-system-setting.ts";
import { fileSystemRefusals } from "./file-system-refusals.ts";

/** The suite. `setUp` is called inside each check, with a root that is new for each. */
export function fileSystemContract(setUp: () => FileSystemSetting): Contract {
  return {
    ...reads(setUp),
    ...appends(setUp),
    ...writesInPlace(setUp),
    ...names(setUp),
    ...stats(setUp),
    ...directories(setUp),
    ...fileSystemRefusals(setUp),
  };
}

function reads(setUp: () => FileSystemSetting): Contract {
  return {
    "reads back what was written, from any position, up to the end"() {
      const setting = setUp();
      const path = join(setting.root, "a");
      createFile(setting, path, "0123456789");
      const fd = setting.fs.openSync(path, "read");
      const target = Buffer.alloc(8, "-");
      equal(setting.fs.readSync(fd, target, 2, 4, 3), 4);
      equal(target.toString(), "--3456--");
      equal(setting.fs.readSync(fd, target, 0, 8, 8), 2);
      equal(setting.fs.readSync(fd, target, 0, 8, 10), 0);
      equal(setting.fs.readSync(fd, target, 0, 8, 99), 0);
      setting.fs.closeSync(fd);
    },

    async "reads without blocking what it reads blocking"() {
      const setting = setUp();
      createFile(setting, join(setting.root, "a"), "0123456789");
      const fd = setting.fs.openSync(join(setting.root, "a"), "read");
      const target = Buffer.alloc(3);
      equal(await setting.fs.read(fd, target, 0, 3, 8), 2);
      equal(target.toString("utf8", 0, 2), "89");
      setting.fs.closeSync(fd);
    },

    "writes the part of the buffer that it is given"() {
      const setting = setUp();
      const path = join(setting.root, "a");
      const fd = setting.fs.openSync(path, "create");
      equal(setting.fs.writeSync(fd, Buffer.from("0123456789"), 3, 4), 4);
      equal(textOf(setting, fd), "3456");
      setting.fs.closeSync(fd);
    },
  };
}

function appends(setUp: () => FileSystemSetting): Contract {
  return {
    "appends at the end the file has, not the one it had when it was opened"() {
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
      equal(textOf(setting, one), "abbccc");
      setting.fs.closeSync(one);
      setting.fs.closeSync(other);
    },

    "stores large content byte for byte"() {
      const setting = setUp();
      const bytes = Buffer.from(Array.from({ length: 300_007 }, (_, at) => (at * 31) % 251));
      const fd = setting.fs.openSync(join(setting.root, "a"), "create");
      for (let at = 0; at < bytes.length; at += 70_001) {
        setting.fs.writeSync(fd, bytes, at, Math.min(70_001, bytes.length - at));
      }
      const target = Buffer.alloc(bytes.length);
      equal(setting.fs.readSync(fd, target, 0, target.length, 0), bytes.length);
      equal(target.equals(bytes), true);
      setting.fs.closeSync(fd);
    },

    async "syncs files and directories"() {
      const setting = setUp();
      const fd = setting.fs.openSync(join(setting.root, "a"), "create");
      setting.fs.fdatasyncSync(fd);
      await setting.fs.fdatasync(fd);
      setting.fs.syncDirectorySync(setting.root);
      setting.fs.closeSync(fd);
    },
  };
}

function writesInPlace(setUp: () => FileSystemSetting): Contract {
  return {
    "overwrites bytes in their place, and nothing else"() {
      const setting = setUp();
      const path = join(setting.root, "a");
      createFile(setting, path, "0123456789");
      const fd = setting.fs.openSync(path, "update");
      equal(setting.fs.updateSync(fd, Buffer.from("abc"), 2), 3);
      equal(textOf(setting, fd), "01abc56789");
      equal(setting.fs.updateSync(fd, Buffer.from("XYZ"), 8), 3);
      equal(textOf(setting, fd), "01abc567XYZ");
      equal(setting.fs.updateSync(fd, Buffer.alloc(0), 0), 0);
      setting.fs.closeSync(fd);
    },

    "overwrites across a hundred kilobytes"() {
      const setting = setUp();
      const path = join(setting.root, "a");
      createFile(setting, path, "-".repeat(200_000));
      const fd = setting.fs.openSync(path, "update");
      setting.fs.updateSync(fd, Buffer.alloc(100_000, "+"), 50_000);
      equal(textOf(setting, fd), "-".repeat(50_000) + "+".repeat(100_000) + "-".repeat(50_000));
      setting.fs.closeSync(fd);
    },

    "shows in what others read, and moves the times of the file"() {
      const setting = setUp();
      const path = join(setting.root, "a");
      createFile(setting, path, "0123456789");
      const reading = setting.fs.openSync(path, "read");
      const fd = setting.fs.openSync(path, "update");
      setting.fs.updateSync(fd, Buffer.from("ab"), 0);
      equal(textOf(setting, reading), "ab23456789");
      equal(setting.fs.fstatSync(fd).size, 10);
      setting.fs.closeSync(fd);
      setting.fs.closeSync(reading);
    },

    "is not done through a descriptor for something else"() {
      const setting = setUp();
      const path = join(setting.root, "a");
      createFile(setting, path, "0123456789");
      const reading = setting.fs.openSync(path, "read");
      throws(() => setting.fs.updateSync(reading, Buffer.from("ab"), 0), { code: "EBADF" });
      throws(() => setting.fs.openSync(join(setting.root, "missing"), "update"), {
        code: "ENOENT",
      });
      setting.fs.closeSync(reading);
    },
  };
}

function names(setUp: () => FileSystemSetting): Contract {
  return {
    "keeps an unlinked file for open descriptors"() {
      const setting = setUp();
      const path = join(setting.root, "a");
      createFile(setting, path, "old");
      const fd = setting.fs.openSync(path, "append");
      setting.fs.unlinkSync(path);
      setting.fs.writeSync(fd, Buffer.from("er"), 0, 2);
      equal(textOf(setting, fd), "older");
      equal(setting.fs.statSync(path), null);
      setting.fs.closeSync(fd);
    },

    "replaces a file by renaming, and keeps the old one for open descriptors"() {
      const setting = setUp();
      const [from, to] = [join(setting.root, "from"), join(setting.root, "to")];
      createFile(setting, from, "new");
      createFile(setting, to, "old");
      const fd = setting.fs.openSync(to, "read");
      const { ino } = setting.fs.fstatSync(fd);
      setting.fs.renameSync(from, to);
      equal(textOf(setting, fd), "old");
      equal(textAt(setting, to), "new");
      equal(setting.fs.statSync(from), null);
      notEqual(setting.fs.statSync(to)?.ino, ino);
      setting.fs.closeSync(fd);
    },

    "links a second name to one file"() {
      const setting = setUp();
      const [one, other] = [join(setting.root, "one"), join(setting.root, "other")];
      createFile(setting, one, "text");
      setting.fs.linkSync(one, other);
      equal(setting.fs.statSync(other)?.ino, setting.fs.statSync(one)?.ino);
      setting.fs.unlinkSync(one);
      equal(textAt(setting, other), "text");
    },

    "leaves two names of one file alone when one is renamed to the other"() {
      const setting = setUp();
      const [one, other] = [join(setting.root, "one"), join(setting.root, "other")];
      createFile(setting, one, "text");
      setting.fs.linkSync(one, other);
      setting.fs.renameSync(one, other);
      deepEqual([...setting.fs.listSync(setting.root)].sort(), ["one", "other"]);
    },
  };
}

function stats(setUp: () => FileSystemSetting): Contract {
  return {
    "tells files apart by inode, and the same file by the same inode"() {
      const setting = setUp();
      const [one, other] = [join(setting.root, "one"), join(setting.root, "other")];
      createFile(setting, one);
      createFile(setting, other);
      const fd = setting.fs.openSync(one, "read");
      equal(setting.fs.fstatSync(fd).ino, setting.fs.statSync(one)?.ino);
      notEqual(setting.fs.statSync(other)?.ino, setting.fs.statSync(one)?.ino);
      equal(setting.fs.statSync(other)?.dev, setting.fs.statSync(one)?.dev);
      setting.fs.closeSync(fd);
    },

    "says the size, the kind and the times of a file"() {
      const setting = setUp();
      const path = join(setting.root, "a");
      createFile(setting, path, "four");
      const stat = setting.fs.statSync(path);
      deepEqual([stat?.size, stat?.isFile, stat?.isDirectory], [4, true, false]);
      const fd = setting.fs.openSync(path, "append");
      setting.fs.writeSync(fd, Buffer.from("!"), 0, 1);
      const after = setting.fs.fstatSync(fd);
      equal(after.size, 5);
      ok(after.mtimeMs >= (stat?.mtimeMs ?? Number.NaN));
      ok(after.ctimeMs >= (stat?.ctimeMs ?? Number.NaN));
      setting.fs.closeSync(fd);
    },
  };
}

function directories(setUp: () => FileSystemSetting): Contract {
  return {
    "makes directories with their parents, and does not mind existing ones"() {
      const setting = setUp();
      const path = join(setting.root, "a", "b", "c");
      setting.fs.makeDirectorySync(path);
      setting.fs.makeDirectorySync(path);
      const stat = setting.fs.statSync(path);
      deepEqual([stat?.isFile, stat?.isDirectory], [false, true]);
      deepEqual(setting.fs.listSync(join(setting.root, "a")), ["b"]);
    },

    "lists the names in a directory, not those further down"() {
      const setting = setUp();
      createFile(setting, join(setting.root, "file"));
      setting.fs.makeDirectorySync(join(setting.root, "directory", "below"));
      deepEqual([...setting.fs.listSync(setting.root)].sort(), ["directory", "file"]);
    },

    "canonicalises paths of what exists"() {
      const setting = setUp();
      createFile(setting, join(setting.root, "a"));
      const crooked = `${setting.root}/./x/../a`;
      setting.fs.makeDirectorySync(join(setting.root, "x"));
      equal(setting.fs.realpathSync(crooked), join(setting.root, "a"));
    },

    ...(process.platform !== "win32" && {
      "Verifies: P23. Modes are 0600 and 0700"() {
        const setting = setUp();
        setting.fs.makeDirectorySync(join(setting.root, "d", "e"));
        createFile(setting, join(setting.root, "d", "e", "f"));
        const modeOf = (path: string): number => (setting.fs.statSync(path)?.mode ?? 0) & 0o777;
        equal(modeOf(join(setting.root, "d")), 0o700);
        equal(modeOf(join(setting.root, "d", "e")), 0o700);
        equal(modeOf(join(setting.root, "d", "e", "f")), 0o600);
      },

      "sets the permissions of an open file"() {
        const { fs, root } = setUp();
        const fd = fs.openSync(join(root, "f"), "create");
        fs.setModeSync(fd, 0o100664);
        fs.closeSync(fd);
        equal((fs.statSync(join(root, "f"))?.mode ?? 0) & 0o7777, 0o664);
      },
    }),
  };
}
