/**
 * Reads inside a record too large to be built: as a stream of tokens, or one value out of it.
 * Memory is bounded by the chunk and by the picked value. The chunks are the bytes of one JSON
 * text; it accepts the same texts as `JSON.parse`.
 */
import { StringDecoder } from "node:string_decoder";
import { Assembler } from "stream-json/core/assembler.js";
import { jsonParser, type Token as ParserToken } from "stream-json/core/parser.js";
import type { JsonValue } from "./decode-line.ts";
import { valueBytesMaxDefault } from "./limits.ts";
import { type OptionNames, requireKnown } from "./option-names.ts";

/** A token, as stream-json names them, so its components accept these. */
export type JsonToken =
  | { readonly name: "startObject" }
  | { readonly name: "endObject" }
  | { readonly name: "startArray" }
  | { readonly name: "endArray" }
  | { readonly name: "keyValue"; readonly value: string }
  | { readonly name: "startString" }
  | { readonly name: "stringChunk"; readonly value: string }
  | { readonly name: "endString" }
  | { readonly name: "numberValue"; readonly value: string }
  | { readonly name: "nullValue"; readonly value: null }
  | { readonly name: "trueValue"; readonly value: true }
  | { readonly name: "falseValue"; readonly value: false };

/**
 * Where a value is: keys of objects as strings, indexes of arrays as numbers. `[]` is the whole
 * value.
 */
export type ValuePath = readonly (string | number)[];

/** Options of every reader in this file. */
export interface LargeValueOptions {
  /** Ends the read between two chunks: it rejects with the reason. */
  readonly signal?: AbortSignal | undefined;
}

/** How {@link pick} bounds what it builds. */
export interface PickOptions extends LargeValueOptions {
  /** Longest value, in UTF-8 bytes of its strings, keys and numbers. Default 64 MiB. */
  readonly valueBytesMax?: number;
}

const largeValueNames: OptionNames<LargeValueOptions> = { signal: true };
const pickNames: OptionNames<PickOptions> = { ...largeValueNames, valueBytesMax: true };

/**
 * The tokens of the text, in order. Strings come in pieces of any length; keys and numbers whole.
 * Malformed or incomplete text throws a SyntaxError; some tokens before the fault are lost then.
 */
export async function* bodyStream(
  chunks: AsyncIterable<Uint8Array>,
  options: LargeValueOptions = {},
): AsyncGenerator<JsonToken, void, undefined> {
  const { signal } = requireKnown(options, largeValueNames);
  const reader = new TokenReader();
  signal?.throwIfAborted();
  for await (const chunk of chunks) {
    signal?.throwIfAborted();
    yield* reader.push(chunk);
  }
  yield* reader.finish();
}

/**
 * The value at `path`, or undefined if there is none; of duplicate keys, the first. Reads no chunk
 * beyond the one in which this is known, so later bytes may be malformed.
 *
 * @throws RangeError if the value is longer than `valueBytesMax`; SyntaxError if the text is
 * malformed up to the value.
 * @example
 * const model = await pick(readRangeAsync(source, offset, length), ["message", "model"]);
 */
export async function pick(
  chunks: AsyncIterable<Uint8Array>,
  path: ValuePath,
  options: PickOptions = {},
): Promise<JsonValue | undefined> {
  const { signal, valueBytesMax = valueBytesMaxDefault } = requireKnown(options, pickNames);
  const reader = new TokenReader();
  const picked = new PickedValue(path, valueBytesMax);
  signal?.throwIfAborted();
  for await (const chunk of chunks) {
    signal?.throwIfAborted();
    if (picked.push(reader.push(chunk))) return picked.value;
  }
  picked.push(reader.finish());
  return picked.value;
}

/** Bytes tokenized at a time: bounds the tokens in memory when a caller's chunk is huge. */
const sliceBytes = 64 * 1024;
const byteOrderMark = 0xfeff;

/**
 * The tokenizer of one JSON text. Malformed text throws a SyntaxError, after which the reader is
 * unusable.
 */
