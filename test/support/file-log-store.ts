/**
 * The logs of a directory as a store: `<name>.jsonl`. Appends hold the lock of the file, as those
 * of a session do, so that both may write to one log.
 */
import { basename, dirname, join } from "node:path";
import { crc32 } from "node:zlib";
import { pollMsDefault, readFullySync, readRangeAsync, runAsync } from "@branchlog/streaming";
import { slotLength } from "../../packages/core/src/dialects/title-slot.ts";
import { BranchlogError } from "../../packages/core/src/errors.ts";
import { lockWaitMsDefault } from "../../packages/core/src/limits.ts";
import { createStreamedLog } from "../../packages/core/src/platform/atomic-file.ts";
import { acquireLock } from "../../packages/core/src/platform/lock.ts";
import { LogFile } from "../../packages/core/src/platform/log-file.ts";
import type {
  LogStore,
  StoredAppend,
  StoredLog,
  StoredPosition,
} from "../../packages/core/src/store/log-store.ts";
import { watchWithPoll } from "../../packages/core/src/platform/polled-hints.ts";
import type { FileStat, Ports } from "../../packages/core/src/platform/ports.ts";
import {
  requireStoredName,
  storedLogExists,
  storedLogGone,
  storedLogMissing,
} from "../../packages/core/src/store/stored-names.ts";

const extension = ".jsonl";

export class FileLogStore implements LogStore {
  readonly #directory: string;
  readonly #ports: Ports;

  /** @param directory Absolute. */
  constructor(directory: string, ports: Ports) {
    this.#directory = directory;
    this.#ports = ports;
  }

  async open(name: string): Promise<StoredLog> {
    const file = this.#fileOf(name);
    if (file.statSync() === null) throw storedLogMissing(name);
    return new FileStoredLog(name, file, this.#ports);
  }

  async create(name: string, pieces: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<StoredLog> {
    const { path } = this.#fileOf(name);
    try {
      await createStreamedLog(this.#ports, path, eachOf(pieces));
    } catch (error) {
      const isTaken = error instanceof BranchlogError && error.code === "ERR_LOG_EXISTS";
      throw isTaken ? storedLogExists(name, error) : error;
    }
    return this.open(name);
  }

  async *names(): AsyncGenerator<string, void, undefined> {
    for (const name of this.#ports.fs.listSync(this.#directory)) {
      if (name.endsWith(extension)) yield name.slice(0, -extension.length);
    }
  }

  async remove(name: string): Promise<void> {
    const { path } = this.#fileOf(name);
    if (this.#ports.fs.statSync(path) === null) throw storedLogMissing(name);
    this.#ports.fs.unlinkSync(path);
  }

  #fileOf(name: string): LogFile {
    const path = join(this.#directory, requireStoredName(name) + extension);
    return new LogFile(this.#ports.fs, path);
  }
}

class FileStoredLog implements StoredLog {
  readonly name: string;
  readonly #file: LogFile;
  readonly #ports: Ports;

  constructor(name: string, file: LogFile, ports: Ports) {
    this.name = name;
    this.#file = file;
    this.#ports = ports;
  }

  get address(): string {
    return this.#file.path;
  }

  async *read(
    { generation, at }: StoredPosition,
    signal?: AbortSignal,
  ): AsyncGenerator<Buffer, void, undefined> {
    const found = this.#find(generation);
    if (found === undefined || found.size < at) throw storedLogGone(this.name);
    for await (const piece of readRangeAsync(found.file, at, found.size - at)) {
      signal?.throwIfAborted();
      yield piece;
    }
  }

  async end(): Promise<StoredPosition | undefined> {
    const found = this.#find(undefined);
    return found && { generation: found.generation, at: found.size };
  }

  async append(
    expected: StoredPosition,
    bytes: Buffer,
    signal?: AbortSignal,
  ): Promise<StoredAppend> {
    const { generation, at } = expected;
    const steps = acquireLock(this.#file.path, this.#ports, lockWaitMsDefault);
    const held = await runAsync(steps, signal);
    try {
      const found = this.#find(generation);
      if (found === undefined || found.size < at) return { kind: "gone" };
      const { file, size } = found;
      if (size > at) {
        const kind = holds(file, at, bytes) ? "alreadyStored" : "conflict";
        return { kind, end: { generation, at: size } };
      }
      const count = file.appendSync(bytes);
      if (count < bytes.length) throw tornAppend(file.path, count, bytes.length);
      return { kind: "appended", end: { generation, at: at + count } };
    } finally {
      held.releaseSync();
    }
  }

  /** Undefined: there is no file, or another generation than that one. */
  #find(generation: string | undefined): FoundFile | undefined {
    const stat = this.#file.statSync();
    if (stat === null) return undefined;
    const file = this.#file.adopted(stat);
    const now = generationOf(file, stat);
    const isMeant = generation === undefined || generation === now;
    return isMeant ? { file, generation: now, size: stat.size } : undefined;
  }

  watch(onHint: () => void): () => void {
    const { path } = this.#file;
    const watched = { ports: this.#ports, directory: dirname(path), pollMs: pollMsDefault };
    return watchWithPoll(watched, (name) => {
      if (name === null || name === basename(path)) onHint();
    });
  }
}

interface FoundFile {
  readonly file: LogFile;
  readonly generation: string;
  readonly size: number;
}

function holds(file: LogFile, at: number, bytes: Buffer): boolean {
  return readFullySync(file, Buffer.alloc(bytes.length), at).equals(bytes);
}

const startBytes = 4096;

/** The file, and its header: a new file may have the inode of one that was removed. */
function generationOf(file: LogFile, { dev, ino, size }: FileStat): string {
  const start = Buffer.alloc(Math.min(startBytes, size));
  readFullySync(file, start, 0);
  // A title slot is rewritten in place.
  const header = start.subarray(slotLength(start));
  const end = header.indexOf("\n");
  return `${dev}:${ino}:${end < 0 ? 0 : crc32(header.subarray(0, end))}`;
}

async function* eachOf(
  pieces: AsyncIterable<Buffer> | Iterable<Buffer>,
): AsyncGenerator<Buffer, void, undefined> {
  yield* pieces;
}

function tornAppend(path: string, count: number, wanted: number): BranchlogError {
  const message =
    `The system took ${count} of ${wanted} bytes that were to be appended to ${path}. What it ` +
    "took stays there. Free space on the disk, then append again.";
  return new BranchlogError("ERR_APPEND_UNCERTAIN", message, { path });
}
