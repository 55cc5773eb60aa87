/**
 * Tokens and cost of a session, overall and by model, over the whole log and not one branch. Needs
 * the bodies of messages. Pure; resumable at any entry.
 */
import { continuedKey } from "../entries/answers.ts";
import type { AgentMessage, Usage } from "../entries/message-types.ts";
import type { SessionEntry } from "../entries/entry-types.ts";
import type { Projection } from "./projection.ts";
import { isStoredObject, storedNumber } from "./stored-value.ts";

/** Sums over requests: `cost` in US dollars, the others in tokens. */
export interface UsageTotals {
  /** How many stored usages were added up. */
  readonly requests: number;
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** The four above together. */
  readonly totalTokens: number;
  readonly cost: number;
}

/** `total` is `unattributed` and all of `byModel` together. */
export interface SessionUsage {
  readonly total: UsageTotals;
  /** By provider, then by model id, in order of first use. */
  readonly byModel: ReadonlyMap<string, ReadonlyMap<string, UsageTotals>>;
  /** Without a model: summaries, and usage of tools. */
  readonly unattributed: UsageTotals;
}

const noUsage: UsageTotals = {
  requests: 0,
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: 0,
};

/** Mutable for the fold that owns it. */
interface OwnUsage extends SessionUsage {
  readonly byModel: Map<string, Map<string, UsageTotals>>;
}

const fold: Projection<OwnUsage> = {
  name: "usage",
  version: 3,
  types: ["message", "usage", "model_usage", "compaction", "branch_summary"],
  initial: () => ({ total: noUsage, byModel: new Map(), unattributed: noUsage }),
  apply: (state, { entry }) => {
    const spent = spentBy(entry);
    if (spent === undefined) return state;
    // The continuation of an answer belongs to the same request.
    return plusSpent(state, spent, Reflect.has(entry, continuedKey) ? 0 : 1);
  },
  snapshot: (state) => ({ ...state, byModel: copyOf(state.byModel) }),
};

/**
 * Folds the usage of assistant messages, tool results, `usage` and `model_usage` entries,
 * compactions and branch summaries. Missing numbers count as 0. `apply` changes the given maps,
 * O(1) per entry; use `snapshot` to keep a state.
 */
export const usage: Projection<SessionUsage> = fold;

interface Spent {
  readonly usage: Usage;
  /** Undefined where the entry names no model. */
  readonly model: { readonly provider: string; readonly id: string } | undefined;
}

function spentBy(entry: SessionEntry): Spent | undefined {
  switch (entry.type) {
    case "message":
      return spentByMessage(entry.message);
    case "usage":
      return spentOn(entry.usage, entry.provider, entry.model);
    case "compaction":
    case "branch_summary":
      return spentOn(entry.usage, undefined, undefined);
    default:
      return spentByOmp(entry);
  }
}

/** What omp spent on a model outside the conversation. */
function spentByOmp(entry: SessionEntry): Spent | undefined {
  const type: string = entry.type;
  if (type !== "model_usage") return undefined;
  const [spent, provider, model] = ["usage", "provider", "model"].map((name): unknown =>
    Reflect.get(entry, name),
  );
  // Decoding boundary: its numbers are checked one by one.
  return spentOn(spent as Usage | undefined, provider, model);
}

function spentByMessage(message: AgentMessage): Spent | undefined {
  // Foreign files hold messages that are null.
  if (!isStoredObject(message)) return undefined;
  if (message.role === "assistant") return spentOn(message.usage, message.provider, message.model);
  return message.role === "toolResult" ? spentOn(message.usage, undefined, undefined) : undefined;
}

function spentOn(stored: Usage | undefined, provider: unknown, id: unknown): Spent | undefined {
  if (!isStoredObject(stored)) return undefined;
  const isNamed = typeof provider === "string" && typeof id === "string";
  return { usage: stored, model: isNamed ? { provider, id } : undefined };
}

