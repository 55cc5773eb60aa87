/**
 * Everything that was found wrong with a log, in one list: what its lines are, what its tree lacks,
 * and bodies that a context could not use. The tree is looked over again only after it changed.
 */
import type { Diagnostic } from "../index-table/diagnostics.ts";
import { diagnosticsMax } from "../limits.ts";
import type { ContextProblem } from "../projections/context-messages.ts";
import { cycleRows, orphans } from "../projections/tree.ts";
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
    this.#malformed.set(entryId, { kind: "malformed-body", reason, ...this.#place(entryId) });
  }

  #lookOverTree(): Diagnostic[] {
    const { index } = this.#log.state;
    const missing = orphans(index)
      .slice(0, diagnosticsMax)
      .map(({ id, missingParentId }): Diagnostic => {
        const reason = `no entry has the id of its parent, ${missingParentId}`;
        return { kind: "missing-parent", reason, ...this.#place(id) };
      });
    const cyclic = cycleRows(index)
      .slice(0, diagnosticsMax)
      .map((row): Diagnostic => {
        const reason = "is its own ancestor; paths end where they would repeat";
        return { kind: "cycle", reason, ...this.#place(index.idOf(row)) };
      });
    return [...missing, ...cyclic];
  }

  #place(id: string): Pick<Diagnostic, "offset" | "length" | "line" | "id"> & { id: string } {
    const { index, indexer } = this.#log.state;
    const row = index.rowOfId(id);
    if (row < 0) return { id };
    const { rows } = index;
    const line = indexer.lines.lineOfRow(row);
    return { offset: rows.offset(row), length: rows.length(row), line, id };
  }
}
