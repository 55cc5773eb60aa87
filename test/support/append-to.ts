/** Bytes that another program appends to a file, without a lock. */
import type { MemoryFileSystem } from "@branchlog/core/testing";

/** Hooks of the file system are not called. */
export function appendTo(fs: MemoryFileSystem, path: string, text: string): void {
  const { onCall } = fs;
  fs.onCall = undefined;
  const fd = fs.openSync(path, "append");
  const bytes = Buffer.from(text);
  fs.writeSync(fd, bytes, 0, bytes.length);
  fs.closeSync(fd);
  fs.onCall = onCall;
}
