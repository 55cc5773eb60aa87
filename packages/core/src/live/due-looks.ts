/** What is to be looked at next: some files, or everything. Collects hints while a look goes on. */

/** See the file comment. At first, everything is due. */
export class DueLooks {
  readonly #signal: AbortSignal;
  #paths: Set<string> | null = null;
  #isDue = true;
  #wake: () => void = () => undefined;

  /** @param signal Ends the waiting. */
  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener("abort", () => this.#wake(), { once: true });
  }

  /** Takes note of a file, or with null of everything. */
  add(path: string | null): void {
    if (path === null) this.#paths = null;
    else this.#paths?.add(path);
    this.#isDue = true;
    this.#wake();
  }

  /** Resolves once something is due, with what it is; undefined at the signal. */
  async next(): Promise<{ readonly paths: ReadonlySet<string> | null } | undefined> {
    while (!this.#isDue && !this.#signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.#signal.aborted) return undefined;
    const paths = this.#paths;
    this.#paths = new Set();
    this.#isDue = false;
    return { paths };
  }
}
