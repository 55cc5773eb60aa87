/**
 * The files next to a log: their paths, and which of them are trusted. A path is that of the log
 * with an ending; if the name would exceed the 255 bytes of file systems, a hash replaces the log's
 * name. Only this user, or root, may have written a sidecar; its stat decides, never its content.
 * On systems without users (Windows), the access rights of the directory are the protection.
 */
import { createHash } from "node:crypto";
import { basename, dirname, join } from "node:path";
import type { FileStat, FileSystem } from "./ports.ts";

export const nameBytesMax: number = 255;

/** The same in every process. */
export function sidecarPath(path: string, ending: string): string {
  const name = basename(path);
  return isShort(name + ending) ? path + ending : join(dirname(path), hashedName(name) + ending);
}

const numberedMax = 100;

/**
 * With this ending, then with `-2`, `-3`, …, each possibly taken. Throws when there are no more.
 */
export function* keptPaths(path: string, ending: string): Generator<string, never, undefined> {
  for (let number = 1; number <= numberedMax; number += 1) {
    yield sidecarPath(path, number === 1 ? ending : `${ending}-${number}`);
  }
  throw new Error(`there are ${numberedMax} files named ${path}${ending} already`);
}

/** Replaces the name of a log in the names of sidecars that would be too long. */
export function hashedName(name: string): string {
  return `.branchlog-${createHash("sha256").update(name).digest("hex").slice(0, 32)}`;
}

function isShort(name: string): boolean {
  // A code unit takes at most three bytes: most names need not be measured.
  return 3 * name.length <= nameBytesMax || Buffer.byteLength(name) <= nameBytesMax;
}

export type SidecarFacts = Pick<FileStat, "isFile" | "mode" | "uid">;

export interface TrustedSidecar {
  readonly fd: number;
  readonly stat: FileStat;
}

const rootUserId = 0;
const writableByOthers = 0o022;

/** With `undefined`, any regular file is trusted. */
export function isTrustedSidecar(facts: SidecarFacts, userId: number | undefined): boolean {
  return facts.isFile && isOfTrusted(facts, userId);
}

/** Whether only `userId` and root can have made or written a file with these facts. */
export function isOfTrusted(
  { mode, uid }: Omit<SidecarFacts, "isFile">,
  userId: number | undefined,
): boolean {
  if (userId === undefined) return true;
  return (uid === userId || uid === rootUserId) && (mode & writableByOthers) === 0;
}

/** The owner of another directory neither expects nor trusts our files. False if its stat fails. */
export function isOwnDirectory(fs: FileSystem, path: string): boolean {
  const userId = fs.userId();
  try {
    const stat = fs.statSync(path);
    return stat?.isDirectory === true && (userId === undefined || stat.uid === userId);
  } catch {
    return false;
  }
}

/**
 * Decides by the file that was opened. Throws other errors of opening, `ELOOP` for a symbolic link.
 */
export function openTrustedSync(fs: FileSystem, path: string): TrustedSidecar | undefined {
  // Its stat comes first: opening a device may have effects.
  if (fs.statSync(path)?.isFile !== true) return undefined;
  const fd = fs.openSync(path, "nofollow");
  try {
    const stat = fs.fstatSync(fd);
    if (isTrustedSidecar(stat, fs.userId())) return { fd, stat };
  } catch (error) {
    fs.closeSync(fd);
    throw error;
  }
  fs.closeSync(fd);
  return undefined;
}
