/** Bytes that another program, which knows nothing of the lock, appends to a file in memory. */
import type { MemoryFileSystem } from "@branchlog/core/testing";

/** Appends in one write. Hooks of the file system are not called. */
export function appendTo(fs: MemoryFileSystem, path: string, content: Buffer | string): void {
  const { onCall } = fs;
  fs.onCall = undefined;
  const fd = fs.openSync(path, "append");
  const bytes = Buffer.from(content);
  fs.writeSync(fd, bytes, 0, bytes.length);
  fs.closeSync(fd);
  fs.onCall = onCall;
}

/** Appends to the file that has the path at the first time, whatever has its name later. */
export function appenderToOpenFile(
  path: string,
): (fs: MemoryFileSystem, content: Buffer | string) => void {
  let fd: number | undefined;
  return (fs, content) => {
    fd ??= fs.openSync(path, "append");
    const bytes = Buffer.from(content);
    fs.writeSync(fd, bytes, 0, bytes.length);
  };
}
