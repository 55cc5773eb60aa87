/** Puts the images that omp keeps in files of their own back into what was stored. */
import { withBlobs } from "../projections/blob-references.ts";
import { readBlobSync } from "../store/blob-directory.ts";
import { nodeFileSystem } from "../store/node-file-system.ts";
import type { FileSystem } from "../store/ports.ts";

/** A reference that was left in its place, and why. */
export interface BlobProblem {
  readonly sha256: string;
  readonly reason: "missing" | "damaged" | "unreadable";
}

/** Where blobs are. */
export interface BlobOptions {
  /** The directory that holds them, each under its checksum. */
  readonly directory: string;
  /** Called for each reference that stays, once. */
  readonly onProblem?: (problem: BlobProblem) => void;
  readonly fs?: FileSystem;
}

/**
 * A copy of a message, an entry or a list of them, with the images that its references stand for.
 * A file that is missing, or does not hold what its name says, leaves the reference in its place.
 * Blocks while files are read; each is read once, and all of them are in memory then.
 */
export function resolveBlobs<T>(value: T, options: BlobOptions): T {
  const { directory, onProblem, fs = nodeFileSystem } = options;
  const known = new Map<string, Buffer | undefined>();
  const bytesOf = (sha256: string): Buffer | undefined => {
    if (known.has(sha256)) return known.get(sha256);
    const found = readBlobSync(fs, directory, sha256);
    const bytes = found.state === "found" ? found.bytes : undefined;
    known.set(sha256, bytes);
    if (found.state !== "found") onProblem?.({ sha256, reason: found.state });
    return bytes;
  };
  return withBlobs(value, (sha256, form) =>
    bytesOf(sha256)?.toString(form === "base64" ? "base64" : "utf8"),
  );
}
