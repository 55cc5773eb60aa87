/**
 * Checkpoints as files: beside their logs, or in one directory. Each of the two frames is read
 * whole or not at all. Replacement is atomic, so that two writers never damage a checkpoint.
 */
import { createHash, randomUUID } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { crc32 } from "node:zlib";
import { runReads, runReadsSync } from "@branchlog/streaming";
import type { ByteSource, Reads } from "@branchlog/streaming";
import { readWhole } from "../bodies/body-reader.ts";
import { checkpointReadBytes } from "../limits.ts";
import { AtomicFile } from "../store/atomic-file.ts";
import type { FileSystem, Ports } from "../store/ports.ts";
import { sidecarPath, openTrustedSync, sidecarSource } from "../store/sidecar.ts";
import { closeFrame, openFrame, readFrame, secondFrameStart } from "./checkpoint-format.ts";
import type { FrameInParts, FrameSchema } from "./checkpoint-format.ts";

/** Writing takes less than a second, unless the process is stopped. */
const abandonedAfterMs: number = 10 * 60 * 1000;

export function checkpointPath(logPath: string, directory: string | undefined): string {
  if (directory === undefined) return sidecarPath(logPath, ".ckpt");
  return sidecarPath(join(directory, checkpointPrefix(logPath) + basename(logPath)), ".ckpt");
}

/** A hash of the log's directory: logs of one name may be in many directories. */
function checkpointPrefix(logPath: string): string {
  return `${createHash("sha256").update(dirname(logPath)).digest("hex").slice(0, 16)}-`;
}

/** Undefined if missing or not whole. Never throws. */
export function loadIndexSync<T>(
  fs: FileSystem,
  path: string,
  schema: FrameSchema<T>,
): T | undefined {
  return readSync(fs, path, (size) => readFrame(schema, 0, size));
}

export async function loadIndex<T>(
  fs: FileSystem,
  path: string,
  schema: FrameSchema<T>,
): Promise<T | undefined> {
  try {
    const opened = openTrustedSync(fs, path);
    if (opened === undefined) return undefined;
    try {
      return await readFrameAhead(sidecarSource(fs, opened), schema, opened.stat.size);
    } finally {
      fs.closeSync(opened.fd);
    }
  } catch {
    return undefined;
  }
}

/** The second frame; undefined if missing or not whole. Never throws. */
export function loadSumsSync<T>(
  fs: FileSystem,
  path: string,
  schema: FrameSchema<T>,
): T | undefined {
  return readSync(fs, path, function* (size) {
    return yield* readFrame(schema, yield* secondFrameStart(), size);
  });
}

/** Write the pieces, then call `close` and `replace`. Throws errors of the file system. */
export function beginCheckpoint(ports: Ports, path: string): AtomicFile {
  const ending = `${randomUUID()}.tmp`;
  const temporary = sidecarPath(path, `.${ending}`);
  removeLeftBehind(ports, temporary.slice(0, -ending.length));
  return new AtomicFile(ports, path, temporary);
}

function removeLeftBehind({ fs, clock }: Ports, beginning: string): void {
  const directory = dirname(beginning);
  for (const name of fs.listSync(directory)) {
    if (!name.startsWith(basename(beginning)) || !name.endsWith(".tmp")) continue;
    const left = join(directory, name);
    const changedMs = fs.statSync(left)?.mtimeMs ?? Number.POSITIVE_INFINITY;
    if (clock.now() - changedMs > abandonedAfterMs) fs.unlinkSync(left);
  }
}

function readSync<T>(
  fs: FileSystem,
  path: string,
  reads: (size: number) => Reads<T | undefined>,
): T | undefined {
  try {
    const opened = openTrustedSync(fs, path);
    if (opened === undefined) return undefined;
    try {
      return runReadsSync(sidecarSource(fs, opened), reads(opened.stat.size));
    } finally {
      fs.closeSync(opened.fd);
    }
  } catch {
    return undefined;
  }
}

const form = /^(.+)\.ckpt(\.[0-9a-f-]{36}\.tmp)?$/;

interface Candidate {
  readonly name: string;
  readonly log: string;
  readonly isTemporary: boolean;
}

/**
 * Checkpoints of deleted logs in the directory of this log. Never throws. One removed by mistake
 * only costs time at the next open.
 */
export function removeOrphanCheckpoints(ports: Ports, logPath: string, directory: string): void {
  const place = dirname(logPath);
  try {
    const candidates = candidatesAmong(ports.fs.listSync(directory), logPath);
    if (candidates.length === 0) return;
    const there = new Set(ports.fs.listSync(place));
    for (const candidate of candidates) {
      if (!there.has(basename(candidate.log))) removeIfOrphan(ports, candidate, directory);
    }
  } catch {
    // A directory cannot be listed: no log is known to be gone.
  }
}

function candidatesAmong(names: readonly string[], logPath: string): Candidate[] {
  const prefix = checkpointPrefix(logPath);
  return names.flatMap((name) => {
    const [, own, temporary] = name.startsWith(prefix)
      ? (form.exec(name.slice(prefix.length)) ?? [])
      : [];
    if (own === undefined || own === basename(logPath)) return [];
    const log = join(dirname(logPath), own);
    return [{ name, log, isTemporary: temporary !== undefined }];
  });
}

function removeIfOrphan(
  { fs, clock }: Ports,
  { name, log, isTemporary }: Candidate,
  directory: string,
): void {
  const path = join(directory, name);
  try {
    // The listing may be stale, or spell names otherwise: the log may exist.
    if (fs.statSync(log) !== null) return;
    // A process that has not noticed the deletion may still be writing it.
    const changedMs = fs.statSync(path)?.mtimeMs ?? Number.POSITIVE_INFINITY;
    if (isTemporary && clock.now() - changedMs <= abandonedAfterMs) return;
    fs.unlinkSync(path);
  } catch {
    // Another process removed it, or it is not a file, or may not be removed.
  }
}

const readsMax = 4;

/**
 * Pieces are read ahead while one is checked, so that other threads touch new memory, the main cost
 * of reading. Throws what source and schema throw, after all reads have ended.
 */
export async function readFrameAhead<T>(
  source: ByteSource,
  schema: FrameSchema<T>,
  size: number,
): Promise<T | undefined> {
  const frame = await runReads(source, openFrame(schema, 0, size, checkpointReadBytes));
  if (frame === undefined) return undefined;
  const reads: Promise<Buffer>[] = [];
  try {
    const checksum = await checkedAhead(source, frame, reads);
    return await runReads(source, closeFrame(frame, checksum));
  } finally {
    await Promise.allSettled(reads);
  }
}

async function checkedAhead(
  source: ByteSource,
  { pieces, checksum: before }: FrameInParts<unknown>,
  reads: Promise<Buffer>[],
): Promise<number> {
  let checksum = before;
  for (let at = 0; at < pieces.length; at += 1) {
    for (const { target, position } of pieces.slice(reads.length, at + readsMax)) {
      const read = runReads(source, readWhole(target, position));
      // It may reject before it is awaited; that is not unhandled.
      read.catch(() => undefined);
      reads.push(read);
    }
    checksum = crc32((await reads[at]) ?? Buffer.alloc(0), checksum);
  }
  return checksum;
}
