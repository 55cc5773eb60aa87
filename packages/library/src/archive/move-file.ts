/** Moves a file or directory, optionally with another first line; never over another one. */
import { createHash } from "node:crypto";
import {
  createReadStream,
  lstatSync,
  openSync,
  closeSync,
  readSync,
  renameSync,
  utimesSync,
} from "node:fs";
import { dirname } from "node:path";
import { runAsync } from "@branchlog/streaming";
import { BranchlogError, isBranchlogError } from "@branchlog/core";
import { transcriptErrorAt } from "@branchlog/core/rows";
import type { Ports } from "@branchlog/core/types";
import {
  AtomicFile,
  acquireLock,
  descriptorPoolOf,
  makeDurableDirectory,
  nodeFileSystem,
} from "@branchlog/core/files";
import { copyBytes } from "./limits.ts";
import { filesOpenElsewhere, statOf } from "./file-state.ts";
import type { FileChange } from "./operation.ts";
import { changedMeanwhile, placeTaken, removalFailed } from "./removal-errors.ts";
import { FilesAside } from "./set-aside.ts";
import type { KnownFile } from "./set-aside.ts";

export type Move = Extract<FileChange, { readonly kind: "moved" }>;

/**
 * Whether a move has to be done (`from`) or is done (`to`), also if its first name is still there;
 * `none`: there is another file than the moved one, or none.
 */
export function placeOfMoved({ from, to, header, inode }: Move): "from" | "to" | "none" {
  const [before = "", after = ""] = header ?? [];
  if (from === to) return beginsWith(to, after) ? "to" : beginsWith(from, before) ? "from" : "none";
  const [one, other] = [statOf(from), statOf(to)];
  if (other !== undefined) return "to";
  if (one === undefined) return "none";
  const isSame = inode === undefined || String(one.ino) === inode;
  return isSame && (header === undefined || beginsWith(from, before)) ? "from" : "none";
}

/**
 * Throws `ERR_LOG_EXISTS`, `ERR_LOG_CHANGED`, `ERR_SESSION_BUSY`, `ERR_LOCK_TIMEOUT`,
 * `ERR_DELETE_FAILED`; it is where it was then, unless the message says where it is.
 * @param force Also a file that gets another header while another process has it open.
 */
export async function moveFile(move: Move, ports: Ports, force: boolean): Promise<void> {
  const { from, to, header } = move;
  try {
    makeDurableDirectory(ports.fs, dirname(to));
    descriptorPoolOf(nodeFileSystem).closePath(from);
    if (header === undefined) moveWhole(move, ports);
    else await moveWithHeader(move, header, ports, force);
    for (const path of new Set([from, to])) ports.fs.syncDirectorySync(dirname(path));
  } catch (error) {
    throw error instanceof BranchlogError ? error : removalFailed(from, error);
  }
}

function moveWhole({ from, to, inode }: Move, ports: Ports): void {
  if (statOf(to) !== undefined) throw taken(from, to);
  const stats = statOf(from);
  if (stats?.isDirectory() === true) {
    renameSync(from, to);
    return;
  }
  if (inode !== undefined && String(stats?.ino) !== inode) throw changedMeanwhile(from);
  // With its inode, later writes move along.
  const file = new FilesAside(ports, [{ path: from, sha256: "" }]);
  try {
    file.moveTo(to);
  } catch (error) {
    throw file.putBack(toMoveError({ from, to }, error));
  }
}

async function moveWithHeader(
  { from, to }: Move,
  [before, after]: readonly [string, string],
  ports: Ports,
  force: boolean,
): Promise<void> {
  const isOwn = transcriptErrorAt(from) === undefined;
  const held = isOwn ? await runAsync(acquireLock(from, ports, 0)) : null;
  const copy = new AtomicFile(ports, to);
  try {
    if (!beginsWith(from, before)) throw changed(from);
    const stats = lstatSync(from);
    copy.add(Buffer.from(after));
    const hash = createHash("sha256").update(before);
    const start = Buffer.byteLength(before);
    // A stream that is created opens the file, even if nothing reads it.
    const hasMore = stats.size > start;
    const rest = hasMore ? createReadStream(from, { start, highWaterMark: copyBytes }) : [];
    for await (const chunk of rest) {
      // Decoding boundary: a stream of bytes has no other chunks.
      const bytes = chunk as Buffer;
      copy.add(bytes);
      hash.update(bytes);
    }
    ports.fs.setModeSync(copy.fd, stats.mode & 0o7777);
    await copy.sync();
    utimesSync(copy.temporary, stats.mtimeMs / 1000, stats.mtimeMs / 1000);
    copy.close();
    await replaceBy(copy, { path: from, sha256: hash.digest("hex") }, ports, force);
  } finally {
    copy.discard();
    held?.releaseSync();
  }
}

/** The copy gets its name once nothing else can be written to its source. */
async function replaceBy(
  copy: AtomicFile,
  original: KnownFile,
  ports: Ports,
  force: boolean,
): Promise<void> {
  const file = new FilesAside(ports, [original]);
  try {
    await file.requireKnown(force ? new Set() : filesOpenElsewhere());
    copy.publish();
    file.remove();
  } catch (error) {
    throw file.putBack(toMoveError({ from: original.path, to: copy.path }, error));
  }
}

function toMoveError({ from, to }: Pick<Move, "from" | "to">, error: unknown): BranchlogError {
  if (isBranchlogError(error, "ERR_LOG_EXISTS")) return taken(from, to, error);
  return error instanceof BranchlogError ? error : removalFailed(from, error);
}

/** False if it cannot be read. */
function beginsWith(path: string, text: string): boolean {
  if (statOf(path)?.isFile() !== true) return false;
  const wanted = Buffer.from(text);
  const found = Buffer.alloc(wanted.length);
  const fd = openSync(path, "r");
  try {
    readSync(fd, found, 0, found.length, 0);
  } finally {
    closeSync(fd);
  }
  return wanted.equals(found);
}

function changed(path: string): BranchlogError {
  const message =
    `${path} has a different header now; it was left in place. Repeat the command, ` +
    "branchlog mv or branchlog undo.";
  return new BranchlogError("ERR_LOG_CHANGED", message, { path });
}

function taken(from: string, to: string, cause?: unknown): BranchlogError {
  const advice =
    `${from} was left in place. Move one of them away, and repeat branchlog mv or branchlog ` +
    "undo.";
  return placeTaken(to, advice, cause);
}
