/** The file system port over `node:fs`, without retries, caching, or translation of errors. */
import fs from "node:fs";
import { errorCodeOf } from "./ports.ts";
import type { FileStat, FileSystem, OpenMode } from "./ports.ts";

const { O_APPEND, O_CREAT, O_EXCL, O_RDONLY, O_RDWR, S_IFDIR, S_IFMT, S_IFREG } = fs.constants;
/** Windows has neither of the two, and bitwise operators take undefined for 0. */
const { O_NOFOLLOW, O_NONBLOCK } = fs.constants;
const openFlags: Readonly<Record<OpenMode, number>> = {
  read: O_RDONLY,
  append: O_RDWR | O_APPEND,
  create: O_RDWR | O_APPEND | O_CREAT | O_EXCL,
  update: O_RDWR,
  nofollow: O_RDONLY | O_NOFOLLOW | O_NONBLOCK,
};
const fileMode = 0o600;
const permissionBits = 0o7777;
const directoryMode = 0o700;

const isWindows = process.platform === "win32";

type Stats = Pick<fs.Stats, "dev" | "ino" | "size" | "mtimeMs" | "ctimeMs" | "mode" | "uid">;

function fileStat({ dev, ino, size, mtimeMs, ctimeMs, mode, uid }: Stats): FileStat {
  const type = mode & S_IFMT;
  const [isFile, isDirectory] = [type === S_IFREG, type === S_IFDIR];
  return { dev, ino, size, mtimeMs, ctimeMs, isFile, isDirectory, mode, uid };
}

/**
 * NTFS numbers files with 64 bits, of which the lower 48 are the place of its record: those that
 * fit into a double still tell existing files apart.
 */
function exactStat(stats: fs.BigIntStats): FileStat {
  return fileStat({
    dev: Number(stats.dev),
    ino: Number(BigInt.asUintN(53, stats.ino)),
    size: Number(stats.size),
    mtimeMs: Number(stats.mtimeNs) / 1e6,
    ctimeMs: Number(stats.ctimeNs) / 1e6,
    mode: Number(stats.mode),
    uid: Number(stats.uid),
  });
}

function statOf(path: string): FileStat | undefined {
  if (isWindows) {
    const stats = fs.statSync(path, { bigint: true, throwIfNoEntry: false });
    return stats && exactStat(stats);
  }
  const stats = fs.statSync(path, { throwIfNoEntry: false });
  return stats && fileStat(stats);
}

function fstatSync(fd: number): FileStat {
  return isWindows ? exactStat(fs.fstatSync(fd, { bigint: true })) : fileStat(fs.fstatSync(fd));
}

function read(
  fd: number,
  target: Buffer,
  offset: number,
  length: number,
  position: number,
): Promise<number> {
  return new Promise((resolve, reject) => {
    fs.read(fd, target, offset, length, position, (error, count) => {
      if (error === null) resolve(count);
      else reject(error);
    });
  });
}

function fdatasync(fd: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fs.fdatasync(fd, (error) => {
      if (error === null) resolve();
      else reject(error);
    });
  });
}

function syncDirectorySync(path: string): void {
  // Windows cannot open a directory for syncing; its names are journaled by the file system.
  if (isWindows) return;
  const fd = fs.openSync(path, O_RDONLY);
  try {
    fs.fsyncSync(fd);
  } catch (error) {
    // fsync(2): the descriptor is of a kind that cannot be synced.
    if (errorCodeOf(error) !== "EINVAL") throw error;
  } finally {
    fs.closeSync(fd);
  }
}

export const nodeFileSystem: FileSystem = {
  openSync: (path, mode) => fs.openSync(path, openFlags[mode], fileMode),
  closeSync: (fd) => fs.closeSync(fd),
  readSync: (fd, target, offset, length, position) =>
    fs.readSync(fd, target, offset, length, position),
  read,
  writeSync: (fd, bytes, offset, length) => fs.writeSync(fd, bytes, offset, length),
  updateSync: (fd, bytes, position) => fs.writeSync(fd, bytes, 0, bytes.length, position),
  statSync(path) {
    try {
      return statOf(path) ?? null;
    } catch (error) {
      // Since Node 24, a name below a file is a missing entry, too.
      if (errorCodeOf(error) === "ENOTDIR") return null;
      throw error;
    }
  },
  fstatSync,
  fdatasyncSync: (fd) => fs.fdatasyncSync(fd),
  fdatasync,
  syncDirectorySync,
  linkSync: (from, to) => fs.linkSync(from, to),
  renameSync: (from, to) => fs.renameSync(from, to),
  unlinkSync: (path) => fs.unlinkSync(path),
  setModeSync: (fd, mode) => fs.fchmodSync(fd, mode & permissionBits),
  makeDirectorySync(path) {
    fs.mkdirSync(path, { recursive: true, mode: directoryMode });
  },
  listSync: (path) => fs.readdirSync(path),
  realpathSync: (path) => fs.realpathSync.native(path),
  userId: () => process.geteuid?.(),
};
