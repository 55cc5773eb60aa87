/**
 * Interns what an entry is: its type with a message's role or an extension's customType. One small
 * number per row then answers "which rows are label entries", "which are state of extension X",
 * without a parse. The number of kinds is the number of distinct combinations in the log.
 */

/** What the index knows of an entry without reading its body. */
export interface Kind {
  readonly type: string;
  /** Of `message` entries; of a `model_change` of omp the role that the model has from then on. */
  readonly role: string | undefined;
  /** Of `custom` and `custom_message` entries. */
  readonly customType: string | undefined;
}

/** See the file comment. Numbers count up from 0 and are never freed. */
export class KindTable {
  readonly #kinds: Kind[] = [];
  readonly #numbers = new Map<string, ByRole>();

  /** All kinds met so far; the position is the kind's number. */
  get kinds(): readonly Kind[] {
    return this.#kinds;
  }

  /** The kind with that number. */
  at(kind: number): Kind {
    const found = this.#kinds[kind];
    if (found === undefined) throw new RangeError(`no kind ${kind}`);
    return found;
  }

  /** All kinds, in the order of their numbers, without what is kept to find them. */
  save(): readonly Kind[] {
    return [...this.#kinds];
  }

  /** The number of a kind. */
  add({ type, role, customType }: Kind): number {
    const ofType = known(this.#numbers, type, (): ByRole => new Map());
    const ofRole = known(ofType, role, (): ByCustomType => new Map());
    return known(ofRole, customType, () => this.#kinds.push({ type, role, customType }) - 1);
  }
}

type ByRole = Map<string | undefined, ByCustomType>;
type ByCustomType = Map<string | undefined, number>;

function known<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const found = map.get(key);
  if (found !== undefined) return found;
  const made = make();
  map.set(key, made);
  return made;
}
