/** Estimated costs in commands. The estimator itself is loaded on demand. Pure. */
import type { SessionUsage } from "@branchlog/core/types";
import type { CostEstimate } from "@branchlog/tools";

export type Estimator = (usage: SessionUsage) => CostEstimate;

/** Of `--json`: stored and estimated costs together; null: none is known. */
export interface EstimateInfo {
  readonly estimatedCost?: number | null;
  readonly unknownPrices?: readonly string[];
}

export function estimateJson(estimate: CostEstimate | undefined): EstimateInfo {
  if (estimate === undefined) return {};
  return { estimatedCost: estimate.cost ?? null, unknownPrices: estimate.unknown };
}
