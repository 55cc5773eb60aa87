/**
 * Everything that was found in a log, in one list: what its lines are, what its tree lacks, bodies
 * that a context could not use, and unknown types. The tree is looked over again only after it
 * changed.
 */
import type { Diagnostic } from "../index-table/diagnostics.ts";
import { entryPlace } from "../index-table/entry-place.ts";
import { orphanRows } from "../index-table/tree-walk.ts";
import { unknownTypeDiagnostic, UnknownTypes } from "../index-table/unknown-types.ts";
import { diagnosticsMax } from "../limits.ts";
import type { ContextProblem } from "../projections/context.ts";
import { cycleRows } from "../projections/tree.ts";
import type { LogState } from "./log-state.ts";
import type { TrackedLog } from "./tracked-log.ts";

/** See the file comment. */
export class Findings {
  readonly #log: TrackedLog;
  readonly #onFound: () => void;
  readonly #malformed = new Map<string, Diagnostic>();
  #malformedIn: LogState | undefined;
  #tree: readonly Diagnostic[] = [];
  #all: readonly Diagnostic[] = [];
  /** What these were found in. */
  #state: LogState | undefined;
  #treeAt = 0;
  #count = 0;
  #unknown: UnknownTypes | undefined;

  /** @param onFound Called when a body turns out malformed. */
  constructor(log: TrackedLog, onFound: () => void) {
    this.#log = log;
    this.#onFound = onFound;
  }

  /**
   * All findings; each kind is bounded by `diagnosticsMax`. The same list until there are others.
   * O(entries) after the tree changed but by entries below those that are there, else O(1), and
   * O(entries that are new) in a log with unknown types.
   */
  all(): readonly Diagnostic[] {
    this.#forgetOthers();
    const { state } = this.#log;
    const { index, indexer } = state;
    const treeAt = index.structureVersion + index.strayCount;
    const isSameTree = state === this.#state && treeAt === this.#treeAt;
    if (this.#unknown === undefined || state !== this.#state) {
      this.#unknown = new UnknownTypes(indexer);
    }
    const unknown = this.#unknown;
    const count = indexer.diagnostics.entries.length + this.#malformed.size + unknown.entryCount;
    if (isSameTree && count === this.#count) return this.#all;
    if (!isSameTree) this.#tree = this.#lookOverTree();
    this.#state = state;
    this.#treeAt = treeAt;
    this.#count = count;
    this.#all = [
      ...indexer.diagnostics.entries,
      ...this.#tree,
      ...this.#malformed.values(),
      ...unknown.list().map((type) => unknownTypeDiagnostic(type)),
    ];
    return this.#all;
  }

  /** Takes note of a body that a context was built without; once per entry. */
  addMalformed({ entryId, reason }: ContextProblem): void {
    this.#forgetOthers();
    if (this.#malformed.size >= diagnosticsMax || this.#malformed.has(entryId)) return;
    const { index, indexer } = this.#log.state;
    const row = index.rowOfId(entryId);
    const place = row < 0 ? { id: entryId } : entryPlace(indexer, row);
    this.#malformed.set(entryId, { kind: "malformed-body", reason, ...place });
    this.#onFound();
  }

  /** Places in a log mean nothing in another. */
  #forgetOthers(): void {
    if (this.#malformedIn === this.#log.state) return;
    this.#malformedIn = this.#log.state;
    this.#malformed.clear();
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
