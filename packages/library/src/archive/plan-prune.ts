/** Which sessions are pruned: by age, by number, by size. Pure. */
import { sharesFiles } from "../catalog/agent-files.ts";
import type { ListedSession } from "../catalog/listed-session.ts";

export interface PruneRules {
  /** Those that changed last before this time, in epoch ms. */
  readonly beforeMs?: number | undefined;
  /** All but so many that changed last. */
  readonly keep?: number | undefined;
  /** All but those that changed last and take at most so many bytes together. */
  readonly keepBytes?: number | undefined;
}

/**
 * The sessions to which any of the rules applies, those that changed last first. Those that share a
 * file with others cannot be archived, and do not count.
 */
export function planPrune(
  sessions: readonly ListedSession[],
  { beforeMs = -Infinity, keep = Infinity, keepBytes = Infinity }: PruneRules,
): readonly ListedSession[] {
  let bytes = 0;
  return sessions
    .filter(({ path }) => !sharesFiles(path))
    .toSorted((one, other) => other.modifiedMs - one.modifiedMs)
    .filter(({ modifiedMs, sizeBytes = 0 }, at) => {
      bytes += sizeBytes;
      return modifiedMs < beforeMs || at >= keep || bytes > keepBytes;
    });
}
