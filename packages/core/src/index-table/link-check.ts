/**
 * Checks what entries say of other entries, besides their parents: references that lead nowhere,
 * and branches that nobody chose. Fed with bodies in file order; nothing is damage.
 */
import { divergedFrom } from "../entries/divergence.ts";
import { referencesOf } from "../entries/references.ts";
import type { Reference } from "../entries/references.ts";
import { entryPlace } from "./entry-place.ts";
import type { EntryPlace } from "./entry-place.ts";
import type { LogIndexer } from "./log-indexer.ts";
import { isOnPath } from "./tree-walk.ts";

/** The first entry of a branch that nobody chose. */
export interface DivergedEntry extends EntryPlace {
  readonly parentId: string | null;
  /** The last entry of the log when it was appended: it is on the branch of other writers. */
  readonly tailId: string;
}

/** A reference that leads nowhere, and the entry that holds it. */
export interface DanglingReference extends EntryPlace {
  readonly field: Reference["field"];
  readonly targetId: string;
  /** `log`: no entry has that id. `path`: none on the path to the entry. */
  readonly within: Reference["within"];
}

/** See the file comment. */
export class LinkCheck {
  readonly #indexer: Pick<LogIndexer, "index" | "lines">;
  readonly #marked: { readonly row: number; readonly tailId: string }[] = [];
  readonly #unresolved: { readonly row: number; readonly reference: Reference }[] = [];

  /** @param indexer That of the log; rows that are taken are linked. */
  constructor(indexer: Pick<LogIndexer, "index" | "lines">) {
    this.#indexer = indexer;
  }

  /** Takes the body of a row. Keeps nothing of an entry whose references lead somewhere. */
  take(row: number, entry: Readonly<Record<string, unknown>>): void {
    const tailId = divergedFrom(entry);
    if (tailId !== undefined) this.#marked.push({ row, tailId });
    const { type } = entry;
    for (const reference of typeof type === "string" ? referencesOf(type, entry) : []) {
      if (!this.#isResolved(row, reference)) this.#unresolved.push({ row, reference });
    }
  }

  /** In file order. A copy that leaves out the branch of the others has no divergence. */
  divergences(): DivergedEntry[] {
    const { index } = this.#indexer;
    return this.#marked
      .filter(({ row, tailId }) => index.isNode(row) && index.rowOfId(tailId) >= 0)
      .map(({ row, tailId }) => {
        return { ...entryPlace(this.#indexer, row), parentId: index.parentIdOf(row), tailId };
      });
  }

  /** In file order. Targets may be behind the entries that name them. */
  danglingReferences(): DanglingReference[] {
    return this.#unresolved
      .filter(({ row, reference }) => !this.#isResolved(row, reference))
      .map(({ row, reference: { field, id: targetId, within } }) => {
        return { ...entryPlace(this.#indexer, row), field, targetId, within };
      });
  }

  #isResolved(row: number, { id, within }: Reference): boolean {
    const { index } = this.#indexer;
    return within === "log" ? index.rowOfId(id) >= 0 : isOnPath(index, row, id);
  }
}
