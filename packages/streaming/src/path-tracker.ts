/**
 * Follows a token stream to the value at one path, in constant time per token. Of duplicate keys
 * the first one counts, because a reader that stops at the value cannot know of a later one.
 */
import type { JsonToken } from "./token-reader.ts";

/**
 * Where a value is: keys of objects as strings, indexes of arrays as numbers. `[]` is the whole
 * value.
 */
export type ValuePath = readonly (string | number)[];

/** The position of a token: before the value, inside it, its last token, or the value is absent. */
type PathStep = "before" | "inside" | "last" | "absent";

/** Tracks one path through one JSON text. */
export class PathTracker {
  readonly #path: ValuePath;
  /** The current key or index of every open container; null: an object without a key yet. */
  readonly #at: (string | number | null)[] = [];
  /** How many leading elements of `#at` are those of the path. */
  #matched = 0;
  /** Depth of the containers around the value, once it has begun. */
  #valueDepth = -1;
  #isOver = false;

  constructor(path: ValuePath) {
    this.#path = path;
  }

  /** Whether the value is complete, or known to be absent: further tokens do not matter. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Yields the tokens of the value. */
  *valueTokens(tokens: Iterable<JsonToken>): Generator<JsonToken, void, undefined> {
    for (const token of tokens) {
      const step = this.#step(token);
      this.#isOver = step === "last" || step === "absent";
      if (step === "inside" || step === "last") yield token;
      if (this.#isOver) return;
    }
  }

  #step(token: JsonToken): PathStep {
    switch (token.name) {
      case "keyValue":
        if (this.#valueDepth === -1) this.#move(token.value);
        return this.#valueDepth === -1 ? "before" : "inside";
      case "startObject":
        return this.#open(null);
      case "startArray":
        return this.#open(-1);
      case "endObject":
      case "endArray":
        return this.#close();
      case "startString":
        this.#enterValue();
        return this.#inValueOr(this.#isDeadEnd() ? "absent" : "before");
      case "stringChunk":
        return this.#inValueOr("before");
      case "endString":
        return this.#endScalar("before");
      case "numberValue":
      case "nullValue":
      case "trueValue":
      case "falseValue":
        this.#enterValue();
        return this.#endScalar(this.#isDeadEnd() ? "absent" : "before");
    }
  }

  #open(position: number | null): PathStep {
    this.#enterValue();
    this.#at.push(position);
    return this.#inValueOr("before");
  }

  #close(): PathStep {
    this.#at.pop();
    if (this.#valueDepth !== -1) return this.#at.length === this.#valueDepth ? "last" : "inside";
    // The container that could have held the next element of the path has ended.
    if (this.#matched >= this.#at.length) return "absent";
    return "before";
  }

  #endScalar(otherwise: PathStep): PathStep {
    if (this.#valueDepth === -1) return otherwise;
    return this.#at.length === this.#valueDepth ? "last" : "inside";
  }

  /** A value begins: counts it in an array, and checks whether it is the one at the path. */
  #enterValue(): void {
    if (this.#valueDepth !== -1) return;
    const position = this.#at.at(-1);
    if (typeof position === "number") this.#move(position + 1);
    const depth = this.#at.length;
    if (depth === this.#path.length && this.#matched === depth) this.#valueDepth = depth;
  }

  #move(position: string | number): void {
    const level = this.#at.length - 1;
    this.#at[level] = position;
    if (this.#matched < level) return;
    this.#matched = this.#path[level] === position ? level + 1 : level;
  }

  /** Whether a scalar is where the path continues. */
  #isDeadEnd(): boolean {
    return this.#valueDepth === -1 && this.#matched === this.#at.length;
  }

  #inValueOr(otherwise: PathStep): PathStep {
    return this.#valueDepth === -1 ? otherwise : "inside";
  }
}
