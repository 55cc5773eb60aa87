/**
 * Converts the bytes of one JSON text into tokens, incrementally and synchronously, with the
 * tokenizer of stream-json. Strings are yielded in pieces, so memory is bounded by the chunk,
 * however long a string is; keys and numbers are yielded whole. It accepts what `JSON.parse`
 * accepts.
 */
import { StringDecoder } from "node:string_decoder";
import { jsonParser, type Token as ParserToken } from "stream-json/core/parser.js";

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
      const text = this.#decoder.write(bytes.subarray(start, start + sliceBytes));
      for (const token of this.#read(this.#withoutMark(text))) {
        if (this.#count(token)) yield token;
      }
    }
  }

  /** Marks the end of the text and yields the last tokens. Must be drained. */
  *finish(): Generator<JsonToken, void, undefined> {
    // White space after the text completes a number at its end.
    for (const token of this.#read(this.#withoutMark(`${this.#decoder.end()}\n`))) {
      if (this.#count(token)) yield token;
    }
    if (!this.#isComplete) throw new SyntaxError("the JSON text ends before its value does");
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

  #read(text: string): readonly ParserToken[] {
    if (text === "") return [];
    try {
      const tokens = this.#parse(text);
      return typeof tokens === "symbol" ? [] : tokens.values;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      throw new SyntaxError(`not JSON: ${message}`, { cause: error });
    }
  }

  #withoutMark(text: string): string {
    if (!this.#atStart || text === "") return text;
    this.#atStart = false;
    return text.charCodeAt(0) === byteOrderMark ? text.slice(1) : text;
  }
}
