/**
 * The diagnostics of a log in one list, and, on request, references between entries. Unknown types,
 * dangling references and divergences are not damage.
 */
import { pause, runAsync } from "@branchlog/streaming";
import type { Steps } from "@branchlog/streaming";
import type { Diagnostic, EntryPlace } from "../index-table/diagnostics.ts";
import { entryPlace } from "../index-table/diagnostics.ts";
import { orphanRows, isOnPath } from "../index-table/tree-walk.ts";
import { diagnosticsMax } from "../limits.ts";
import type { ContextProblem } from "../projections/context.ts";
import { cycleRows } from "../projections/tree.ts";
import type { LogState } from "./log-state.ts";
import type { TrackedLog } from "./tracked-log.ts";
import { referringTypes, referencesOf } from "../entries/references.ts";
import { divergedFrom } from "../entries/divergence.ts";
import type { Reference } from "../entries/references.ts";
import type { LogIndexer } from "../index-table/log-indexer.ts";
import { shown } from "../argument-checks.ts";
import { isNamedType, nearestType } from "../entries/draft-checks.ts";
import { rowFlags } from "../index-table/row-table.ts";

const readsAtOnce = 64;

export class Findings {
  readonly #log: TrackedLog;
  readonly #onFound: () => void;
  readonly #malformed = new Map<string, Diagnostic>();
  #malformedIn: LogState | undefined;
  #tree: readonly Diagnostic[] = [];
  #all: readonly Diagnostic[] = [];
  #state: LogState | undefined;
  #treeAt = 0;
  #count = 0;
  #unknown: UnknownTypes | undefined;

  constructor(log: TrackedLog, onFound: () => void) {
    this.#log = log;
    this.#onFound = onFound;
  }

  /**
   * At most `diagnosticsMax` of each kind; the same list until they change. O(new entries), or
   * O(entries) after the structure of the tree changed.
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
    if (!isSameTree) this.#tree = this.#treeFindings();
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

  addMalformed({ entryId, reason }: ContextProblem): void {
    this.#forgetOthers();
    if (this.#malformed.size >= diagnosticsMax || this.#malformed.has(entryId)) return;
    const { index, indexer } = this.#log.state;
    const row = index.rowOfId(entryId);
    const place = row < 0 ? { id: entryId } : entryPlace(indexer, row);
    this.#malformed.set(entryId, { kind: "malformed-body", reason, ...place });
    this.#onFound();
  }

  #forgetOthers(): void {
    if (this.#malformedIn === this.#log.state) return;
    this.#malformedIn = this.#log.state;
    this.#malformed.clear();
  }

  #treeFindings(): Diagnostic[] {
    const { index, indexer } = this.#log.state;
    const missing = orphanRows(index)
      .slice(0, diagnosticsMax)
      .map((row): Diagnostic => {
        const reason = `its parent does not exist: ${index.parentIdOf(row)}`;
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

/** Reads bodies of entries that are not the first below their parent, or may refer to others. */
export function checkLinks(state: LogState): Promise<LinkCheck> {
  return runAsync(checkingLinks(state));
}

function* checkingLinks({ index, indexer, bodies }: LogState): Steps<LinkCheck> {
  const check = new LinkCheck(indexer);
  const refers = index.kinds.kinds.map(({ type }) => check.reads(type));
  const wanted = new Uint8Array(index.count);
  for (let row = 0; row < index.count; row += 1) {
    const next = index.rows.nextSibling(row);
    if (next >= 0) wanted[next] = 1;
    if (refers[index.rows.kind(row)] === true) wanted[row] = 1;
  }
  // They are short and far apart: waiting for each would take longer than reading it.
  let taken = 0;
  for (const { row, entry } of bodies.entriesSync(marked(wanted))) {
    check.take(row, { ...entry });
    taken += 1;
    if (taken % readsAtOnce === 0) yield pause;
  }
  return check;
}

function* marked(rows: Uint8Array): Generator<number> {
  for (let row = rows.indexOf(1); row >= 0; row = rows.indexOf(1, row + 1)) yield row;
}

/** The first entry of an unintended branch. */
export interface DivergedEntry extends EntryPlace {
  readonly parentId: string | null;
  /** The last entry of the log when it was appended: it is on the branch of other writers. */
  readonly tailId: string;
}

/** A dangling reference, and its entry. */
export interface DanglingReference extends EntryPlace {
  readonly field: Reference["field"];
  readonly targetId: string;
  /** `log`: no entry has that id. `path`: no entry on the path has it. */
  readonly within: Reference["within"];
}

export class LinkCheck {
  readonly #indexer: Pick<LogIndexer, "index" | "lines">;
  readonly #marked: { readonly row: number; readonly tailId: string }[] = [];
  readonly #unresolved: { readonly row: number; readonly reference: Reference }[] = [];