export class TokenReader {
  readonly #decoder = new StringDecoder("utf8");
  readonly #parse = jsonParser({
    packKeys: true,
    streamKeys: false,
    packStrings: false,
    streamStrings: true,
    packNumbers: true,
    streamNumbers: false,
  });
  #atStart = true;
  #depth = 0;
  #isComplete = false;

  /** Takes the next bytes and yields the tokens that they complete. Must be drained. */
  *push(chunk: Uint8Array): Generator<JsonToken, void, undefined> {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    for (let start = 0; start < bytes.length; start += sliceBytes) {
      yield* this.#read(this.#decoder.write(bytes.subarray(start, start + sliceBytes)));
    }
  }

  /** Marks the end of the text and yields the last tokens. Must be drained. */
  *finish(): Generator<JsonToken, void, undefined> {
    // White space after the text completes a number at its end.
    yield* this.#read(`${this.#decoder.end()}\n`);
    if (!this.#isComplete) throw new SyntaxError("the JSON text ends before its value does");
  }

  *#read(text: string): Generator<JsonToken, void, undefined> {
    if (text === "") return;
    const hasMark = this.#atStart && text.charCodeAt(0) === byteOrderMark;
    this.#atStart = false;
    for (const token of this.#tokens(hasMark ? text.slice(1) : text)) {
      if (this.#count(token)) yield token;
    }
  }

  #tokens(text: string): readonly ParserToken[] {
    try {
      const tokens = this.#parse(text);
      return typeof tokens === "symbol" ? [] : tokens.values;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      throw new SyntaxError(`not JSON: ${message}`, { cause: error });
    }
  }

  /** Updates the depth; false for tokens that the options above switch off. */
  #count(token: ParserToken): token is JsonToken {
    switch (token.name) {
      case "startObject":
      case "startArray":
        this.#depth++;
        return true;
      case "endObject":
      case "endArray":
        this.#depth--;
        this.#isComplete = this.#depth === 0;
        return true;
      case "endString":
      case "numberValue":
      case "nullValue":
      case "trueValue":
      case "falseValue":
        this.#isComplete = this.#depth === 0;
        return true;
      case "keyValue":
      case "startString":
      case "stringChunk":
        return true;
      default:
        return false;
    }
  }
}

/**
 * The value at one path of a token stream. stream-json's own filter `pick` reads to the end of the
 * text if there is no such value, and takes a later one of duplicate keys; so the path is tracked
 * here, and only the value is built by its assembler.
 */
class PickedValue {
  readonly #path: ValuePath;
  readonly #bytesMax: number;
  readonly #assembler = new Assembler<JsonValue>();
  /** Open containers. */
  #depth = 0;
  /** How many elements of the path were met. At that depth the next value is on the path. */
  #matched = 0;
  /** Of the last element of the array in which the path continues. */
  #index = -1;
  #hasBegun = false;
  #isOver = false;
  #bytes = 0;
  #pieces: string[] = [];

  constructor(path: ValuePath, bytesMax: number) {
    this.#path = path;
    this.#bytesMax = bytesMax;
  }

  get value(): JsonValue | undefined {
    return this.#hasBegun ? (this.#assembler.current ?? null) : undefined;
  }

  /** Whether the value is complete or known to be absent: further tokens do not matter. */
  push(tokens: Iterable<JsonToken>): boolean {
    for (const token of tokens) {
      this.#step(token);
      if (this.#hasBegun) this.#build(token);
      if (this.#isOver) return true;
    }
    return false;
  }

  #step(token: JsonToken): void {
    switch (token.name) {
      case "keyValue":
        if (token.value === this.#path[this.#matched]) this.#match();
        return;
      case "startObject":
      case "startArray":
        this.#begin(token.name);
        this.#depth += 1;
        return;
      case "startString":
        return this.#begin(token.name);
      case "stringChunk":
        return;
      case "endObject":
      case "endArray":
        this.#depth -= 1;
        // Of an object or array on the path, so it has no element that continues the path.
        this.#isOver ||= this.#depth === this.#matched;
        return;
      case "endString":
        this.#isOver ||= this.#hasBegun && this.#depth === this.#matched;
        return;
      default:
        this.#begin(token.name);
        this.#isOver ||= this.#depth === this.#matched;
    }
  }

  #match(): void {
    if (this.#depth === this.#matched + 1) this.#matched += 1;
  }

  #begin(name: JsonToken["name"]): void {
    if (this.#hasBegun) return;
    const next = this.#path[this.#matched];
    if (typeof next === "number" && this.#depth === this.#matched + 1) {
      this.#index += 1;
      if (this.#index === next) this.#match();
    }
    if (this.#depth !== this.#matched) return;
    if (this.#matched === this.#path.length) {
      this.#hasBegun = true;
      return;
    }
    const wanted = typeof this.#path[this.#matched] === "number" ? "startArray" : "startObject";
    this.#isOver = name !== wanted;
    this.#index = -1;
  }

  #build(token: JsonToken): void {
    const isText = "value" in token && typeof token.value === "string";
    this.#bytes += isText ? Buffer.byteLength(token.value) : 1;
    if (this.#bytes > this.#bytesMax) {
      throw new RangeError(`the value has more than ${this.#bytesMax} bytes`);
    }
    if (token.name === "stringChunk") this.#pieces.push(token.value);
    else if (token.name === "endString") {
      this.#assembler.stringValue(this.#pieces.join(""));
      this.#pieces = [];
    } else this.#assembler.consume(token);
  }
}
