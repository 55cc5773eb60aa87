/** A log as if the entries that were planned so far were in it. */
import type { EncodedDraft } from "../entries/entry-draft.ts";
import type { Divergence } from "../entries/divergence.ts";
import type { SessionEntry } from "../entries/entry-types.ts";
import type { Reference } from "../entries/references.ts";
import type { IndexTable } from "../index-table/index-table.ts";
import { isOnPath } from "../index-table/tree-walk.ts";

export interface AppendTarget {
  readonly path: string;
  readonly index: IndexTable;
  readonly tailId: string | null;
  mintEntryId(): string;
  entrySync(id: string): SessionEntry | undefined;
}

export interface PlannedEntry {
  readonly id: string;
  readonly parentId: string | null;
  /** The line to write; null for a retry of what the log holds already. */
  readonly line: Buffer | null;
  readonly attachedTo: "leaf" | "tail" | "entry";
  readonly leafId: string | null;
  /** Set if other writers had continued from the same leaf, unknown to the session. */
  readonly diverged: Divergence | undefined;
  readonly dangling: Reference | undefined;
  /** As decoding its line gives it; undefined: only that does. */
  readonly entry: SessionEntry | undefined;
}

export interface PlannedLeaf {
  id: string | null;
  diverged: Divergence | undefined;
}

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
