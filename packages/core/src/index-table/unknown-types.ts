/**
 * The unknown types in a log, that is neither those of pi and omp nor types in a namespace: how
 * many entries have each, and where the first is. They are no damage, but a misspelt type is one of
 * them. Rows are counted once, and only in logs that have such types.
 */
import { shown } from "../argument-checks.ts";
import { isNamedType, nearestType } from "../entries/entry-types.ts";
import { diagnosticsMax } from "../limits.ts";
import type { Diagnostic } from "./diagnostics.ts";
import { entryPlace } from "./entry-place.ts";
import type { EntryPlace } from "./entry-place.ts";
import type { LogIndexer } from "./log-indexer.ts";
import { rowFlags } from "./row-table.ts";

/** An unknown type, with the place of its first entry. */
export interface UnknownType extends EntryPlace {
  readonly type: string;
  /** Readable entries of the type, those that a later one with the same id hides included. */
  readonly count: number;
  /** The type of pi or omp that was probably meant; null if none is near. */
  readonly nearest: string | null;
}

/** See the file comment. */
export class UnknownTypes {
  readonly #indexer: Pick<LogIndexer, "index" | "lines">;
  /** By the number of a kind: its type, if that is unknown. */
  readonly #typeOfKind: (string | undefined)[] = [];
  readonly #found = new Map<string, { readonly firstRow: number; count: number }>();
  #entryCount = 0;
  #hasUnknownKind = false;
  #nextRow = 0;
  #damagedCount = 0;

  /** @param indexer That of the log; it may grow. */
  constructor(indexer: Pick<LogIndexer, "index" | "lines">) {
    this.#indexer = indexer;
  }

  /** How many entries have such a type. */
  get entryCount(): number {
    this.#catchUp();
    return this.#entryCount;
  }

  /** How many such types there are. */
  get count(): number {
    this.#catchUp();
    return this.#found.size;
  }

  /** The first `diagnosticsMax` of them, in the order of their first entries. */
  list(): UnknownType[] {
    this.#catchUp();
    return [...this.#found].slice(0, diagnosticsMax).map(([type, { firstRow, count }]) => {
      const nearest = nearestType(type) ?? null;
      return { type, count, nearest, ...entryPlace(this.#indexer, firstRow) };
    });
  }

  /** O(rows that are new); O(rows) after a row turned out to be damaged. */
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

/** The finding about such a type: information, not damage. */
export function unknownTypeDiagnostic({ type, count, nearest, ...place }: UnknownType): Diagnostic {
  const entries = count === 1 ? "1 entry has" : `${count} entries have`;
  const meant = nearest === null ? "" : `; did you mean "${nearest}"?`;
  const reason = `${entries} the unknown type ${shown(type)}${meant}`;
  return { kind: "unknown-type", reason, type, count, ...place };
}
