/**
 * The log as it will be once everything planned so far is in it: what the index holds, and the
 * entries that are to be written together. Plans that come later see those before them, as if each
 * had been written by itself; one that fails is taken back and leaves no trace.
 */
import type { EncodedDraft } from "../entries/encode-entry.ts";
import type { IndexTable } from "../index-table/index-table.ts";

/** An entry that is to be written. */
export interface PlannedEntryFacts {
  readonly id: string;
  readonly parentId: string | null;
  readonly encoded: EncodedDraft;
}

/** A state of the planned log that can be returned to. */
export interface PlanMark {
  readonly count: number;
  readonly tailId: string | null;
}

/** See the file comment. */
export class PlannedLog {
  readonly path: string;
  readonly index: IndexTable;
  readonly #planned = new Map<string, PlannedEntryFacts>();
  readonly #order: string[] = [];
  #tailId: string | null;

  /** @param tailId The last readable entry of the log, caught up. */
  constructor(path: string, index: IndexTable, tailId: string | null) {
    this.path = path;
    this.index = index;
    this.#tailId = tailId;
  }

  /** The last entry, planned ones included. */
  get tailId(): string | null {
    return this.#tailId;
  }

  /** Whether the log has an entry with that id, or will have. */
  has(id: string): boolean {
    return this.#planned.has(id) || this.index.rowOfId(id) >= 0;
  }

  /** The planned entry with that id. */
  planned(id: string): PlannedEntryFacts | undefined {
    return this.#planned.get(id);
  }

  /** Whether nothing has this id, nor names it as its parent. */
  isUnused(id: string): boolean {
    return !this.#planned.has(id) && this.index.ids.find(id) < 0;
  }

  /** Plans one more entry at the end. */
  add(entry: PlannedEntryFacts): void {
    this.#planned.set(entry.id, entry);
    this.#order.push(entry.id);
    this.#tailId = entry.id;
  }

  /** The state now, to return to. */
  mark(): PlanMark {
    return { count: this.#order.length, tailId: this.#tailId };
  }

  /** Takes back what was planned since. */
  rollBack({ count, tailId }: PlanMark): void {
    for (const id of this.#order.splice(count)) this.#planned.delete(id);
    this.#tailId = tailId;
  }
}
