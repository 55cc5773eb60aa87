/**
 * Packs: concatenated files, compressed together, so that repeated data is kept once.
 * Brotli, since every Node has it, with a window that reaches over the contexts that sessions
 * repeat; it has no checksums of its own, so that the hash of each file is checked whenever it is
 * read.
 */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { pipeline as pipelineWith } from "node:stream";
import { pipeline } from "node:stream/promises";
import { constants, createBrotliCompress, createBrotliDecompress } from "node:zlib";
import { BranchlogError } from "@branchlog/core";
import { AtomicFile, makeDurableDirectory } from "@branchlog/core/files";
import { copyBytes, packQuality, packWindowBits, packWindowBitsMin } from "./limits.ts";
import type { Archive } from "./archive-directory.ts";
import type { PackedFile } from "./operation.ts";

/** Of `Date`. */
const timeMsMax = 8.64e15;

/**
 * Durably, and verified: each file has the hash of the read bytes. Throws `ERR_ARCHIVE_FAILED`,
 * and the signal's reason; there is no pack then.
 */
export async function writePack(
  kept: Archive,
  paths: readonly string[],
  signal: AbortSignal | undefined,
): Promise<readonly PackedFile[]> {
  const { fs, ids } = kept.ports;
  const pack = `${ids.sessionId()}.br`;
  let file: AtomicFile | undefined;
  try {
    makeDurableDirectory(fs, kept.packs);
    const target = new AtomicFile(kept.ports, kept.packPath(pack));
    file = target;
    const files: PackedFile[] = [];
    const write = async (chunks: AsyncIterable<Buffer>): Promise<void> => {
      for await (const chunk of chunks) target.add(chunk);
    };
    const content = contentOf(paths, pack, files);
    const compressor = createBrotliCompress({ params: await packParameters(paths) });
    await pipeline(content, compressor, write, signal === undefined ? {} : { signal });
    await target.sync();
    await readPack(target.temporary, files, () => nothing, signal);
    target.close();
    target.publish();
    target.syncName();
    return files;
  } catch (error) {
    signal?.throwIfAborted();
    throw error instanceof BranchlogError ? error : archiveFailed(paths, error);
  } finally {
    file?.discard();
  }
}

async function* contentOf(
  paths: readonly string[],
  pack: string,
  files: PackedFile[],
): AsyncGenerator<Buffer> {
  let offset = 0;
  for (const path of paths) {
    const handle = await open(path, "r");
    try {
      const stat = await handle.stat({ bigint: true });
      const sizeBytes = Number(stat.size);
      const hash = createHash("sha256");
      for (let done = 0; done < sizeBytes;) {
        const chunk = Buffer.allocUnsafe(Math.min(copyBytes, sizeBytes - done));
        const { bytesRead } = await handle.read(chunk, 0, chunk.length, done);
        if (bytesRead === 0) throw new Error(`${path} was truncated while it was read`);
        const bytes = chunk.subarray(0, bytesRead);
        hash.update(bytes);
        done += bytesRead;
        yield bytes;
      }
      const sha256 = hash.digest("hex");
      const mode = Number(stat.mode) & 0o7777;
      files.push({
        path,
        pack,
        offset,
        sizeBytes,
        sha256,
        mode,
        changedMs: changedMs(stat.mtimeNs),
      });
      offset += sizeBytes;
    } finally {
      await handle.close();
    }
  }
}

/** A time that JSON and `Date` can hold: some file systems have others. */
function changedMs(changedNs: bigint): number {
  return Math.max(-timeMsMax, Math.min(timeMsMax, Number(changedNs) / 1e6));
}

/** A small pack needs no large window, which would take memory. */
async function packParameters(paths: readonly string[]): Promise<Record<number, number | boolean>> {
  let bytes = 1;
  for (const path of paths) {
    const handle = await open(path, "r");
    bytes += (await handle.stat()).size;
    await handle.close();
  }
  const bits = Math.ceil(Math.log2(bytes));
  return {
    [constants.BROTLI_PARAM_QUALITY]: packQuality,
    [constants.BROTLI_PARAM_LGWIN]: Math.max(packWindowBitsMin, Math.min(packWindowBits, bits)),
    [constants.BROTLI_PARAM_LARGE_WINDOW]: true,
  };
}