function plusSpent(state: OwnUsage, spent: Spent, requests: 0 | 1): OwnUsage {
  const { usage: added, model } = spent;
  const total = plus(state.total, added, requests);
  if (model === undefined) {
    const unattributed = plus(state.unattributed, added, requests);
    return { total, byModel: state.byModel, unattributed };
  }
  const { byModel, unattributed } = state;
  const ofProvider = byModel.get(model.provider) ?? new Map<string, UsageTotals>();
  ofProvider.set(model.id, plus(ofProvider.get(model.id) ?? noUsage, added, requests));
  byModel.set(model.provider, ofProvider);
  return { total, byModel, unattributed };
}

/**
 * Missing numbers count as 0. A usage without tokens and cost is not counted as a request: agents
 * store it with an aborted answer, imports where the source has no usage.
 */
function plus(totals: UsageTotals, added: Usage, request: 0 | 1): UsageTotals {
  const input = totals.input + storedNumber(added.input);
  const output = totals.output + storedNumber(added.output);
  const cacheRead = totals.cacheRead + storedNumber(added.cacheRead);
  const cacheWrite = totals.cacheWrite + storedNumber(added.cacheWrite);
  const totalTokens = input + output + cacheRead + cacheWrite;
  const cost = totals.cost + storedNumber(added.cost?.total);
  const isSpent = totalTokens !== totals.totalTokens || cost !== totals.cost;
  const requests = totals.requests + (isSpent ? request : 0);
  return { requests, input, output, cacheRead, cacheWrite, totalTokens, cost };
}

/** The sums of {@link UsageTotals}, in their order. */
export type SavedTotals = readonly number[];

export interface SavedUsage {
  readonly total: SavedTotals;
  readonly unattributed: SavedTotals;
  readonly models: readonly (readonly [provider: string, id: string, totals: SavedTotals])[];
}

/** More models than any session has used: larger usages are folded again. */
export const savedModelsMax: number = 1_000;

/** Null if it is long, or JSON would change it. */
export function savedUsage({ total, byModel, unattributed }: SessionUsage): SavedUsage | null {
  const models = [...byModel].flatMap(([provider, ofProvider]) =>
    [...ofProvider].map(([id, totals]) => [provider, id, numbersOf(totals)] as const),
  );
  const saved = { total: numbersOf(total), unattributed: numbersOf(unattributed), models };
  const all = [saved.total, saved.unattributed, ...models.map(([, , totals]) => totals)];
  // A sum of huge numbers may be infinite.
  const isExact = all.every((totals) => totals.every((sum) => Number.isFinite(sum)));
  return isExact && models.length <= savedModelsMax ? saved : null;
}

/** As a state that can be folded further. */
export function restoredUsage({ total, unattributed, models }: SavedUsage): SessionUsage {
  const byModel: OwnUsage["byModel"] = new Map();
  for (const [provider, id, totals] of models) {
    const ofProvider = byModel.get(provider) ?? new Map<string, UsageTotals>();
    byModel.set(provider, ofProvider.set(id, totalsOf(totals)));
  }
  return { total: totalsOf(total), byModel, unattributed: totalsOf(unattributed) };
}

function numbersOf(totals: UsageTotals): SavedTotals {
  const { requests, input, output, cacheRead, cacheWrite, totalTokens, cost } = totals;
  return [requests, input, output, cacheRead, cacheWrite, totalTokens, cost];
}

function totalsOf(numbers: SavedTotals): UsageTotals {
  const [requests = 0, input = 0, output = 0, cacheRead = 0, cacheWrite = 0, ...others] = numbers;
  const [totalTokens = 0, cost = 0] = others;
  return { requests, input, output, cacheRead, cacheWrite, totalTokens, cost };
}

function copyOf(byModel: OwnUsage["byModel"]): OwnUsage["byModel"] {
  return new Map([...byModel].map(([provider, models]) => [provider, new Map(models)]));
}
