/**
 * Everything that was found wrong with a log, in one list: what its lines are, what its tree lacks,
 * and bodies that a context could not use. The tree is looked over again only after it changed.
 */
import type { Diagnostic } from "../index-table/diagnostics.ts";
import { entryPlace } from "../index-table/entry-place.ts";
import { orphanRows } from "../index-table/tree-walk.ts";
import { diagnosticsMax } from "../limits.ts";
import type { ContextProblem } from "../projections/context-messages.ts";
import { cycleRows } from "../projections/tree.ts";
import type { TrackedLog } from "./tracked-log.ts";

/** See the file comment. */
export class Findings {
  readonly #log: TrackedLog;
  readonly #malformed = new Map<string, Diagnostic>();
  #tree: readonly Diagnostic[] = [];
  #treeAt = "";

  constructor(log: TrackedLog) {
    this.#log = log;
  }

  /**
   * All findings; each kind is bounded by `diagnosticsMax`. O(entries) after a change, else O(1).
   */
  all(): readonly Diagnostic[] {
    const { generation, state } = this.#log;
    const { index, indexer } = state;
    const at = `${generation}:${index.count}:${index.damagedCount}`;
    if (at !== this.#treeAt) this.#tree = this.#lookOverTree();
    this.#treeAt = at;
    return [...indexer.diagnostics.entries, ...this.#tree, ...this.#malformed.values()];
  }

  /** Takes note of a body that a context was built without; once per entry. */
  addMalformed({ entryId, reason }: ContextProblem): void {
    if (this.#malformed.size >= diagnosticsMax) return;
    const { index, indexer } = this.#log.state;
    const row = index.rowOfId(entryId);
    const place = row < 0 ? { id: entryId } : entryPlace(indexer, row);
    this.#malformed.set(entryId, { kind: "malformed-body", reason, ...place });
  }

  #lookOverTree(): Diagnostic[] {
    const { index, indexer } = this.#log.state;
    const missing = orphanRows(index)
      .slice(0, diagnosticsMax)
      .map((row): Diagnostic => {
        const reason = `no entry has the id of its parent, ${index.parentIdOf(row)}`;
        return { kind: "missing-parent", reason, ...entryPlace(indexer, row) };
      });
    const cyclic = cycleRows(index)
      .slice(0, diagnosticsMax)
      .map((row): Diagnostic => {
        const reason = "is its own ancestor; paths end where they would repeat";
        return { kind: "cycle", reason, ...entryPlace(indexer, row) };
      });
    return [...missing, ...cyclic];
  }
}
