/** Estimated costs from list prices, when an agent stores no cost. Pure. */
import type { SessionUsage, UsageTotals } from "@branchlog/core/types";
import { priceTable } from "./prices.ts";

/** In US dollars. */
export interface CostEstimate {
  /** Stored costs, and of the others those by the table; undefined: nothing is known. */
  readonly cost: number | undefined;
  /** What of it is by the table. */
  readonly estimated: number;
  /** Models without a price, whose requests are not in the sum; "" for requests without a model. */
  readonly unknown: readonly string[];
}

type Tokens = Pick<UsageTotals, "input" | "output" | "cacheRead" | "cacheWrite">;

/** Ids end with the date of a version, or with the size of a context. */
const suffix = /(?:-\d{8}|-\d{4}-\d\d-\d\d|-0|\[1m\])$/;

/**
 * The cost of tokens; undefined for a model that is not in the table. Caches count as kept for 5
 * minutes: sessions do not say how long.
 */
export function estimatedCost(model: string, tokens: Tokens): number | undefined {
  const price = priceTable.models.get(model.replace(suffix, "").replace(suffix, ""));
  if (price === undefined) return undefined;
  const { input, output, cacheRead, cacheWrite } = tokens;
  const sum =
    input * price.input +
    output * price.output +
    cacheRead * price.cacheRead +
    cacheWrite * price.cacheWrite;
  return sum / 1_000_000;
}

/** Of a session. A model of which any cost is stored counts with its stored costs. */
export function estimateOf({ byModel, unattributed }: SessionUsage): CostEstimate {
  const parts = [...byModel.values()].flatMap((models) => [...models]);
  const all: readonly (readonly [string, UsageTotals])[] = [...parts, ["", unattributed]];
  let cost: number | undefined;
  let estimated = 0;
  const unknown = new Set<string>();
  for (const [model, totals] of all) {
    if (totals.totalTokens === 0 && totals.cost === 0) continue;
    const found = totals.cost > 0 ? totals.cost : estimatedCost(model, totals);
    if (found === undefined) unknown.add(model);
    else {
      cost = (cost ?? 0) + found;
      if (totals.cost === 0) estimated += found;
    }
  }
  return { cost, estimated, unknown: [...unknown] };
}
