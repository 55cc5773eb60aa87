/** Splits a text into lines that arrives in chunks, which may end anywhere. */

export class LineSplitter {
  #rest = "";

  /** The lines that a chunk completes, without empty ones. */
  push(chunk: string): readonly string[] {
    const parts = (this.#rest + chunk).split("\n");
    this.#rest = parts.pop() ?? "";
    return parts.filter((line) => line !== "");
  }

  /** The rest after the last newline. */
  end(): readonly string[] {
    const rest = this.#rest;
    this.#rest = "";
    return rest === "" ? [] : [rest];
  }
}
