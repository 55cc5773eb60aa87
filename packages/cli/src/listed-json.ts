/** A session of a list in `--json`. Pure. */
import type { GroupedSession, ListedUsage } from "@branchlog/library";
import { recordsTokens } from "@branchlog/library/catalogs";
import { estimateJson } from "./cost-estimate.ts";
import type { Estimator } from "./cost-estimate.ts";
import { agentOf } from "./session-filter.ts";
import { knownCost } from "./text/quantities.ts";

function usageJson(usage: ListedUsage | undefined): object {
  if (usage === undefined) return unknownUsage;
  if (!recordsTokens(usage)) return { ...unknownUsage, models: usage.models };
  const { requests, input, output, cacheRead, cacheWrite, cost } = usage.total;
  const spent = { requests, tokens: input + output, input, output, cacheRead, cacheWrite };
  return { models: usage.models, ...spent, cost: knownCost(cost) };
}

const unknown = { requests: null, tokens: null, input: null, output: null };
const unknownUsage = { models: [], ...unknown, cacheRead: null, cacheWrite: null, cost: null };

/** A session in `--json`; null: unknown. */
export function listedJson(
  { session, depth, parent }: GroupedSession,
  estimateOf?: Estimator,
): object {
  const { path, header, name, summary, usage, modifiedMs, sizeBytes } = session;
  const { messageCount = null, firstMessage } = summary;
  return {
    kind: "session",
    path,
    id: header.id,
    name,
    cwd: header.cwd,
    agent: agentOf(session),
    created: header.timestamp,
    modified: new Date(modifiedMs).toISOString(),
    messageCount,
    firstMessage,
    sizeBytes: sizeBytes ?? null,
    ...usageJson(usage),
    ...estimateJson(usage && estimateOf?.(usage)),
    depth,
    parent: parent && { reference: parent.reference, path: parent.session?.path ?? null },
  };
}
