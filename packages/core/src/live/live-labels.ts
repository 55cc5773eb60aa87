/**
 * The labels of a session as they are emitted: maps that stay what they were, and share what did
 * not change. Every target that was ever labelled has a number, and labels are kept by these.
 */
import type { FoldedProjections } from "../projections/folded.ts";
import type { Label, Labels } from "../projections/labels.ts";
import { IntMap } from "./int-map.ts";

/** A target and its label. */
type Labelled = readonly [targetId: string, label: Label];

/** See the file comment. */
export class LiveLabels {
  #source: FoldedProjections | undefined;
  #taken = 0;
  #view: LabelsView = new LabelsView(new Map(), IntMap.empty());

  /** The labels as they are now; the same map as before if none changed. O(changed). */
  read(folded: FoldedProjections): Labels {
    if (folded !== this.#source) {
      this.#source = folded;
      this.#taken = 0;
      this.#view = new LabelsView(new Map(), IntMap.empty());
    }
    const changed = folded.labelled.slice(this.#taken);
    this.#taken = folded.labelled.length;
    for (const targetId of changed) {
      this.#view = this.#view.with(targetId, folded.labels.get(targetId));
    }
    return this.#view;
  }
}

/** A map that stays what it is; in the order in which targets were first labelled. */
class LabelsView implements ReadonlyMap<string, Label> {
  /** Shared by all views of a log, and only ever longer: a number says nothing by itself. */
  readonly #numbers: Map<string, number>;
  readonly #labels: IntMap<Labelled>;

  constructor(numbers: Map<string, number>, labels: IntMap<Labelled>) {
    this.#numbers = numbers;
    this.#labels = labels;
  }

  get size(): number {
    return this.#labels.size;
  }

  /** This map with another label for a target, or none. */
  with(targetId: string, label: Label | undefined): LabelsView {
    const number = this.#numbers.get(targetId) ?? this.#numbers.size;
    this.#numbers.set(targetId, number);
    const known = this.#labels.get(number)?.[1];
    if (known === label) return this;
    const labels =
      label === undefined
        ? this.#labels.without(number)
        : this.#labels.with(number, [targetId, label]);
    return new LabelsView(this.#numbers, labels);
  }

  get(targetId: string): Label | undefined {
    const number = this.#numbers.get(targetId);
    return number === undefined ? undefined : this.#labels.get(number)?.[1];
  }

  has(targetId: string): boolean {
    return this.get(targetId) !== undefined;
  }

  forEach(
    callback: (label: Label, targetId: string, map: ReadonlyMap<string, Label>) => void,
  ): void {
    for (const [targetId, label] of this) callback(label, targetId, this);
  }

  *entries(): MapIterator<[string, Label]> {
    for (const [, [targetId, label]] of this.#labels.entries()) yield [targetId, label];
  }

  *keys(): MapIterator<string> {
    for (const [targetId] of this) yield targetId;
  }

  *values(): MapIterator<Label> {
    for (const [, label] of this) yield label;
  }

  [Symbol.iterator](): MapIterator<[string, Label]> {
    return this.entries();
  }
}
