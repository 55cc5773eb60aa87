/**
 * Which files beside a log count. A sidecar is taken for what an earlier session found in a log,
 * so only this user, or root, may have written it. Decides by the stat of a file, never by its
 * content. Where the system has no users (Windows),
 * the access rights of the directory are all that protects a sidecar.
 */
import type { ByteSource } from "@branchlog/streaming";
import type { FileStat, FileSystem } from "./ports.ts";

/** What decides whether a sidecar counts. */
export type SidecarFacts = Pick<FileStat, "isFile" | "mode" | "uid">;

/** A sidecar that is open for reading; its opener closes it. */
export interface TrustedSidecar {
  readonly fd: number;
  readonly stat: FileStat;
}

const rootUserId = 0;
const writableByOthers = 0o022;

/**
 * Whether a file with these facts is a sidecar of `userId`: a regular file, owned by that user or
 * root, not writable by group or others. With `undefined`, any regular file is.
 */
export function isTrustedSidecar(facts: SidecarFacts, userId: number | undefined): boolean {
  return facts.isFile && isOfTrusted(facts, userId);
}

/** Whether only `userId` and root can have made what has these facts, or written to it. */
export function isOfTrusted(
  { mode, uid }: Omit<SidecarFacts, "isFile">,
  userId: number | undefined,
): boolean {
  if (userId === undefined) return true;
  return (uid === userId || uid === rootUserId) && (mode & writableByOthers) === 0;
}

/**
 * Whether files may be left in a directory: it is this user's. In that of another, its owner
 * neither expects nor trusts them. False if its stat fails.
 */
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
 * Opens a sidecar if it counts, by the facts of the file that was opened; undefined if nothing is
 * there, or it does not count. Throws what else opening throws, `ELOOP` for a symbolic link.
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

/** The bytes of an open sidecar. */
export function sidecarSource(fs: FileSystem, { fd }: TrustedSidecar): ByteSource {
  return {
    readSync: (target, offset, length, position) =>
      fs.readSync(fd, target, offset, length, position),
    read: (target, offset, length, position) => fs.read(fd, target, offset, length, position),
  };
}
