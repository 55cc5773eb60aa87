/** Errors as those of `node:fs`, for the memory file system and for injected faults. */
import { constants } from "node:os";

/** Codes of failed calls. */
export type FileErrorCode =
  | "EACCES"
  | "EAGAIN"
  | "EBADF"
  | "EEXIST"
  | "EINVAL"
  | "EIO"
  | "EISDIR"
  | "EMFILE"
  | "ENOENT"
  | "ENOSPC"
  | "ENOTDIR"
  | "ENOTEMPTY"
  | "EPERM"
  | "EROFS";

const texts: Readonly<Record<FileErrorCode, string>> = {
  EACCES: "permission denied",
  EAGAIN: "resource temporarily unavailable",
  EBADF: "bad file descriptor",
  EEXIST: "file already exists",
  EINVAL: "invalid argument",
  EIO: "i/o error",
  EISDIR: "illegal operation on a directory",
  EMFILE: "too many open files",
  ENOENT: "no such file or directory",
  ENOSPC: "no space left on device",
  ENOTDIR: "not a directory",
  ENOTEMPTY: "directory not empty",
  EPERM: "operation not permitted",
  EROFS: "read-only file system",
};

/** An error with `code`, `errno`, `syscall` and, if given, `path` and `dest`, as Node's have. */
export function fileError(
  code: FileErrorCode,
  syscall: string,
  path?: string,
  dest?: string,
): NodeJS.ErrnoException {
  const of = path === undefined ? "" : ` '${path}'`;
  const to = dest === undefined ? "" : ` -> '${dest}'`;
  const error = new Error(`${code}: ${texts[code]}, ${syscall}${of}${to}`);
  const facts = { code, errno: -constants.errno[code], syscall };
  const paths = { ...(path !== undefined && { path }), ...(dest !== undefined && { dest }) };
  return Object.assign(error, facts, paths);
}
