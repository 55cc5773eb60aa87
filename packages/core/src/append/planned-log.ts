/** A log as if the entries that were planned so far were in it. */
import type { EncodedDraft } from "../entries/encode-entry.ts";
import type { IndexTable } from "../index-table/index-table.ts";
import { isOnPath } from "../index-table/tree-walk.ts";
import type { AppendTarget, PlannedEntry } from "./plan.ts";

export class PlannedLog {
  readonly target: AppendTarget;
  readonly path: string;
  readonly index: IndexTable;
  readonly #planned = new Map<string, PlannedEntryFacts>();
  readonly #order: string[] = [];
  tailId: string | null;

  constructor(target: AppendTarget) {
    this.target = target;
    this.path = target.path;
    this.index = target.index;
    this.tailId = target.tailId;
  }

  has(id: string): boolean {
    return this.#planned.has(id) || this.index.rowOfId(id) >= 0;
  }

  planned(id: string | null): PlannedEntryFacts | undefined {
    return id === null ? undefined : this.#planned.get(id);
  }

  isUnused(id: string): boolean {
    return !this.#planned.has(id) && this.index.ids.find(id) < 0;
  }

  isOnPath(from: string | null, id: string): boolean {
    let at = from;
    for (let planned = this.planned(at); planned !== undefined; planned = this.planned(at)) {
      if (at === id) return true;
      at = planned.parentId;
    }
    return at !== null && isOnPath(this.index, this.index.rowOfId(at), id);
  }

  lastIds(countMax: number): string[] {
    const ids = this.#order.slice(-countMax).toReversed();
    for (let row = this.index.count - 1; row >= 0 && ids.length < countMax; row -= 1) {
      ids.push(this.index.idOf(row));
    }
    return ids;
  }

  add(entry: PlannedEntryFacts): void {
    this.#planned.set(entry.id, entry);
    this.#order.push(entry.id);
    this.tailId = entry.id;
  }

  mark(): PlanMark {
    return { count: this.#order.length, tailId: this.tailId };
  }

  rollBack({ count, tailId }: PlanMark): void {
    for (const id of this.#order.splice(count)) this.#planned.delete(id);
    this.tailId = tailId;
  }
}

type PlannedEntryFacts = Pick<PlannedEntry, "diverged" | "id" | "parentId"> & {
  readonly encoded: EncodedDraft;
};

type PlanMark = { readonly count: number; readonly tailId: string | null };
