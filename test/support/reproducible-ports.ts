/** Clock and ids that give the same bytes on every run. */
import { ManualClock, createSeededIds } from "@branchlog/core/testing";
import type { Clock, IdSource } from "@branchlog/core/testing";

/** A clock fixed at 2026-01-01 and ids from a seed. */
export function reproducible(seed = 1): { clock: Clock; ids: IdSource } {
  const clock = new ManualClock(Date.UTC(2026, 0, 1));
  return { clock, ids: createSeededIds(seed, clock) };
}
