/** Appends of programs that know nothing of the lock, to files in memory. */
import type { MemoryFileSystem } from "@branchlog/core/testing";

/** Appends in one write. */
export function appendForeign(fs: MemoryFileSystem, path: string, content: Buffer | string): void {
  const fd = fs.openSync(path, "append");
  const bytes = Buffer.from(content);
  fs.writeSync(fd, bytes, 0, bytes.length);
  fs.closeSync(fd);
}
