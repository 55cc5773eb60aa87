/** Adds up the usage of sessions, by project, day, model and agent. Pure; memory: the groups. */
import type { UsageTotals } from "@branchlog/core/types";
import { estimatedCost } from "./estimate.ts";

/** The facts of one entry of a session. */
export interface SpentRecord {
  /** The working directory; of a subagent, that of the session that started it. */
  readonly project: string;
  /** Of the local time zone, as `2026-01-05`; empty without a valid time. */
  readonly day: string;
  /** As `provider/id`; empty if unknown. */
  readonly model: string;
  readonly agent: string;
  /** 1 for a message of the user. */
  readonly turns: 0 | 1;
  readonly spent: UsageTotals;
}

export interface SpentSums extends UsageTotals {
  /** Messages of users; prompts to subagents are not counted. */
  readonly turns: number;
  /** How many of the requests have no price. `cost` is the sum of the others. */
  readonly unpriced: number;
  /** `cost`, and the estimated cost of requests without a price. */
  readonly estimated: number;
  /** How many of the requests have neither. */
  readonly unestimated: number;
}

/** How sums are grouped. */
export type SpentGrouping = "project" | "day" | "model" | "agent";

export interface SpentGroups {
  readonly total: SpentSums;
  /** By name, in order of first appearance. */
  readonly groups: Readonly<Record<SpentGrouping, ReadonlyMap<string, SpentSums>>>;
}

/** Mutable for the fold that owns it. */
interface OwnGroups extends SpentGroups {
  readonly groups: Record<SpentGrouping, Map<string, SpentSums>>;
}

/** Of nothing. */
export const noSums: SpentSums = {
  turns: 0,
  requests: 0,
  unpriced: 0,
  estimated: 0,
  unestimated: 0,
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: 0,
};

export function noGroups(): OwnGroups {
  const groups = { project: new Map(), day: new Map(), model: new Map(), agent: new Map() };
  return { total: noSums, groups };
}

/** Consumes the given groups: use only the result. */
export function plusRecord({ total, groups }: OwnGroups, record: SpentRecord): OwnGroups {
  const { project, day, model, agent } = record;
  add(groups.project, project, record);
  add(groups.day, day, record);
  add(groups.agent, agent, record);
  // A turn has no model.
  if (record.turns === 0) add(groups.model, model, record);
  return { total: plusSpent(total, record), groups };
}

function add(sums: Map<string, SpentSums>, name: string, record: SpentRecord): void {
  sums.set(name, plusSpent(sums.get(name) ?? noSums, record));
}

/** The sums with one record more. A cost of 0 is an unknown price: so agents store it. */
export function plusSpent(sums: SpentSums, { turns, model, spent }: SpentRecord): SpentSums {
  const id = model.slice(model.indexOf("/") + 1);
  const estimate = spent.cost > 0 ? spent.cost : estimatedCost(id, spent);
  return {
    estimated: sums.estimated + (estimate ?? 0),
    unestimated: sums.unestimated + (estimate === undefined ? spent.requests : 0),
    turns: sums.turns + turns,
    requests: sums.requests + spent.requests,
    unpriced: sums.unpriced + (spent.cost > 0 ? 0 : spent.requests),
    input: sums.input + spent.input,
    output: sums.output + spent.output,
    cacheRead: sums.cacheRead + spent.cacheRead,
    cacheWrite: sums.cacheWrite + spent.cacheWrite,
    totalTokens: sums.totalTokens + spent.totalTokens,
    cost: sums.cost + spent.cost,
  };
}
