/**
 * The projections of a log that are saved. Labels, the name and the dialect are folded while it is
 * read, because their few entries are parsed then anyway; the usage on demand, as that reads the
 * bodies of all messages.
 */
import type { JsonObject } from "@branchlog/streaming";
import { dialectOfEntry } from "../dialects/dialect.ts";
import type { DialectName } from "../dialects/dialect.ts";
import type { SessionEntry } from "../entries/entry-types.ts";
import { labels } from "./labels.ts";
import type { Label, Labels } from "./labels.ts";
import type { Projection } from "./projection.ts";
import { sessionName } from "./name.ts";
import type { GivenName } from "./name.ts";
import { savedUsage, restoredUsage, usage } from "./usage.ts";
import type { SavedUsage, SessionUsage } from "./usage.ts";

export interface SavedFolded {
  readonly versions: readonly number[];
  readonly labels: readonly (readonly [targetId: string, label: Label])[];
  readonly labelled: readonly string[];
  /** Empty: no entry names it. */
  readonly names: readonly (string | null)[];
  readonly dialect: DialectName | null;
  /** Null: not folded, or too large to save. */
  readonly usage: (SavedUsage & { readonly rows: number }) | null;
}

/** States of other versions are rebuilt. */
export const foldedVersions: readonly number[] = [
  labels.version,
  sessionName.version,
  1,
  usage.version,
];

/** The state of all folds over one generation of a log. */
export class FoldedProjections {
  #labels: Labels = labels.initial();
  #name: GivenName = sessionName.initial();
  #dialect: DialectName | undefined;
  #usage: Fold<SessionUsage> = new Fold(usage);
  readonly #labelled: string[] = [];

  /** Labels in force, by the id of their target. Changes with the log: copy it to keep it. */
  get labels(): Labels {
    return this.#labels;
  }

  /** The targets of all label entries so far, in file order. */
  get labelled(): readonly string[] {
    return this.#labelled;
  }

  /** The name by entries; `nameInForce` decides whether it counts. */
  get name(): GivenName {
    return this.#name;
  }

  /** The dialect of the first entry that is specific to one. */
  get dialect(): DialectName | undefined {
    return this.#dialect;
  }

  get usage(): Fold<SessionUsage> {
    return this.#usage;
  }

  save(): SavedFolded {
    const { rows, value } = this.#usage;
    const saved = rows === 0 ? null : savedUsage(value);
    return {
      versions: foldedVersions,
      labels: [...this.#labels],
      labelled: this.#labelled,
      names: this.#name === undefined ? [] : [this.#name],
      dialect: this.#dialect ?? null,
      usage: saved && { ...saved, rows },
    };
  }

  /** Only for empty folds. */
  restore(saved: SavedFolded): void {
    this.#labels = new Map(saved.labels);
    for (const targetId of saved.labelled) this.#labelled.push(targetId);
    this.#name = saved.names[0];
    this.#dialect = saved.dialect ?? undefined;
    if (saved.usage !== null) {
      this.#usage = new Fold(usage, restoredUsage(saved.usage), saved.usage.rows);
    }
  }

  /** Rows in file order. */
  apply(row: number, entry: SessionEntry): void {
    const record = { revision: row + 1, entry };
    this.#labels = labels.apply(this.#labels, record);
    if (entry.type === "label" && typeof entry.targetId === "string") {
      this.#labelled.push(entry.targetId);
    }
    this.#name = sessionName.apply(this.#name, record);
    // Decoding boundary: an entry is a JSON object.
    this.#dialect ??= dialectOfEntry(entry as unknown as JsonObject);
  }
}

/**
 * How far a projection was folded over the rows of a log, and its state there. Each row is folded
 * once and in file order, however many passes run concurrently. Pure.
 */
export class Fold<S> {
  readonly #projection: Projection<S>;
  #state: S;
  #rows: number;
  /** The last returned snapshot, while no other record was folded. */
  #snapshot: { readonly state: S } | undefined;

  /** @param state That of the first `rows` rows, not shared with another fold. */
  constructor(projection: Projection<S>, state: S = projection.initial(), rows = 0) {
    this.#projection = projection;
    this.#state = state;
    this.#rows = rows;
  }

  /** The rows before this one were folded, or do not matter. */
  get rows(): number {
    return this.#rows;
  }

  /** The state now; later rows do not change it. */
  get value(): S {
    this.#snapshot ??= { state: this.#projection.snapshot?.(this.#state) ?? this.#state };
    return this.#snapshot.state;
  }

  /** Does nothing if another pass has folded the row. */
  apply(row: number, entry: SessionEntry): void {
    if (row < this.#rows) return;
    this.#state = this.#projection.apply(this.#state, { revision: row + 1, entry });
    this.#rows = row + 1;
    this.#snapshot = undefined;
  }

  /** All rows before `rows` were folded, or do not matter. */
  reached(rows: number): void {
    this.#rows = Math.max(this.#rows, rows);
  }
}
