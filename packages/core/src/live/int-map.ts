/**
 * An immutable map from whole numbers to values, in ascending order. A changed copy shares all but
 * a few dozen elements with its original, so that emitted views stay immutable and cost what
 * changed.
 */

const bits = 5;
const mask = (1 << bits) - 1;

/** Values, or nodes one level below; may be short, and have holes. */
type Node<V> =
  | { readonly kind: "leaf"; readonly items: readonly (V | undefined)[] }
  | { readonly kind: "branch"; readonly items: readonly (Node<V> | undefined)[] };

/** Numbers are whole, from 0 and below 2^30. A value is never undefined. */
export class IntMap<V> {
  readonly size: number;
  readonly #root: Node<V>;
  /** Levels of branches above the leaves. */
  readonly #depth: number;

  private constructor(size: number, root: Node<V>, depth: number) {
    this.size = size;
    this.#root = root;
    this.#depth = depth;
  }

  static empty<V>(): IntMap<V> {
    return new IntMap<V>(0, { kind: "leaf", items: [] }, 0);
  }

  /** The same value for ascending numbers. O(numbers). */
  static fill<V>(keys: readonly number[], value: V): IntMap<V> {
    const last = keys.at(-1) ?? 0;
    let depth = 0;
    while (last >>> (bits * (depth + 1)) !== 0) depth += 1;
    let at = 0;
    const build = (level: number, prefix: number): Node<V> => {
      const isBelow = (key: number): boolean => key >>> (bits * (level + 1)) === prefix;
      const values: (V | undefined)[] = [];
      const nodes: (Node<V> | undefined)[] = [];
      for (let key = keys[at]; key !== undefined && isBelow(key); key = keys[at]) {
        const place = (key >>> (bits * level)) & mask;
        if (level === 0) {
          values[place] = value;
          at += 1;
        } else nodes[place] = build(level - 1, key >>> (bits * level));
      }
      return level === 0 ? { kind: "leaf", items: values } : { kind: "branch", items: nodes };
    };
    return new IntMap(keys.length, build(depth, 0), depth);
  }

  get(key: number): V | undefined {
    if (!this.#hasRoomFor(key)) return undefined;
    let node: Node<V> | undefined = this.#root;
    let level = this.#depth;
    for (; node?.kind === "branch"; level -= 1) node = node.items[(key >>> (bits * level)) & mask];
    return node?.items[key & mask];
  }

  with(key: number, value: V): IntMap<V> {
    const before = this.get(key);
    if (before === value) return this;
    if (!this.#hasRoomFor(key)) return this.#raised().with(key, value);
    const size = before === undefined ? this.size + 1 : this.size;
    return this.#changed(size, key, value);
  }

  without(key: number): IntMap<V> {
    if (this.get(key) === undefined) return this;
    return this.#changed(this.size - 1, key, undefined);
  }

  entries(): Generator<[number, V], void, undefined> {
    return entriesOf(this.#root, 0);
  }

  #changed(size: number, key: number, value: V | undefined): IntMap<V> {
    const root = changed(this.#root, this.#depth, key, value);
    return root === undefined ? IntMap.empty() : new IntMap(size, root, this.#depth);
  }

  #hasRoomFor(key: number): boolean {
    return key >>> (bits * (this.#depth + 1)) === 0;
  }

  #raised(): IntMap<V> {
    return new IntMap<V>(this.size, { kind: "branch", items: [this.#root] }, this.#depth + 1);
  }
}

/** Undefined if the node is empty afterwards. */
function changed<V>(
  node: Node<V> | undefined,
  level: number,
  key: number,
  value: V | undefined,
): Node<V> | undefined {
  const at = (key >>> (bits * level)) & mask;
  if (level === 0) {
    const values = withItem(node?.kind === "leaf" ? node.items : [], at, value);
    return isEmpty(values) ? undefined : { kind: "leaf", items: values };
  }
  const items = node?.kind === "branch" ? node.items : [];
  const nodes = withItem(items, at, changed(items[at], level - 1, key, value));
  return isEmpty(nodes) ? undefined : { kind: "branch", items: nodes };
}

function isEmpty(items: readonly unknown[]): boolean {
  return items.every((item) => item === undefined);
}

function withItem<T>(items: readonly T[], at: number, item: T): readonly T[] {
  const copy = items.slice();
  copy[at] = item;
  return copy;
}

function* entriesOf<V>(node: Node<V>, prefix: number): Generator<[number, V], void, undefined> {
  if (node.kind === "leaf") {
    for (const [at, value] of node.items.entries()) {
      if (value !== undefined) yield [(prefix << bits) | at, value];
    }
    return;
  }
  for (const [at, below] of node.items.entries()) {
    if (below !== undefined) yield* entriesOf(below, (prefix << bits) | at);
  }
}
