/**
 * Checkpoints as files: next to their logs, or in one directory. Replacement is atomic, so that two
 * writers never damage a checkpoint.
 */
import { createHash, randomUUID } from "node:crypto";
import { basename, dirname, join } from "node:path";
import type { Steps } from "@branchlog/streaming";
import { AtomicFile } from "../platform/atomic-file.ts";
import { pooledSource } from "../platform/descriptor-pool.ts";
import type { FileSystem, Ports } from "../platform/ports.ts";
import { sidecarPath, openTrustedSync } from "../platform/sidecar.ts";
import { openPageFile } from "./page-file.ts";
import type { FileKind, PageFile } from "./page-file.ts";

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

/**
 * The result of `read` for a file of this kind; undefined if it is missing or not whole, or if
 * `read` throws. Never throws. Its pages can be read as long as it has its name, or its path is
 * retained.
 */
export function* loadPages<T>(
  fs: FileSystem,
  path: string,
  kind: FileKind,
  read: (file: PageFile) => T,
): Steps<T | undefined> {
  try {
    const opened = openTrustedSync(fs, path);
    if (opened === undefined) return undefined;
    fs.closeSync(opened.fd);
    const source = pooledSource(fs, path, opened.stat);
    const file = yield* openPageFile(source, kind, opened.stat.size);
    return file && read(file);
  } catch {
    return undefined;
  }
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
