/** Effects and usage of a turn. Sums of a turn are sums of its entries, each counted once. Pure. */
import type { SessionUsage } from "@branchlog/core/types";
import { usage } from "@branchlog/core/rows";
import type { TouchedFile, TurnHead, Usage } from "./shown-conversation.ts";
import type { CallItem, PlacedEntry, TurnItem } from "./turn-items.ts";

/** The estimated cost of tokens without a stored cost. */
export type EstimateCost = (usage: SessionUsage) => {
  readonly cost: number | undefined;
  readonly estimated: number;
};

export interface TurnFacts {
  readonly usage: SessionUsage;
  /** Epoch milliseconds of its first entry; NaN: unknown. */
  readonly startedMs: number;
  /** From its first entry to its last message; 0: unknown. */
  readonly durationMs: number;
  /** Files that its calls edited or wrote, in the order of their first change. */
  readonly files: readonly TouchedFile[];
  readonly calls: number;
  /** Failed calls and answers. */
  readonly errors: number;
}

/** Adds up the entries of a turn, in their order, in any number of parts. */
export class TurnSum {
  #usage = usage.initial();
  #startedMs = Number.NaN;
  #endedMs = Number.NaN;
  #calls = 0;
  #errors = 0;
  readonly #files: Map<string, TouchedFile>;

  /** @param start Continues from there, without changing it. */
  constructor(start?: TurnSum) {
    this.#files = new Map(start === undefined ? [] : start.#files);
    if (start === undefined) return;
    this.#usage = usage.snapshot?.(start.#usage) ?? start.#usage;
    this.#startedMs = start.#startedMs;
    this.#endedMs = start.#endedMs;
    this.#calls = start.#calls;
    this.#errors = start.#errors;
  }

  /** @param items Of these entries. */
  add(entries: readonly PlacedEntry[], items: readonly TurnItem[]): void {
    for (const { entry, timeMs, type, role } of entries) {
      if (entry !== undefined) this.#usage = usage.apply(this.#usage, { revision: 0, entry });
      if (Number.isNaN(timeMs)) continue;
      if (Number.isNaN(this.#startedMs)) this.#startedMs = timeMs;
      if (type === "message" && timedRoles.has(role ?? "")) this.#endedMs = timeMs;
    }
    for (const item of items) {
      if (isFailed(item)) this.#errors += 1;
      if (item.kind !== "call") continue;
      this.#calls += 1;
      this.#touch(item);
    }
  }

  /** An edit that failed, or that no result followed, changed nothing. */
  #touch(item: CallItem): void {
    const { use, result } = item;
    if (result === null || isFailed(item)) return;
    if (use.kind !== "edit" && use.kind !== "write") return;
    const { path } = use;
    const before = this.#files.get(path) ?? { path, added: 0, removed: 0 };
    const added = before.added + use.added;
    this.#files.set(path, { path, added, removed: before.removed + use.removed });
  }

  get facts(): TurnFacts {
    const durationMs = this.#endedMs - this.#startedMs;
    return {
      usage: this.#usage,
      startedMs: this.#startedMs,
      durationMs: durationMs > 0 ? durationMs : 0,
      files: [...this.#files.values()],
      calls: this.#calls,
      errors: this.#errors,
    };
  }
}

/** A command that the user runs later does not make a turn longer. */
const timedRoles: ReadonlySet<string> = new Set(["user", "assistant", "toolResult"]);

export function turnFacts(entries: readonly PlacedEntry[], items: readonly TurnItem[]): TurnFacts {
  const sum = new TurnSum();
  sum.add(entries, items);
  return sum.facts;
}

/** As it is shown. Agents store 0 for an unknown price. */
export function shownUsage(totals: Omit<Usage, "cost"> & { readonly cost: number }): Usage {
  const { requests, input, output, cacheRead, cacheWrite, cost } = totals;
  return { requests, input, output, cacheRead, cacheWrite, cost: cost > 0 ? cost : null };
}

export interface HeadPlace {
  readonly entryCount: number;
  readonly lastRow: number;
  readonly isPartial: boolean;
}

/** @param estimate The estimated cost of tokens without a stored cost. */
export function shownHead(
  { usage: spent, ...facts }: TurnFacts,
  estimate: EstimateCost,
  place: HeadPlace,
): TurnHead {
  const { cost, estimated } = estimate(spent);
  return {
    ...facts,
    ...place,
    models: [...spent.byModel.values()].flatMap((models) => [...models.keys()]),
    usage: shownUsage({ ...spent.total, cost: cost ?? 0 }),
    isEstimate: estimated > 0,
  };
}

function isFailed(item: TurnItem): boolean {
  if (item.kind === "call") return item.result?.isError === true;
  return item.kind === "error" || (item.kind === "note" && item.isError);
}
