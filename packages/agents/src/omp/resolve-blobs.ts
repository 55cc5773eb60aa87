/** Replaces the references of omp to large images, which are in files named by their checksums. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { nodeFileSystem, requireOptions } from "@branchlog/core/files";
import { isStoredObject } from "@branchlog/core/rows";
import type { FileSystem } from "@branchlog/core/types";
import type { OptionNames } from "@branchlog/streaming";

/** A reference that was not replaced, and why. */
export interface BlobProblem {
  readonly sha256: string;
  readonly reason: "missing" | "damaged" | "unreadable";
}

/** Options of {@link resolveBlobs}. */
export interface BlobOptions {
  /** The directory that holds the blobs, each under its checksum. */
  readonly directory: string;
  /** Called once for each reference that is not replaced. */
  readonly onProblem?: (problem: BlobProblem) => void;
  readonly fs?: FileSystem;
}

const blobNames: OptionNames<BlobOptions> = { directory: true, onProblem: true, fs: true };

/**
 * A copy with references replaced by the images; a missing or damaged file leaves its reference in
 * place. Blocks while files are read; each is read once, and all of them are then in memory.
 */
export function resolveBlobs<T>(value: T, options: BlobOptions): T {
  const { directory, onProblem, fs = nodeFileSystem } = requireOptions(options, blobNames);
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

type BlobForm = "base64" | "text";

type BlobReader = (sha256: string, form: BlobForm) => string | undefined;

const reference = /^blob:sha256:([0-9a-f]{64})$/;

export function blobChecksum(value: unknown): string | undefined {
  return typeof value === "string" ? reference.exec(value)?.[1] : undefined;
}

interface Place {
  readonly holder: object;
  readonly value: object;
}

/** `data` of images, `result` of generated images, `image_url`; not those of video frames. */
export function withBlobs<T>(value: T, read: BlobReader): T {
  const root: { value?: unknown } = {};
  const open: Place[] = [];
  const put = (holder: object, key: string, item: unknown): void => {
    const isShared = typeof item !== "object" || item === null || key === "frames";
    const copy: unknown = isShared ? item : Array.isArray(item) ? [] : {};
    // Assigning `__proto__` would set the prototype.
    const traits = { value: copy, enumerable: true, configurable: true, writable: true };
    Object.defineProperty(holder, key, traits);
    if (!isShared) open.push({ holder: copy as object, value: item });
  };
  put(root, "value", value);
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    for (const [key, item] of Object.entries(place.value)) {
      put(place.holder, key, replacement(place.value, key, item, read) ?? item);
    }
  }
  // Cast: a copy of the value, in which some strings are others.
  return root.value as T;
}

function replacement(
  holder: object,
  key: string,
  item: unknown,
  read: BlobReader,
): string | undefined {
  const sha256 = blobChecksum(item);
  if (sha256 === undefined) return undefined;
  if (key === "image_url") return read(sha256, "text");
  const type: unknown = isStoredObject(holder) ? Reflect.get(holder, "type") : undefined;
  const isImage = key === "data" && (type === "image" || type === undefined);
  const isGenerated = key === "result" && type === "image_generation_call";
  return isImage || isGenerated ? read(sha256, "base64") : undefined;
}

type FoundBlob =
  | { readonly state: "found"; readonly bytes: Buffer }
  | { readonly state: "missing" | "damaged" | "unreadable" };

function readBlobSync(fs: FileSystem, directory: string, sha256: string): FoundBlob {
  try {
    const path = join(directory, sha256);
    const stat = fs.statSync(path);
    if (stat === null) return { state: "missing" };
    // Opening a pipe would wait for its writer.
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
