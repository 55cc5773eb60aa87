/**
 * Checkpoints as files: beside their logs, or in a directory of their own. Each of its two frames
 * is read whole or not at all. It is replaced in one step, so that two processes that write it
 * never harm each other.
 */
import { createHash, randomUUID } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { runReadsSync } from "@branchlog/streaming";
import type { Reads } from "@branchlog/streaming";
import { AtomicFile } from "../store/atomic-file.ts";
import type { FileSystem, Ports } from "../store/ports.ts";
import { sidecarPath } from "../store/sidecar-path.ts";
import { openTrustedSync, sidecarSource } from "../store/trusted-file.ts";
import { readFrame, secondFrameStart } from "./checkpoint-format.ts";
import type { FrameSchema } from "./checkpoint-format.ts";
import { readFrameAhead } from "./read-ahead.ts";

/** A checkpoint is written in less than a second, unless its process stands still. */
export const abandonedAfterMs: number = 10 * 60 * 1000;

/** Where the checkpoint of a log is: beside it, or in a directory of checkpoints. */
export function checkpointPath(logPath: string, directory: string | undefined): string {
  if (directory === undefined) return sidecarPath(logPath, ".ckpt");
  return sidecarPath(join(directory, checkpointPrefix(logPath) + basename(logPath)), ".ckpt");
}

/**
 * What the names of all checkpoints of logs in one directory begin with: logs of one name lie in
 * many directories.
 */
export function checkpointPrefix(logPath: string): string {
  return `${createHash("sha256").update(dirname(logPath)).digest("hex").slice(0, 16)}-`;
}

/** What was indexed, blocking; undefined if there is nothing that is whole. Throws nothing. */
export function loadIndexSync<T>(
  fs: FileSystem,
  path: string,
  schema: FrameSchema<T>,
): T | undefined {
  return readSync(fs, path, (size) => readFrame(schema, 0, size));
}

/** As {@link loadIndexSync}, blocking only while a piece is checked. */
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

/** As {@link loadIndexSync}, of the second frame. */
export function loadSumsSync<T>(
  fs: FileSystem,
  path: string,
  schema: FrameSchema<T>,
): T | undefined {
  return readSync(fs, path, function* (size) {
    return yield* readFrame(schema, yield* secondFrameStart(), size);
  });
}

/**
 * Begins a checkpoint, to be filled piece by piece, and to take its place by `close` and `replace`.
 * Throws what the file system throws.
 */
export function beginCheckpoint(ports: Ports, path: string): AtomicFile {
  const ending = `${randomUUID()}.tmp`;
  const temporary = sidecarPath(path, `.${ending}`);
  removeLeftBehind(ports, temporary.slice(0, -ending.length));
  return new AtomicFile(ports, path, temporary);
}

/** Removes what killed processes have left of a checkpoint, told by what the paths begin with. */
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
