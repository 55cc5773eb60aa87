/**
 * The usage of a session, folded entry by entry like `Session.usage`, and the models that answered.
 * Answers whose bodies were not read cost no projection. Sums and saved form.
 */
import { finiteNumber, savedList, savedText, usage } from "@branchlog/core/rows";
import type { SessionEntry } from "@branchlog/core";
import type { SessionUsage, UsageTotals } from "@branchlog/core/types";
import type { ScannedAnswer, ScannedModel } from "@branchlog/streaming";

/** Over all branches, the same for every agent. */
export interface ListedUsage extends SessionUsage {
  /**
   * Ids of the models that answered, in order of their first answers; without those that only
   * generated a title or a summary.
   */
  readonly models: readonly string[];
}

/** Whether tokens are known: some agents, and some models, record none. */
export function recordsTokens({ total, models }: ListedUsage): boolean {
  return total.requests > 0 || models.length === 0;
}

export class UsageFold {
  readonly #total: Sums;
  readonly #unattributed: Sums;
  readonly #byModel = new Map<string, Map<string, Sums>>();
  readonly #answering: Set<string>;
  /** Of the last answer that was not read whole. */
  #model: ScannedModel | undefined;
  #own: Sums | undefined;

  constructor(known?: ListedUsage) {
    this.#total = new Sums(known?.total);
    this.#unattributed = new Sums(known?.unattributed);
    this.#answering = new Set(known?.models);
    for (const [provider, id, totals] of modelsOf(known)) this.#sumsOf(provider, id).add(totals);
  }

  get value(): ListedUsage {
    const byModel = new Map<string, Map<string, UsageTotals>>();
    for (const [provider, models] of this.#byModel) {
      const totals = new Map<string, UsageTotals>();
      for (const [id, sums] of models) totals.set(id, sums.totals);
      byModel.set(provider, totals);
    }
    const [total, unattributed] = [this.#total.totals, this.#unattributed.totals];
    return { total, byModel, unattributed, models: [...this.#answering] };
  }

  entry(entry: SessionEntry): void {
    const spent = usage.apply(usage.initial(), { revision: 0, entry });
    this.#add(spent);
    const model = answeringModel(entry);
    if (model !== undefined) this.#answering.add(model);
  }

  /** Of another session. */
  add(others: ListedUsage): void {
    this.#add(others);
    for (const model of others.models) this.#answering.add(model);
  }

  /** An assistant's message of which only this was read. */
  answer(answer: ScannedAnswer): void {
    const { model } = answer;
    if (this.#own === undefined || this.#model !== model) {
      this.#model = model;
      this.#own = this.#sumsOf(model.provider, model.id);
      if (isNamed(model.id)) this.#answering.add(model.id);
    }
    this.#total.addAnswer(answer);
    this.#own.addAnswer(answer);
  }

  #add(spent: SessionUsage): void {
    this.#total.add(spent.total);
    this.#unattributed.add(spent.unattributed);
    for (const [provider, id, totals] of modelsOf(spent)) this.#sumsOf(provider, id).add(totals);
  }

  #sumsOf(provider: string, id: string): Sums {
    const models = this.#byModel.get(provider) ?? new Map<string, Sums>();
    this.#byModel.set(provider, models);
    const sums = models.get(id) ?? new Sums();
    models.set(id, sums);
    return sums;
  }
}

const none: UsageTotals = usage.initial().total;

function* modelsOf(
  known: SessionUsage | undefined,
): Generator<readonly [provider: string, id: string, totals: UsageTotals]> {
  for (const [provider, models] of known?.byModel ?? []) {
    for (const [id, totals] of models) yield [provider, id, totals];
  }
}

/** Adds up as the projection does, without an object for each answer. */
class Sums {
  #requests = 0;
  #input = 0;
  #output = 0;
  #cacheRead = 0;
  #cacheWrite = 0;
  #cost = 0;

  constructor(known?: UsageTotals) {
    if (known !== undefined) this.add(known);
  }

  add({ requests, input, output, cacheRead, cacheWrite, cost }: UsageTotals): void {
    this.#requests += requests;
    this.#input += input;
    this.#output += output;
    this.#cacheRead += cacheRead;
    this.#cacheWrite += cacheWrite;
    this.#cost += cost;
  }

