/**
 * The projections that are folded while a log is read, because their few entries are parsed then
 * anyway: labels and the name. Everything else is folded when somebody asks for it.
 */
import type { SessionEntry } from "../entries/entry-types.ts";
import { labels } from "./labels.ts";
import type { Label, Labels } from "./labels.ts";
import { sessionName } from "./name.ts";

/** Labels and name as they are saved. */
export interface SavedFolded {
  readonly versions: readonly number[];
  readonly labels: readonly (readonly [targetId: string, label: Label])[];
  readonly labelled: readonly string[];
  readonly name: string | null;
}

/** What the states of these versions mean: those of another are rebuilt. */
export const foldedVersions: readonly number[] = [labels.version, sessionName.version];

/** Current labels and name of one generation of a log. */
export class FoldedProjections {
  #labels: Labels = labels.initial();
  #name: string | undefined = sessionName.initial();
  readonly #labelled: string[] = [];

  /** Labels in force, by the id of their target. Changes with the log: copy it to keep it. */
  get labels(): Labels {
    return this.#labels;
  }

  /** The targets of all label entries so far, in file order: what may have changed since when. */
  get labelled(): readonly string[] {
    return this.#labelled;
  }

  /** The name, or undefined if the session has none. */
  get name(): string | undefined {
    return this.#name;
  }

  /** All of it, as it is now. */
  save(): SavedFolded {
    const name = this.#name ?? null;
    return { versions: foldedVersions, labels: [...this.#labels], labelled: this.#labelled, name };
  }

  /** Takes over what was saved, being empty so far. */
  restore(saved: SavedFolded): void {
    this.#labels = new Map(saved.labels);
    for (const targetId of saved.labelled) this.#labelled.push(targetId);
    this.#name = saved.name ?? undefined;
  }

  /** Takes in the entry of a row, in file order. */
  apply(row: number, entry: SessionEntry): void {
    const record = { revision: row + 1, entry };
    this.#labels = labels.apply(this.#labels, record);
    if (entry.type === "label" && typeof entry.targetId === "string") {
      this.#labelled.push(entry.targetId);
    }
    this.#name = sessionName.apply(this.#name, record);
  }
}
