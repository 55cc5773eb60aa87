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
  /** As decoding its line returns it; undefined: unknown without decoding. */
  readonly entry: SessionEntry | undefined;
}

export interface PlannedLeaf {
  id: string | null;
  diverged: Divergence | undefined;
}

/** Fewer are searched one by one: most groups are one entry, and a map costs more than that. */
const searchedMax = 8;

export class PlannedLog {
  readonly target: AppendTarget;
  readonly path: string;
  readonly index: IndexTable;
  readonly #order: PlannedEntryFacts[] = [];
  #byId: Map<string, PlannedEntryFacts> | undefined;

  constructor(target: AppendTarget) {
    this.target = target;
    this.path = target.path;
    this.index = target.index;
  }

  get tailId(): string | null {
    return this.#order.at(-1)?.id ?? this.target.tailId;
  }

  has(id: string): boolean {
    return this.planned(id) !== undefined || this.index.rowOfId(id) >= 0;
  }

  planned(id: string | null): PlannedEntryFacts | undefined {
    if (this.#byId !== undefined) return id === null ? undefined : this.#byId.get(id);
    for (const entry of this.#order) if (entry.id === id) return entry;
    return undefined;
  }

  isUnused(id: string): boolean {
    return this.planned(id) === undefined && this.index.ids.find(id) < 0;
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
    const ids = this.#order.slice(-countMax).map(({ id }) => id);
    ids.reverse();
    for (let row = this.index.count - 1; row >= 0 && ids.length < countMax; row -= 1) {
      ids.push(this.index.idOf(row));
    }
    return ids;
  }

  add(entry: PlannedEntryFacts): void {
    this.#order.push(entry);
    if (this.#byId !== undefined) this.#byId.set(entry.id, entry);
    else if (this.#order.length > searchedMax) this.#byId = byId(this.#order);
  }

  get count(): number {
    return this.#order.length;
  }

  rollBack(count: number): void {
    for (const { id } of this.#order.splice(count)) this.#byId?.delete(id);
  }
}

function byId(entries: readonly PlannedEntryFacts[]): Map<string, PlannedEntryFacts> {
  return new Map(entries.map((entry) => [entry.id, entry]));
}

type PlannedEntryFacts = Pick<PlannedEntry, "diverged" | "id" | "parentId"> & {
  readonly encoded: EncodedDraft;
};
