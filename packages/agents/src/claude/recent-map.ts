/**
 * A map that keeps at least its last `count` keys, and at most twice as many: it forgets the older
 * half at once, which costs less than one key at a time.
 */
export class RecentMap<T> {
  readonly #count: number;
  #recent = new Map<string, T>();
  #older = new Map<string, T>();

  constructor(count: number) {
    this.#count = count;
  }

  get(key: string): T | undefined {
    return this.#recent.get(key) ?? this.#older.get(key);
  }

  /** The older half, then the recent one, each in the order of its keys. */
  save(): readonly (readonly (readonly [string, T])[])[] {
    return [[...this.#older], [...this.#recent]];
  }

  restore(older: Iterable<readonly [string, T]>, recent: Iterable<readonly [string, T]>): void {
    this.#older = new Map(older);
    this.#recent = new Map(recent);
  }

  set(key: string, value: T): void {
    if (this.#recent.size >= this.#count) {
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(key, value);
  }
}
