/**
 * The usage of a session of goose. Newer versions store it with each answer, and all versions since
 * the ledger a row for each request; older ones only the sums of a session. Each is counted once.
 * Pure.
 */
import type { Usage } from "@branchlog/core/entries";
import { countAt, objectAt, usageOf } from "@branchlog/core/rows";
import type { JsonObject } from "@branchlog/streaming";

/** The input, including cache reads and writes. */
export interface Spent {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly cost: number;
}

export interface LedgerRow {
  readonly row: number;
  readonly createdMs: number;
  readonly model: string | undefined;
  readonly isCompaction: boolean;
  /** Not a request: the usage before the ledger. */
  readonly isCarried: boolean;
  readonly spent: Spent;
}

interface Answer {
  readonly metadata: JsonObject | undefined;
}

const nothing: Spent = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0 };

/** By the metadata of a message. */
export function spentOn(metadata: JsonObject | undefined): Spent | undefined {
  const usage = objectAt(metadata, "usage");
  if (usage === undefined) return undefined;
  return {
    input: countAt(usage, "inputTokens"),
    output: countAt(usage, "outputTokens"),
    cacheRead: countAt(usage, "cacheReadTokens"),
    cacheWrite: countAt(usage, "cacheWriteTokens"),
    cost: countAt(usage, "cost"),
  };
}

export function usageOfSpent(spent: Spent = nothing): Usage {
  const { input, output, cacheRead, cacheWrite, cost } = spent;
  const usage = usageOf(Math.max(0, input - cacheRead - cacheWrite), output, cacheRead, cacheWrite);
  return { ...usage, cost: { ...usage.cost, total: cost } };
}

/** The requests of the ledger that no answer has. */
export function unclaimed(
  ledger: readonly LedgerRow[],
  answers: readonly Answer[],
): readonly LedgerRow[] {
  const claims = new Map<string, number>();
  for (const spent of spentOnEach(answers)) {
    const key = tokensKey(spent);
    claims.set(key, (claims.get(key) ?? 0) + 1);
  }
  return ledger.filter(({ isCarried, isCompaction, spent }) => {
    if (isCarried) return false;
    const key = tokensKey(spent);
    const claimed = claims.get(key) ?? 0;
    if (isCompaction || claimed === 0) return true;
    claims.set(key, claimed - 1);
    return false;
  });
}

/** The usage of a session in addition to its answers and requests. */
export function earlierSpent(
  accumulated: Spent,
  ledger: readonly LedgerRow[],
  answers: readonly Answer[],
): Spent {
  const inLedger = sumOf(ledger.map((row) => row.spent));
  const requests = unclaimed(ledger, answers).map((row) => row.spent);
  const counted = sumOf([...spentOnEach(answers), ...requests]);
  const total = ofBoth(accumulated, inLedger, Math.max);
  return ofBoth(total, counted, (one, other) => {
    const rest = one - other;
    // Costs are added up with rounding.
    return rest > 1e-9 ? rest : 0;
  });
}

function spentOnEach(answers: readonly Answer[]): readonly Spent[] {
  return answers.flatMap(({ metadata }) => spentOn(metadata) ?? []);
}

function tokensKey({ input, output, cacheRead, cacheWrite }: Spent): string {
  return [input, output, cacheRead, cacheWrite].join();
}

function sumOf(all: readonly Spent[]): Spent {
  return all.reduce((sum, one) => ofBoth(sum, one, (a, b) => a + b), nothing);
}

function ofBoth(one: Spent, other: Spent, of: (one: number, other: number) => number): Spent {
  return {
    input: of(one.input, other.input),
    output: of(one.output, other.output),
    cacheRead: of(one.cacheRead, other.cacheRead),
    cacheWrite: of(one.cacheWrite, other.cacheWrite),
    cost: of(one.cost, other.cost),
  };
}
