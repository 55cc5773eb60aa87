/**
 * The leaf of one open session: its position in the tree, from which it continues. A *following*
 * leaf is the tail of the log; a *pinned* one stays until its session appends or moves. It is a
 * cursor, not a projection: two sessions of one log have two leaves.
 */

/** See the file comment. */
export class LeafCursor {
  #following: boolean;
  #id: string | null;
  readonly #onMove: () => void;

  /** @param onMove Called when the leaf is another entry than before. */
  constructor(following: boolean, id: string | null, onMove: () => void = () => undefined) {
    this.#following = following;
    this.#id = id;
    this.#onMove = onMove;
  }

  /** Whether the leaf moves with the tail. */
  get following(): boolean {
    return this.#following;
  }

  /** The entry at the leaf, or null before the first one. */
  get id(): string | null {
    return this.#id;
  }

  /** Tells the cursor what the tail is now; a pinned leaf stays. */
  sawTail(tailId: string | null): void {
    if (this.#following) this.#setId(tailId);
  }

  /** Pins the leaf to an entry, or before all of them. */
  pin(id: string | null): void {
    this.#following = false;
    this.#setId(id);
  }

  /** Makes the leaf the tail, now and from here on. */
  follow(tailId: string | null): void {
    this.#following = true;
    this.#setId(tailId);
  }

  #setId(id: string | null): void {
    const isElsewhere = id !== this.#id;
    this.#id = id;
    if (isElsewhere) this.#onMove();
  }
}
