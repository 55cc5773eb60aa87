/** Moves a file or directory, perhaps with another first line; never over another one. */
import {
  createReadStream,
  linkSync,
  lstatSync,
  openSync,
  closeSync,
  readSync,
  renameSync,
  unlinkSync,
  utimesSync,
} from "node:fs";
import { dirname } from "node:path";
import { runAsync } from "@branchlog/streaming";
import { BranchlogError } from "@branchlog/core";
import type { Ports } from "@branchlog/core/types";
import {
  AtomicFile,
  acquireLock,
  descriptorPoolOf,
  isLinkUnsupported,
  logExists,
  makeDurableDirectory,
  nodeFileSystem,
} from "@branchlog/core/internal";
import { copyBytes } from "../limits.ts";
import { statOf } from "./file-state.ts";
import type { FileChange } from "./operation.ts";
import { busySession, removalFailed } from "./remove-sessions.ts";

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
 * `ERR_DELETE_FAILED`; it is where it was then.
 */
export async function moveFile(move: Move, ports: Ports): Promise<void> {
  const { from, to, header } = move;
  try {
    makeDurableDirectory(ports.fs, dirname(to));
    descriptorPoolOf(nodeFileSystem).closePath(from);
    if (header === undefined) moveWhole(from, to);
    else await moveWithHeader(move, header, ports);
    for (const path of new Set([from, to])) ports.fs.syncDirectorySync(dirname(path));
  } catch (error) {
    throw error instanceof BranchlogError ? error : removalFailed(from, error);
  }
}

function moveWhole(from: string, to: string): void {
  if (statOf(to) !== undefined) throw logExists(to, undefined);
  if (statOf(from)?.isDirectory() === true) {
    renameSync(from, to);
    return;
  }
  try {
    // A link, unlike a rename, never replaces a file.
    linkSync(from, to);
    unlinkSync(from);
  } catch (error) {
    if (!isLinkUnsupported(error)) throw error;
    renameSync(from, to);
  }
}

async function moveWithHeader(
  { from, to }: Move,
  [before, after]: readonly [string, string],
  ports: Ports,
): Promise<void> {
  const isOwn = !after.includes('"session_meta"');
  const held = isOwn ? await runAsync(acquireLock(from, ports, 0)) : null;
  const copy = new AtomicFile(ports, to);
  try {
    if (!beginsWith(from, before)) throw changed(from);
    const stats = lstatSync(from);
    copy.add(Buffer.from(after));
    const start = Buffer.byteLength(before);
    const rest = createReadStream(from, { start, highWaterMark: copyBytes });
    for await (const chunk of stats.size > start ? rest : []) {
      // Decoding boundary: a stream of bytes has no other chunks.
      copy.add(chunk as Buffer);
    }
    ports.fs.setModeSync(copy.fd, stats.mode & 0o7777);
    await copy.sync();
    utimesSync(copy.temporary, stats.mtimeMs / 1000, stats.mtimeMs / 1000);
    copy.close();
    const now = lstatSync(from);
    if (now.size !== stats.size || now.mtimeMs !== stats.mtimeMs) {
      throw busySession(from, "it changed while it was copied");
    }
    if (from === to) copy.replace();
    else {
      copy.publish();
      unlinkSync(from);
    }
  } finally {
    copy.discard();
    held?.releaseSync();
  }
}

/** False for what cannot be read. */
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
  const message = `${path} has another header than before; it was left where it is. Try again.`;
  return new BranchlogError("ERR_LOG_CHANGED", message, { path });
}
