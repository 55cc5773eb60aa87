/** Writes files from packs to their paths, completely or not at all, never over another file. */
import { createHash } from "node:crypto";
import { createReadStream, utimesSync } from "node:fs";
import { dirname } from "node:path";
import { AtomicFile, creating, makeDurableDirectory } from "@branchlog/core/files";
import { statOf } from "./file-state.ts";
import type { Archive } from "./archive-directory.ts";
import type { PackedFile } from "./operation.ts";
import { readPacked } from "./pack.ts";
import type { PackTarget } from "./pack.ts";
import { placeTaken } from "./removal-errors.ts";

/**
 * With their bytes, permissions and times of change. Throws `ERR_LOG_EXISTS`,
 * `ERR_ARCHIVE_DAMAGED`, `ERR_CREATE_FAILED`; those before are restored then.
 */
export async function restoreFiles(
  kept: Archive,
  files: readonly PackedFile[],
  targetPath: (file: PackedFile) => string = ({ path }) => path,
  signal?: AbortSignal,
): Promise<void> {
  let open: AtomicFile | undefined;
  const targetOf = (file: PackedFile): PackTarget => {
    const path = targetPath(file);
    const copy = creating(path, () => beginAt(path, kept));
    open = copy;
    return {
      add: (bytes) => creating(path, () => copy.add(bytes)),
      finish: () => creating(path, () => publish(copy, file, kept)),
    };
  };
  try {
    await readPacked(kept, files, targetOf, signal);
  } finally {
    open?.discard();
  }
}

export function copyAdvice(path: string): string {
  return `Move it away; or branchlog restore ${path} -o FILE writes a copy, if it is archived.`;
}

function beginAt(path: string, { ports }: Archive): AtomicFile {
  if (ports.fs.statSync(path) !== null) throw placeTaken(path, copyAdvice(path));
  makeDurableDirectory(ports.fs, dirname(path));
  return new AtomicFile(ports, path);
}

function publish(copy: AtomicFile, { mode, changedMs }: PackedFile, { ports }: Archive): void {
  ports.fs.setModeSync(copy.fd, mode);
  copy.syncSync();
  // The system cuts off what is below a microsecond.
  const seconds = (changedMs + 0.0005) / 1000;
  utimesSync(copy.temporary, seconds, seconds);
  copy.close();
  copy.publish();
  copy.syncName();
  copy.discard();
}

/**
 * Of a number of bytes of a file, or of all from `start`; undefined if it is not a file, or
 * shorter.
 */
export async function hashOfFile(
  path: string,
  bytes: number = Infinity,
  start = 0,
): Promise<string | undefined> {
  if (statOf(path)?.isFile() !== true) return undefined;
  const hash = createHash("sha256");
  let count = 0;
  try {
    const stream = bytes === 0 ? [] : createReadStream(path, { start, end: start + bytes - 1 });
    for await (const chunk of stream) {
      // Decoding boundary: a stream of bytes has no other chunks.
      const piece = chunk as Buffer;
      hash.update(piece);
      count += piece.length;
    }
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
  return bytes !== Infinity && count < bytes ? undefined : hash.digest("hex");
}