/** Takes the bytes of one file of a pack. */
export interface PackTarget {
  add(bytes: Buffer): void;
  /** Called once all bytes came, and have the hash of the file. */
  finish(): Promise<void> | void;
}

const nothing: PackTarget = { add: () => undefined, finish: () => undefined };

/**
 * Reads files of packs, each pack once and up to the last of its files. Throws
 * `ERR_ARCHIVE_DAMAGED`, errors of the targets, the signal's reason.
 * @param targetOf Called when the bytes of a file begin; default: they are only checked.
 */
export async function readPacked(
  kept: Archive,
  files: readonly PackedFile[],
  targetOf: (file: PackedFile) => PackTarget = () => nothing,
  signal?: AbortSignal,
): Promise<void> {
  const packs = new Map<string, PackedFile[]>();
  for (const file of files) {
    const others = packs.get(file.pack);
    if (others === undefined) packs.set(file.pack, [file]);
    else others.push(file);
  }
  for (const [pack, members] of packs) {
    await readPack(kept.packPath(pack), members, targetOf, signal);
  }
}

async function readPack(
  path: string,
  files: readonly PackedFile[],
  targetOf: (file: PackedFile) => PackTarget,
  signal: AbortSignal | undefined,
): Promise<void> {
  const chunks = new PackChunks(path);
  try {
    for (const file of files.toSorted((one, other) => one.offset - other.offset)) {
      const target = targetOf(file);
      const hash = createHash("sha256");
      const end = file.offset + file.sizeBytes;
      for (let at = file.offset; at < end;) {
        signal?.throwIfAborted();
        const bytes = await chunks.from(at, end, file);
        hash.update(bytes);
        target.add(bytes);
        at += bytes.length;
      }
      if (hash.digest("hex") !== file.sha256) throw archiveDamaged(path, file, undefined);
      await target.finish();
    }
  } finally {
    await chunks.end();
  }
}

/** A decompressed pack, read forward. */
class PackChunks {
  readonly #path: string;
  readonly #chunks: AsyncGenerator<Buffer, void, undefined>;
  #chunk: Buffer = Buffer.alloc(0);
  #start = 0;

  constructor(path: string) {
    this.#path = path;
    this.#chunks = decompressed(path);
  }

  /** Bytes at this offset, at least one and none from `end` on. */
  async from(offset: number, end: number, file: PackedFile): Promise<Buffer> {
    while (offset >= this.#start + this.#chunk.length) {
      this.#start += this.#chunk.length;
      const next = await this.#chunks.next().catch((error: unknown) => {
        throw archiveDamaged(this.#path, file, error);
      });
      if (next.done === true) throw archiveDamaged(this.#path, file, undefined);
      this.#chunk = next.value;
    }
    return this.#chunk.subarray(offset - this.#start, end - this.#start);
  }

  async end(): Promise<void> {
    await this.#chunks.return();
  }
}

async function* decompressed(path: string): AsyncGenerator<Buffer, void, undefined> {
  const bytes = pipelineWith(
    createReadStream(path, { highWaterMark: copyBytes }),
    createBrotliDecompress({ params: { [constants.BROTLI_DECODER_PARAM_LARGE_WINDOW]: true } }),
    // Errors are those of the reader.
    () => undefined,
  );
  for await (const chunk of bytes) {
    // Decoding boundary: a stream of bytes has no other chunks.
    yield chunk as Buffer;
  }
}

function archiveFailed(paths: readonly string[], cause: unknown): BranchlogError {
  const [first = "", ...others] = paths;
  const what = others.length === 0 ? first : `${first} and ${others.length} more`;
  const reason = cause instanceof Error ? cause.message : String(cause);
  const message =
    `${what} could not be archived (${reason}); nothing was removed. Check the space ` +
    "and the permissions of the data directory of Branchlog, or set " +
    "BRANCHLOG_DATA_DIR; then repeat the command: branchlog ops lists what was done.";
  return new BranchlogError("ERR_ARCHIVE_FAILED", message, { path: first, cause });
}

function archiveDamaged(pack: string, { path }: PackedFile, cause: unknown): BranchlogError {
  const reason = cause instanceof Error ? ` (${cause.message})` : "";
  const message =
    `The archived copy of ${path} is damaged or missing${reason}; it was not restored. Restore ` +
    `${pack} from a backup, and repeat the command; branchlog ops lists what was done.`;
  return new BranchlogError("ERR_ARCHIVE_DAMAGED", message, { path, cause });
}
