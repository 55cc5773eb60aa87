/**
 * A file system whose calls pass through a function: it may fail a call before or after its effect,
 * let a write take fewer bytes, or note what happened. Everything else is as in the one beneath.
 */
import type { FileSystem, OpenMode } from "@branchlog/core/testing";

/** A call about to happen. */
export interface ObservedCall {
  readonly name: keyof FileSystem;
  /** The path given, or that of the descriptor. */
  readonly path: string;
  /** The second path, of calls that take two. */
  readonly to?: string;
  readonly fd?: number;
  /** How a file is opened. */
  readonly mode?: OpenMode;
  /** Bytes that a write was given. */
  readonly bytes?: number;
}

/** Does a call, or not; `effect` takes the most bytes that a write may take. */
export type Around = <T>(call: ObservedCall, effect: (bytesMax?: number) => T) => T;

/** See the file comment. */
export function observedFileSystem(inner: FileSystem, around: Around): FileSystem {
  const paths = new Map<number, string>();
  const at = (name: keyof FileSystem, fd: number): ObservedCall => {
    return { name, fd, path: paths.get(fd) ?? "" };
  };
  return {
    openSync: (path, mode) =>
      around({ name: "openSync", path, mode }, () => {
        const fd = inner.openSync(path, mode);
        paths.set(fd, path);
        return fd;
      }),
    closeSync: (fd) => around(at("closeSync", fd), () => inner.closeSync(fd)),
    readSync: (fd, ...rest) => around(at("readSync", fd), () => inner.readSync(fd, ...rest)),
    read: async (fd, ...rest) => around(at("read", fd), () => inner.read(fd, ...rest)),
    writeSync: (fd, bytes, offset, length) =>
      around({ ...at("writeSync", fd), bytes: length }, (bytesMax = length) =>
        inner.writeSync(fd, bytes, offset, Math.min(length, bytesMax)),
      ),
    updateSync: (fd, bytes, position) =>
      around({ ...at("updateSync", fd), bytes: bytes.length }, (bytesMax = bytes.length) =>
        inner.updateSync(fd, bytes.subarray(0, bytesMax), position),
      ),
    statSync: (path) => around({ name: "statSync", path }, () => inner.statSync(path)),
    fstatSync: (fd) => around(at("fstatSync", fd), () => inner.fstatSync(fd)),
    fdatasyncSync: (fd) => around(at("fdatasyncSync", fd), () => inner.fdatasyncSync(fd)),
    fdatasync: async (fd) => around(at("fdatasync", fd), () => inner.fdatasync(fd)),
    syncDirectorySync: (path) =>
      around({ name: "syncDirectorySync", path }, () => inner.syncDirectorySync(path)),
    linkSync: (path, to) => around({ name: "linkSync", path, to }, () => inner.linkSync(path, to)),
    renameSync: (path, to) =>
      around({ name: "renameSync", path, to }, () => inner.renameSync(path, to)),
    setModeSync: (fd, mode) => around(at("setModeSync", fd), () => inner.setModeSync(fd, mode)),
    unlinkSync: (path) => around({ name: "unlinkSync", path }, () => inner.unlinkSync(path)),
    makeDirectorySync: (path) =>
      around({ name: "makeDirectorySync", path }, () => inner.makeDirectorySync(path)),
    listSync: (path) => around({ name: "listSync", path }, () => inner.listSync(path)),
    realpathSync: (path) => around({ name: "realpathSync", path }, () => inner.realpathSync(path)),
    userId: () => inner.userId(),
  };
}
