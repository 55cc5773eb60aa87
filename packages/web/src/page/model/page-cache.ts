/**
 * Pages of rows, the latest used ones: a session of a million entries is never held as a whole.
 * After a change pages stay, marked as stale, until newer ones replace them: no row flickers.
 */
export const rowsPerPage = 200;

interface CachedPage<T> {
  readonly rows: readonly T[];
  readonly isStale: boolean;
}

export class PageCache<T> {
  readonly #pages = new Map<number, CachedPage<T>>();
  readonly #pagesMax: number;

  constructor(pagesMax: number) {
    this.#pagesMax = pagesMax;
  }

  rowAt(row: number): T | undefined {
    const page = Math.floor(row / rowsPerPage);
    return this.#pages.get(page)?.rows[row - page * rowsPerPage];
  }

  put(page: number, rows: readonly T[]): void {
    this.#pages.delete(page);
    this.#pages.set(page, { rows, isStale: false });
    for (const oldest of this.#pages.keys()) {
      if (this.#pages.size <= this.#pagesMax) break;
      this.#pages.delete(oldest);
    }
  }

  /** Pages of the rows from `first` to before `end` that are absent or stale. */
  missing(first: number, end: number): readonly number[] {
    const pages: number[] = [];
    for (let page = Math.floor(first / rowsPerPage); page * rowsPerPage < end; page += 1) {
      const known = this.#pages.get(page);
      if (known === undefined || known.isStale) pages.push(page);
      if (known !== undefined) this.#touch(page, known);
    }
    return pages;
  }

  markStale(): void {
    for (const [page, known] of this.#pages) this.#pages.set(page, { ...known, isStale: true });
  }

  clear(): void {
    this.#pages.clear();
  }

  #touch(page: number, known: CachedPage<T>): void {
    this.#pages.delete(page);
    this.#pages.set(page, known);
  }
}
