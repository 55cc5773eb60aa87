/**
 * Finds the entry of an argument: `@leaf`, `@tail`, an id, a label, a unique prefix of an id; each
 * also with `~N`, its N-th parent, where `~N` alone starts at the leaf. The first match in this
 * order is used, so that an id always means its entry. Pure.
 */

/** What is known of the entries of a session. */
export interface AddressedEntries {
  readonly leaf: string | null;
  readonly tail: string | null;
  /** The labels by the id of their entry. */
  readonly labels: Iterable<readonly [id: string, label: string]>;
  has(id: string): boolean;
  /** Of an entry; null for a root. */
  parentOf(id: string): string | null;
  /** Every id, in any order. */
  ids(): Iterable<string>;
}

export type FoundEntry =
  | { readonly kind: "entry"; readonly id: string }
  /** None, and why, as a part of a sentence. */
  | { readonly kind: "none"; readonly reason: string }
  /** The argument is ambiguous. */
  | { readonly kind: "several"; readonly ids: readonly string[] };

export function findEntry(word: string, entries: AddressedEntries): FoundEntry {
  const plain = baseOf(word, entries);
  if (plain.kind !== "none") return plain;
  const [, base, count] = /^(.*)~(\d*)$/su.exec(word) ?? [];
  if (base === undefined || count === undefined) return plain;
  const start = base === "" ? startAt(entries.leaf) : findEntry(base, entries);
  if (start.kind !== "entry") return start;
  return ancestor(start.id, count === "" ? 1 : Number(count), entries);
}

function baseOf(word: string, entries: AddressedEntries): FoundEntry {
  if (word === "@leaf") return startAt(entries.leaf);
  if (word === "@tail") return startAt(entries.tail);
  if (entries.has(word)) return { kind: "entry", id: word };
  const labelled = Array.from(entries.labels).flatMap(([id, label]) =>
    label === word ? [id] : [],
  );
  if (labelled.length > 0) return oneOf(labelled);
  if (word === "") return { kind: "none", reason: "the argument is empty" };
  const begun = Array.from(entries.ids()).filter((id) => id.startsWith(word));
  return begun.length > 0
    ? oneOf(begun)
    : { kind: "none", reason: "no id starts with it, no label matches it" };
}

function startAt(id: string | null): FoundEntry {
  return id === null ? { kind: "none", reason: "it refers to no entry" } : { kind: "entry", id };
}

function oneOf(ids: readonly string[]): FoundEntry {
  const [id, other] = ids;
  return id !== undefined && other === undefined ? { kind: "entry", id } : { kind: "several", ids };
}

function nothingAbove(start: string, count: number): string {
  if (count === 0) return `${start} is a root`;
  return `${start} has only ${count} ${count === 1 ? "ancestor" : "ancestors"}`;
}

/** Ends on cycles of parents, since the number of steps is given. */
function ancestor(start: string, count: number, entries: AddressedEntries): FoundEntry {
  let id = start;
  for (let step = 0; step < count; step += 1) {
    const parent = entries.parentOf(id);
    if (parent === null) return { kind: "none", reason: nothingAbove(start, step) };
    if (!entries.has(parent)) return { kind: "none", reason: `the parent of ${id} is missing` };
    id = parent;
  }
  return { kind: "entry", id };
}
