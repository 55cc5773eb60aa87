/** The rules of rename(2) in memory: what may replace what. Decides; changes nothing. */
import { fileError } from "./memory-errors.ts";
import type { Inode } from "./memory-inode.ts";
import type { MemoryTree, Place } from "./memory-tree.ts";

/** A rename that is allowed. */
export interface RenamePlan {
  readonly source: Place;
  readonly target: Place;
  readonly inode: Inode;
}

/** Null: both names refer to one inode already, so nothing is to do. Throws as rename(2) fails. */
export function planRename(tree: MemoryTree, from: string, to: string): RenamePlan | null {
  const source = tree.place(from, "rename");
  const target = tree.place(to, "rename");
  const { inode } = source;
  if (inode === undefined) throw fileError("ENOENT", "rename", from, to);
  if (target.inode === inode) return null;
  if (isInside(target.parent, inode)) throw fileError("EINVAL", "rename", from, to);
  if (target.inode !== undefined) assertReplaceable(inode, target.inode, from, to);
  return { source, target, inode };
}

function assertReplaceable(inode: Inode, old: Inode, from: string, to: string): void {
  if (old.kind === "file") {
    if (inode.kind === "directory") throw fileError("ENOTDIR", "rename", from, to);
    return;
  }
  if (inode.kind === "file") throw fileError("EISDIR", "rename", from, to);
  if (old.names.size > 0) throw fileError("ENOTEMPTY", "rename", from, to);
}

/** Whether a directory is `ancestor` or stands somewhere below it. */
function isInside(directory: Inode, ancestor: Inode): boolean {
  const pending: Inode[] = [ancestor];
  for (let inode = pending.pop(); inode !== undefined; inode = pending.pop()) {
    if (inode === directory) return true;
    if (inode.kind === "directory") for (const child of inode.names.values()) pending.push(child);
  }
  return false;
}
