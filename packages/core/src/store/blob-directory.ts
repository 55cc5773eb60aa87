/**
 * Reads the files in which omp keeps large images, and checks that they are what their names say.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import type { FileSystem } from "./ports.ts";

/** What became of reading a blob. Damaged: its bytes are not those that it is named by. */
export type FoundBlob =
  | { readonly state: "found"; readonly bytes: Buffer }
  | { readonly state: "missing" | "damaged" | "unreadable" };

/** The blob with a checksum, 64 lower-case hexadecimal digits. Blocks. Throws nothing. */
export function readBlobSync(fs: FileSystem, directory: string, sha256: string): FoundBlob {
  try {
    const path = join(directory, sha256);
    const stat = fs.statSync(path);
    if (stat === null) return { state: "missing" };
    // Opening a pipe would wait for whoever writes to it.
    if (!stat.isFile) return { state: "unreadable" };
    const bytes = readWhole(fs, path);
    const isIntact = createHash("sha256").update(bytes).digest("hex") === sha256;
    return isIntact ? { state: "found", bytes } : { state: "damaged" };
  } catch {
    return { state: "unreadable" };
  }
}

function readWhole(fs: FileSystem, path: string): Buffer {
  const fd = fs.openSync(path, "read");
  try {
    const bytes = Buffer.alloc(fs.fstatSync(fd).size);
    let done = 0;
    for (;;) {
      const count = fs.readSync(fd, bytes, done, bytes.length - done, done);
      if (count === 0) return bytes.subarray(0, done);
      done += count;
    }
  } finally {
    fs.closeSync(fd);
  }
}