  addAnswer({ input, output, cacheRead, cacheWrite, cost }: ScannedAnswer): void {
    const costBefore = this.#cost;
    this.#input += input;
    this.#output += output;
    this.#cacheRead += cacheRead;
    this.#cacheWrite += cacheWrite;
    this.#cost += cost;
    const tokens = input + output + cacheRead + cacheWrite;
    if (tokens > 0 || this.#cost !== costBefore) this.#requests += 1;
  }

  get totals(): UsageTotals {
    const [requests, cost] = [this.#requests, this.#cost];
    const [input, output] = [this.#input, this.#output];
    const [cacheRead, cacheWrite] = [this.#cacheRead, this.#cacheWrite];
    const totalTokens = input + output + cacheRead + cacheWrite;
    return { requests, input, output, cacheRead, cacheWrite, totalTokens, cost };
  }
}

/** Undefined for an entry that is not an answer, and for an answer without a model. */
function answeringModel(entry: SessionEntry): string | undefined {
  if (entry.type !== "message") return undefined;
  // Decoding boundary: foreign files hold messages that are null.
  const message: unknown = entry.message;
  if (typeof message !== "object" || message === null) return undefined;
  const [role, model] = ["role", "model"].map((key): unknown => Reflect.get(message, key));
  return role === "assistant" && typeof model === "string" && isNamed(model) ? model : undefined;
}

/** Some have `<synthetic>` where no model answered. */
function isNamed(model: string): boolean {
  return /^[^<]/.test(model);
}

/** The sum of several sessions. */
export function usageOfAll(all: readonly ListedUsage[]): ListedUsage {
  const sums = new UsageFold();
  for (const one of all) sums.add(one);
  return sums.value;
}

type SavedTotals = readonly number[];
type SavedModel = readonly [provider: string, id: string, totals: SavedTotals];

/**
 * Short, as thousands are loaded together: without `total` where it is that of the only model,
 * without `unattributed` where it is nothing, without the names that answered where all did.
 */
type SavedUsage = readonly [
  total: SavedTotals,
  unattributed: SavedTotals,
  models: readonly SavedModel[],
  answering?: readonly string[],
];

/** More than any session has: larger ones are read again. */
const modelsMax = 1_000;

/** Null if it is long. */
export function savedListedUsage(known: ListedUsage): SavedUsage | null {
  const models = [...modelsOf(known)];
  const { total, unattributed, models: answering } = known;
  if (models.length > modelsMax || answering.length > modelsMax) return null;
  const isNothing = unattributed.totalTokens + unattributed.cost === 0;
  const [[, , only] = []] = models.length === 1 ? models : [];
  const saved = [
    only !== undefined && isSame(total, only) ? [] : numbersOf(total),
    isNothing ? [] : numbersOf(unattributed),
    models.map(([provider, id, totals]) => [provider, id, numbersOf(totals)] as const),
  ] as const;
  const areAll =
    answering.length === models.length && models.every(([, id], at) => answering[at] === id);
  return areAll ? saved : [...saved, answering];
}

/** Throws `TypeError` for what was not saved. */
export function readListedUsage(saved: readonly unknown[]): ListedUsage {
  const byModel = new Map<string, Map<string, UsageTotals>>();
  const ids: string[] = [];
  let only: UsageTotals | undefined;
  for (const one of savedList(saved[2], modelsMax)) {
    const model = savedList(one, 3);
    const [provider, id] = [savedText(model[0]), savedText(model[1])];
    only = totalsOf(model[2]);
    ids.push(id);
    const ofProvider = byModel.get(provider);
    if (ofProvider === undefined) byModel.set(provider, new Map([[id, only]]));
    else ofProvider.set(id, only);
  }
  return {
    total: isLeftOut(saved[0]) ? (only ?? none) : totalsOf(saved[0]),
    byModel,
    unattributed: isLeftOut(saved[1]) ? none : totalsOf(saved[1]),
    models: saved.length < 4 ? ids : savedList(saved[3], modelsMax).map(savedText),
  };
}

function isLeftOut(value: unknown): boolean {
  return savedList(value, 6).length === 0;
}

function isSame(one: UsageTotals, other: UsageTotals): boolean {
  const [own, others] = [numbersOf(one), numbersOf(other)];
  return own.every((sum, at) => Object.is(sum, others[at]));
}

function numbersOf(totals: UsageTotals): SavedTotals {
  const { requests, input, output, cacheRead, cacheWrite, cost } = totals;
  return [requests, input, output, cacheRead, cacheWrite, cost];
}

function totalsOf(value: unknown): UsageTotals {
  const sums = savedList(value, 6);
  const input = finiteNumber(sums[1]);
  const output = finiteNumber(sums[2]);
  const cacheRead = finiteNumber(sums[3]);
  const cacheWrite = finiteNumber(sums[4]);
  return {
    requests: finiteNumber(sums[0]),
    input,
    output,
    cacheRead,
    cacheWrite,
    totalTokens: input + output + cacheRead + cacheWrite,
    cost: finiteNumber(sums[5]),
  };
}
