/**
 * What sessions cost, grouped and in the order in which the page shows it. Files are read once, and
 * again when they changed; nothing is read while the list of sessions is as it was.
 */
import { invalidArgument } from "@branchlog/core/files";
import { SpendingLedger, estimatedCost, noSums, plusSpent } from "@branchlog/tools";
import type { LedgerRecord, SpentSums } from "@branchlog/tools";
import type { CostFilter, CostGrouping, CostRow, CostTable, DayCosts } from "./api.ts";
import { keyOfPath } from "./session-directory.ts";
import type { SessionDirectory, ShownPlace } from "./session-directory.ts";

const rowsMax = 500;
const expensiveMax = 10;

export class SessionCosts {
  readonly #ledger: SpendingLedger | undefined;
  readonly #directory: SessionDirectory;
  #isOutdated = true;
  #records: Promise<readonly LedgerRecord[]> | undefined;

  constructor(place: ShownPlace, directory: SessionDirectory) {
    this.#ledger = "store" in place ? undefined : new SpendingLedger(place);
    this.#directory = directory;
    directory.follow(() => {
      this.#isOutdated = true;
    });
  }

  /** @throws BranchlogError `ERR_INVALID_ARGUMENT` for a store. */
  async table(by: CostGrouping, filter: CostFilter): Promise<CostTable> {
    const all = await this.#current();
    const { day, session } = filter;
    const ofSession =
      session === undefined ? all : all.filter(({ ownerPath }) => keyOfPath(ownerPath) === session);
    const chosen = day === undefined ? ofSession : ofSession.filter((one) => one.day === day);
    let total = noSums;
    for (const record of chosen) total = plusSpent(total, record);
    const rows = this.#rows(by, chosen);
    return {
      by,
      total: costRow("all", total),
      rows: rows.slice(0, rowsMax),
      leftOut: Math.max(0, rows.length - rowsMax),
      days: daysOf(ofSession),
      turns: this.#rows("turn", chosen).slice(0, expensiveMax),
    };
  }

  /** Requests that come together wait for the same records. */
  #current(): Promise<readonly LedgerRecord[]> {
    const ledger = this.#ledger;
    if (ledger === undefined) {
      throw invalidArgument("Costs of sessions in a store are not added up here.");
    }
    const known = this.#records;
    if (known !== undefined && !this.#isOutdated) return known;
    this.#isOutdated = false;
    // One after the other: a ledger answers one question at a time.
    const records = (known ?? Promise.resolve([]))
      .catch(() => undefined)
      .then(() => ledger.records());
    records.catch(() => {
      this.#isOutdated = true;
    });
    this.#records = records;
    return records;
  }

  #rows(by: CostGrouping, records: readonly LedgerRecord[]): readonly CostRow[] {
    const groups = new Map<unknown, { first: LedgerRecord; sums: SpentSums }>();
    for (const record of records) {
      // A turn is of no model.
      if (by === "model" && record.turns > 0) continue;
      const group = groupOf(by, record);
      const known = groups.get(group);
      if (known === undefined)
        groups.set(group, { first: record, sums: plusSpent(noSums, record) });
      else known.sums = plusSpent(known.sums, record);
    }
    const rows = [...groups.values()].map(({ first, sums }) => this.#row(by, first, sums));
    return by === "day"
      ? rows.toSorted((one, other) => (one.name < other.name ? -1 : 1))
      : rows.toSorted(isMoreExpensive);
  }

  #row(by: CostGrouping, first: LedgerRecord, sums: SpentSums): CostRow {
    if (by === "session") {
      const key = keyOfPath(first.ownerPath);
      return { ...costRow(this.#directory.titleOf(key), sums), key };
    }
    if (by !== "turn") return costRow(first[by], sums);
    const { entryId, prompt, timeMs } = first.turn;
    const key = keyOfPath(first.path);
    const name = prompt === "" ? this.#directory.titleOf(key) : prompt;
    const time = Number.isNaN(timeMs) ? null : timeMs;
    return { ...costRow(name, sums), key, entryId, timeMs: time };
  }
}

function groupOf(by: CostGrouping, record: LedgerRecord): unknown {
  if (by === "session") return record.ownerPath;
  return by === "turn" ? record.turn : record[by];
}

function daysOf(records: readonly LedgerRecord[]): readonly DayCosts[] {
  const days = new Map<string, Map<string, number>>();
  for (const { day, model, spent } of records) {
    if (day === "") continue;
    const models = days.get(day) ?? new Map<string, number>();
    days.set(day, models);
    const id = model.slice(model.indexOf("/") + 1);
    const cost = spent.cost > 0 ? spent.cost : (estimatedCost(id, spent) ?? 0);
    if (cost > 0) models.set(model, (models.get(model) ?? 0) + cost);
  }
  return [...days]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([day, models]) => ({ day, models: Object.fromEntries(models) }));
}

function costRow(name: string, sums: SpentSums): CostRow {
  const { requests, input, output, cacheRead, cacheWrite, cost, turns, unpriced } = sums;
  const { estimated, unestimated } = sums;
  return {
    name,
    requests,
    input,
    output,
    cacheRead,
    cacheWrite,
    cost: unpriced < requests ? cost : null,
    turns,
    unpriced,
    estimated: unestimated < requests ? estimated : null,
    unestimated,
    key: null,
    entryId: null,
    timeMs: null,
  };
}

function isMoreExpensive(one: CostRow, other: CostRow): number {
  const difference = (other.estimated ?? 0) - (one.estimated ?? 0);
  return difference === 0 ? tokensIn(other) - tokensIn(one) : difference;
}

function tokensIn({ input, output, cacheRead, cacheWrite }: CostRow): number {
  return input + output + cacheRead + cacheWrite;
}
