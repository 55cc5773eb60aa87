/**
 * The file at a path, and who has it open. Throws nothing: an invisible file is treated as missing.
 */
import { lstatSync, readdirSync, statSync } from "node:fs";
import type { Stats } from "node:fs";
import { join } from "node:path";

/** Undefined also below a file, and without permission. */
export function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

const processes = "/proc";

/** Equal for all names of a file. */
export function identityOf({ dev, ino }: Pick<Stats, "dev" | "ino">): string {
  return `${dev}:${ino}`;
}

/**
 * The identities of the files that other processes of this user have open, as far as the system
 * tells (Linux): an agent that waits for its user may keep its session open, and would write to
 * what is removed.
 */
export function filesOpenElsewhere(): ReadonlySet<string> {
  const open = new Set<string>();
  for (const pid of namesIn(processes)) {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) continue;
    const descriptors = join(processes, pid, "fd");
    for (const name of namesIn(descriptors)) {
      try {
        open.add(identityOf(statSync(join(descriptors, name))));
      } catch {
        // It was closed in the meantime.
      }
    }
  }
  return open;
}

export function isOpenIn(open: ReadonlySet<string>, path: string): boolean {
  const stats = statOf(path);
  return stats !== undefined && open.has(identityOf(stats));
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
