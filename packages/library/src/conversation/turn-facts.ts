/** What a turn did and spent. Sums of a turn are sums of its entries, each counted once. Pure. */
import type { SessionUsage } from "@branchlog/core/types";
import { usage } from "@branchlog/core/rows";
import type { TouchedFile } from "./shown-calls.ts";
import type { PlacedEntry, TurnItem } from "./turn-items.ts";

export interface TurnFacts {
  readonly usage: SessionUsage;
  /** Epoch milliseconds of its first entry; NaN: unknown. */
  readonly startedMs: number;
  /** From its first to its last message; 0: unknown. */
  readonly durationMs: number;
  /** Files that its calls edited or wrote, in the order of their first change. */
  readonly files: readonly TouchedFile[];
  readonly calls: number;
  /** Failed calls and answers. */
  readonly errors: number;
}

export function turnFacts(entries: readonly PlacedEntry[], items: readonly TurnItem[]): TurnFacts {
  let spent = usage.initial();
  let [startedMs, endedMs] = [entries[0]?.timeMs ?? Number.NaN, Number.NaN];
  for (const { entry, timeMs, type } of entries) {
    if (entry !== undefined) spent = usage.apply(spent, { revision: 0, entry });
    if (Number.isNaN(startedMs)) startedMs = timeMs;
    if (type === "message" && !Number.isNaN(timeMs)) endedMs = timeMs;
  }
  const calls = items.filter((item) => item.kind === "call");
  return {
    usage: spent,
    startedMs,
    durationMs: endedMs > startedMs ? endedMs - startedMs : 0,
    files: touchedFiles(items),
    calls: calls.length,
    errors: items.filter(isFailed).length,
  };
}

function isFailed(item: TurnItem): boolean {
  if (item.kind === "call") return item.result?.isError === true;
  return item.kind === "error" || (item.kind === "note" && item.isError);
}

/** An edit that failed, or that no result followed, changed nothing. */
function touchedFiles(items: readonly TurnItem[]): readonly TouchedFile[] {
  const files = new Map<string, TouchedFile>();
  for (const item of items) {
    if (item.kind !== "call" || item.result === null || isFailed(item)) continue;
    const { use } = item;
    if (use.kind !== "edit" && use.kind !== "write") continue;
    const { path } = use;
    const before = files.get(path) ?? { path, added: 0, removed: 0 };
    files.set(path, {
      path,
      added: before.added + use.added,
      removed: before.removed + use.removed,
    });
  }
  return [...files.values()];
}