  constructor(indexer: Pick<LogIndexer, "index" | "lines">) {
    this.#indexer = indexer;
  }

  /** Whether entries of a type may refer to others. */
  reads(type: string): boolean {
    return referringTypes.has(type);
  }

  take(row: number, entry: Readonly<Record<string, unknown>>): void {
    const tailId = divergedFrom(entry);
    if (tailId !== undefined) this.#marked.push({ row, tailId });
    const { type } = entry;
    for (const reference of typeof type === "string" ? referencesOf(type, entry) : []) {
      if (!this.#isResolved(row, reference)) this.#unresolved.push({ row, reference });
    }
  }

  /** In file order. A copy that omits the branch of the others has no divergence. */
  divergences(): DivergedEntry[] {
    const { index } = this.#indexer;
    return this.#marked
      .filter(({ row, tailId }) => index.isNode(row) && index.rowOfId(tailId) >= 0)
      .map(({ row, tailId }) => {
        return { ...entryPlace(this.#indexer, row), parentId: index.parentIdOf(row), tailId };
      });
  }

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

/** An unknown type, with the place of its first entry. */
export interface UnknownType extends EntryPlace {
  readonly type: string;
  /** Readable entries of the type, including those shadowed by a later one with the same id. */
  readonly count: number;
  /** The likely intended type of pi or omp; null if none is near. */
  readonly nearest: string | null;
}

export class UnknownTypes {
  readonly #indexer: Pick<LogIndexer, "index" | "lines">;
  readonly #typeOfKind: (string | undefined)[] = [];
  readonly #found = new Map<string, { readonly firstRow: number; count: number }>();
  #entryCount = 0;
  #hasUnknownKind = false;
  #nextRow = 0;
  #damagedCount = 0;

  constructor(indexer: Pick<LogIndexer, "index" | "lines">) {
    this.#indexer = indexer;
  }

  get entryCount(): number {
    this.#catchUp();
    return this.#entryCount;
  }

  get count(): number {
    this.#catchUp();
    return this.#found.size;
  }

  /** The first `diagnosticsMax`, in the order of their first entries. */
  list(): UnknownType[] {
    this.#catchUp();
    return [...this.#found].slice(0, diagnosticsMax).map(([type, { firstRow, count }]) => {
      const nearest = nearestType(type) ?? null;
      return { type, count, nearest, ...entryPlace(this.#indexer, firstRow) };
    });
  }

  /** O(new rows); O(rows) after a row turned out to be damaged. */
  #catchUp(): void {
    const { index } = this.#indexer;
    this.#learnKinds();
    if (index.damagedCount !== this.#damagedCount) this.#forget(index.damagedCount);
    if (this.#hasUnknownKind) {
      for (let row = this.#nextRow; row < index.count; row += 1) this.#take(row);
    }
    this.#nextRow = index.count;
  }

  #learnKinds(): void {
    const { kinds } = this.#indexer.index.kinds;
    for (const { type } of kinds.slice(this.#typeOfKind.length)) {
      const isNamed = isNamedType(type);
      this.#typeOfKind.push(isNamed ? undefined : type);
      this.#hasUnknownKind ||= !isNamed;
    }
  }

  #forget(damagedCount: number): void {
    this.#damagedCount = damagedCount;
    this.#found.clear();
    this.#entryCount = 0;
    this.#nextRow = 0;
  }

  #take(row: number): void {
    const { rows } = this.#indexer.index;
    const type = this.#typeOfKind[rows.kind(row)];
    if (type === undefined || rows.is(row, rowFlags.damaged)) return;
    this.#entryCount += 1;
    const found = this.#found.get(type);
    if (found === undefined) this.#found.set(type, { firstRow: row, count: 1 });
    else found.count += 1;
  }
}

function unknownTypeDiagnostic({ type, count, nearest, ...place }: UnknownType): Diagnostic {
  const entries = count === 1 ? "1 entry has" : `${count} entries have`;
  const meant = nearest === null ? "" : `; did you mean "${nearest}"?`;
  const reason = `${entries} the unknown type ${shown(type)}${meant}`;
  return { kind: "unknown-type", reason, type, count, ...place };
}
