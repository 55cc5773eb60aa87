/**
 * Immutable maps of labels that share what did not change. Every target that was ever labelled has
 * a number, and labels are stored by these.
 */
import type { FoldedProjections } from "../projections/folded.ts";
import type { Label, Labels } from "../projections/labels.ts";
import { IntMap } from "./int-map.ts";

type Labelled = readonly [targetId: string, label: Label];

export class LiveLabels {
  #source: FoldedProjections | undefined;
  #taken = 0;
  #view: LabelsView = new LabelsView(new Map(), IntMap.empty(), 0);

  /** The same map as before if no label changed. O(changed). */
  read(folded: FoldedProjections): Labels {
    if (folded !== this.#source) {
      this.#source = folded;
      const isSame = isSameLabels(this.#view, folded.labels);
      this.#taken = isSame ? folded.labelled.length : 0;
      if (!isSame) this.#view = new LabelsView(new Map(), IntMap.empty(), 0);
    }
    const changed = folded.labelled.slice(this.#taken);
    this.#taken = folded.labelled.length;
    for (const targetId of changed) {
      this.#view = this.#view.with(targetId, folded.labels.get(targetId));
    }
    return this.#view;
  }
}

/** In the order in which targets got a label, having had none. */
class LabelsView implements ReadonlyMap<string, Label> {
  /** Shared by all views of a log, and append-only; a view has a label at one of the numbers. */
  readonly #numbers: Map<string, number[]>;
  readonly #labels: IntMap<Labelled>;
  /** The next free number. */
  readonly #next: number;

  constructor(numbers: Map<string, number[]>, labels: IntMap<Labelled>, next: number) {
    this.#numbers = numbers;
    this.#labels = labels;
    this.#next = next;
  }

  get size(): number {
    return this.#labels.size;
  }

  with(targetId: string, label: Label | undefined): LabelsView {
    const known = this.#numberOf(targetId);
    if (label === undefined) {
      if (known === undefined) return this;
      return new LabelsView(this.#numbers, this.#labels.without(known), this.#next);
    }
    if (known !== undefined) {
      if (this.#labels.get(known)?.[1] === label) return this;
      return new LabelsView(this.#numbers, this.#labels.with(known, [targetId, label]), this.#next);
    }
    const numbers = this.#numbers.get(targetId) ?? [];
    numbers.push(this.#next);
    this.#numbers.set(targetId, numbers);
    const labels = this.#labels.with(this.#next, [targetId, label]);
    return new LabelsView(this.#numbers, labels, this.#next + 1);
  }

  get(targetId: string): Label | undefined {
    const number = this.#numberOf(targetId);
    return number === undefined ? undefined : this.#labels.get(number)?.[1];
  }

  /** The last number is that of the newest view; an older one may have another. */
  #numberOf(targetId: string): number | undefined {
    return this.#numbers
      .get(targetId)
      ?.findLast((number) => this.#labels.get(number) !== undefined);
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

/** Whether another log has the labels of the current view, which then stays. */
function isSameLabels(one: Labels, other: Labels): boolean {
  if (one.size !== other.size) return false;
  const others = [...other];
  return [...one].every(([targetId, { label, timestamp }], at) => {
    const [otherId, found] = others[at] ?? [];
    return otherId === targetId && found?.label === label && found.timestamp === timestamp;
  });
}
