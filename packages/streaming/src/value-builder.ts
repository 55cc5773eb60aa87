/**
 * Builds one JSON value from its tokens, as `JSON.parse` would: iteratively; the last of duplicate
 * keys wins, `__proto__` is an ordinary own property.
 */
import type { JsonObject, JsonValue } from "./decode-line.ts";
import type { JsonToken } from "./token-reader.ts";

/** Collects the tokens of one value. */
export class ValueBuilder {
  readonly #open: { readonly container: JsonValue[] | JsonObject; readonly key: string }[] = [];
  #container: JsonValue[] | JsonObject | null = null;
  #key = "";
  #pieces: string[] = [];
  #value: JsonValue | undefined;

  /** The value, once its last token was pushed. */
  get value(): JsonValue | undefined {
    return this.#value;
  }

  /** Takes the next token of the value. */
  push(token: JsonToken): void {
    switch (token.name) {
      case "startObject":
        return this.#enter({});
      case "startArray":
        return this.#enter([]);
      case "endObject":
      case "endArray":
        return this.#leave();
      case "keyValue":
        this.#key = token.value;
        return;
      case "startString":
        this.#pieces = [];
        return;
      case "stringChunk":
        this.#pieces.push(token.value);
        return;
      case "endString":
        return this.#add(this.#pieces.join(""));
      case "numberValue":
        return this.#add(Number(token.value));
      case "nullValue":
      case "trueValue":
      case "falseValue":
        return this.#add(token.value);
    }
  }

  #enter(container: JsonValue[] | JsonObject): void {
    if (this.#container) this.#open.push({ container: this.#container, key: this.#key });
    this.#container = container;
  }

  #leave(): void {
    const value = this.#container;
    const outer = this.#open.pop();
    this.#container = outer?.container ?? null;
    this.#key = outer?.key ?? "";
    if (value) this.#add(value);
  }

  #add(value: JsonValue): void {
    if (this.#container === null) this.#value = value;
    else if (Array.isArray(this.#container)) this.#container.push(value);
    else setOwn(this.#container, this.#key, value);
  }
}

/** Sets an own property, also if its key is `__proto__`. */
export function setOwn(object: JsonObject, key: string, value: JsonValue): void {
  if (key === "__proto__") {
    const property = { value, writable: true, enumerable: true, configurable: true };
    Object.defineProperty(object, key, property);
  } else {
    object[key] = value;
  }
}
