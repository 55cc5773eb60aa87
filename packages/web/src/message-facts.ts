/** What the page shows of a message: its blocks and their tokens, its model, what it used. */
import type { AgentMessage } from "@branchlog/core";
import type { SessionEntry } from "@branchlog/core/entries";
import { shownUsage } from "@branchlog/library/catalogs";
import type { Block, ContextMessage, Usage } from "./api.ts";
import { assistantMessage, fieldsOf, messageBlocks, shownUnitsMax, tokensOf } from "./blocks.ts";
import type { CallPlaces } from "./blocks.ts";

export const noPlaces: CallPlaces = { resultRow: () => null, callRow: () => null };

export function contextMessage(message: AgentMessage): ContextMessage {
  const blocks: Block[] = messageBlocks(message, { unitsMax: shownUnitsMax, places: noPlaces });
  return { role: message.role, blocks, tokens: tokensOf(blocks) };
}

export function modelOf(entry: SessionEntry | undefined): string | null {
  const { provider, model } = assistantMessage(entry) ?? {};
  const names = [provider, model].filter((name) => typeof name === "string");
  return names.length === 0 ? null : names.join("/");
}

export function messageUsage(entry: SessionEntry | undefined): Usage | null {
  const stored = fieldsOf(assistantMessage(entry)?.["usage"]);
  if (stored === undefined) return null;
  const count = (value: unknown): number => (typeof value === "number" ? value : 0);
  const { input, output, cacheRead, cacheWrite, cost } = stored;
  return shownUsage({
    requests: 1,
    input: count(input),
    output: count(output),
    cacheRead: count(cacheRead),
    cacheWrite: count(cacheWrite),
    cost: count(fieldsOf(cost)?.["total"]),
  });
}
