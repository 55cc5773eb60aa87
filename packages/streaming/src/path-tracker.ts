/**
 * Follows a token stream to the value at one path, in constant time per token. Of duplicate keys
 * the first one counts, because a reader that stops at the value cannot know of a later one.
 */
import type { JsonToken } from "./token-reader.ts";

/**
 * Where a value is: keys of objects as strings, indexes of arrays as numbers. `[]` is the whole.
 */
export type ValuePath = readonly (string | number)[];

/** What a token means for the path: not there yet, part of the value, its last part, or no hope. */
type PathStep = "before" | "inside" | "last" | "absent";

/** Tracks one path through one JSON text. */
export class PathTracker {
  readonly #path: ValuePath;
  /** Of every open container, the key or index that it is at; null: an object without a key yet. */
  readonly #at: (string | number | null)[] = [];
  /** How many leading elements of `#at` are those of the path. */
  #matched = 0;
  /** Depth of the containers around the value, once it began. */
  #valueDepth = -1;
  #isOver = false;

  constructor(path: ValuePath) {
    this.#path = path;
  }

  /** Whether the value is complete, or known to be absent: further tokens change nothing. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Yields those of the tokens that belong to the value. */
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
    // The container that could have held the next element of the path is over.
    if (this.#matched >= this.#at.length) return "absent";
    return "before";
  }

  #endScalar(otherwise: PathStep): PathStep {
    if (this.#valueDepth === -1) return otherwise;
    return this.#at.length === this.#valueDepth ? "last" : "inside";
  }

  /** A value begins: counts it in an array, and notices if it is the one. */
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

  /** Whether a scalar stands where the path goes on. */
  #isDeadEnd(): boolean {
    return this.#valueDepth === -1 && this.#matched === this.#at.length;
  }

  #inValueOr(otherwise: PathStep): PathStep {
    return this.#valueDepth === -1 ? otherwise : "inside";
  }
}
