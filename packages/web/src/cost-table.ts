/** What sessions cost, grouped and in the order in which the page shows it. */
import { invalidArgument } from "@branchlog/core/files";
import { usageStatistics } from "@branchlog/tools";
import type { SpentSums } from "@branchlog/tools";
import type { CostRow, CostTable } from "./api.ts";
import type { ShownPlace } from "./session-directory.ts";

export async function costTable(
  by: CostTable["by"],
  place: ShownPlace,
  signal: AbortSignal,
): Promise<CostTable> {
  if ("store" in place)
    throw invalidArgument("Costs of sessions in a store are not added up here.");
  const { total, groups } = await usageStatistics(place, { signal });
  const rows = [...groups[by]].map(([name, sums]) => costRow(name, sums));
  const sorted =
    by === "day"
      ? rows.toSorted((one, other) => (one.name < other.name ? -1 : 1))
      : rows.toSorted((one, other) => tokensIn(other) - tokensIn(one));
  return { by, total: costRow("all", total), rows: sorted };
}

function costRow(name: string, sums: SpentSums): CostRow {
  const { requests, input, output, cacheRead, cacheWrite, cost, turns, unpriced } = sums;
  const known = unpriced < requests ? cost : null;
  return { name, requests, input, output, cacheRead, cacheWrite, cost: known, turns, unpriced };
}

function tokensIn({ input, output, cacheRead, cacheWrite }: CostRow): number {
  return input + output + cacheRead + cacheWrite;
}
