/** Which file a path or a descriptor leads to: inode and device, as far as the system tells. */
import type { FileStat } from "./ports.ts";

/** What tells a file apart from all others, and from the one that takes its name. */
export type FileIdentity = Pick<FileStat, "dev" | "ino">;

/**
 * Whether both are the same file. A device of 0 says nothing: on Windows, some releases of Node
 * (22.12 to 22.16, 24.0, 24.1) give it for paths, and the actual device for descriptors.
 */
export function isSameFile(one: FileIdentity, other: FileIdentity): boolean {
  return one.ino === other.ino && (one.dev === other.dev || one.dev === 0 || other.dev === 0);
}
