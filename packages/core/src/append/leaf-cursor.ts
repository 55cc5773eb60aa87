/**
 * A *following* leaf is the log's tail; a *pinned* one stays until its session appends or moves.
 */
export class LeafCursor {
  #following: boolean;
  #id: string | null;
  readonly #onMove: () => void;

  constructor(following: boolean, id: string | null, onMove: () => void = () => undefined) {
    this.#following = following;
    this.#id = id;
    this.#onMove = onMove;
  }

  get following(): boolean {
    return this.#following;
  }

  get id(): string | null {
    return this.#id;
  }

  onCaughtUp(tailId: string | null): void {
    if (this.#following) this.#setId(tailId);
  }

  pin(id: string | null): void {
    this.#following = false;
    this.#setId(id);
  }

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
