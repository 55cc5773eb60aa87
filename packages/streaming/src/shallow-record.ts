/**
 * Reads the scalars of a record too long to be built: those at its top level, and one level deeper
 * for given keys. Everything else is tokenized and dropped, so memory is bounded by the chunk. The
 * whole text is read: every record it accepts, `JSON.parse` accepts too.
 */
import { hasByteOrderMark } from "./decode-line.ts";
import type { DecodedLine, JsonObject, JsonValue } from "./decode-line.ts";
import { stringBytesMaxDefault } from "./limits.ts";
import { type JsonToken, TokenReader } from "./large-value.ts";
import { isSpace } from "./object-scanner.ts";
import { type OptionNames, requireKnown } from "./option-names.ts";

/** What {@link readShallow} keeps. */
export interface ShallowOptions {
  /** Top-level keys whose objects are kept with their scalars. Default: none. */
  readonly open?: readonly string[];
  /** Longest string that is kept, in UTF-8 bytes. Default 64 KiB. */
  readonly stringBytesMax?: number;
}

const shallowNames: OptionNames<ShallowOptions> = { open: true, stringBytesMax: true };

/**
 * The record without its arrays, without its objects except those in `open`, and without strings
 * longer than `stringBytesMax`. It tolerates a byte-order mark in front, if the first chunk holds
 * it whole. Linear; about a tenth of the speed of an index scan.
 */
export function readShallow(
  chunks: Iterable<Uint8Array>,
  options: ShallowOptions = {},
): DecodedLine {
  const reader = new TokenReader();
  const collector = new ShallowCollector(requireKnown(options, shallowNames));
  let hasNul = false;
  let isBlank = true;
  try {
    let isFirst = true;
    for (const given of chunks) {
      const chunk = isFirst && hasByteOrderMark(given) ? given.subarray(3) : given;
      isFirst = false;
      hasNul ||= chunk.includes(0);
      isBlank &&= chunk.every(isSpace);
      for (const token of reader.push(chunk)) collector.push(token);
    }
    for (const token of reader.finish()) collector.push(token);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    if (isBlank) return { ok: false, reason: "blank", message: "the line is blank" };
    if (hasNul) return { ok: false, reason: "nul-bytes", message: "the line has NUL bytes" };
    return { ok: false, reason: "not-json", message: error.message };
  }
  return collector.record
    ? { ok: true, value: collector.record }
    : { ok: false, reason: "not-object", message: "the line does not hold an object" };
}

/** Keeps the scalars of depth 1, and of depth 2 inside the opened keys. */
class ShallowCollector {
  readonly #opened: ReadonlySet<string>;
  readonly #stringBytesMax: number;
  #depth = 0;
  #record: JsonObject | null = null;
  /** The current object of depth 2, if its key is in `open`. */
  #inner: JsonObject | null = null;
  #key = "";
  #pieces: string[] = [];
  #pieceBytes = 0;

  constructor(options: ShallowOptions) {
    this.#opened = new Set(options.open);
    this.#stringBytesMax = options.stringBytesMax ?? stringBytesMaxDefault;
  }

  /** What was collected; null if the text does not hold an object. */
  get record(): JsonObject | null {
    return this.#record;
  }

  push(token: JsonToken): void {
    switch (token.name) {
      case "startObject":
      case "startArray":
        return this.#enter(token.name === "startObject");
      case "endObject":
      case "endArray":
        this.#depth--;
        return;
      case "keyValue":
        this.#key = token.value;
        return;
      case "startString":
        this.#pieces = [];
        this.#pieceBytes = 0;
        return;
      case "stringChunk":
        return this.#addPiece(token.value);
      case "endString":
        if (this.#pieceBytes > this.#stringBytesMax) return this.#drop();
        return this.#keep(this.#pieces.join(""));
      case "numberValue":
        return this.#keep(Number(token.value));
      case "nullValue":
      case "trueValue":
      case "falseValue":
        return this.#keep(token.value);
    }
  }

  /** The object that receives keys and scalars now, if it is kept. */
  get #target(): JsonObject | null {
    if (this.#depth === 1) return this.#record;
    return this.#depth === 2 ? this.#inner : null;
  }

  #enter(isObject: boolean): void {
    if (this.#depth === 0) {
      this.#record = isObject ? {} : null;
    } else if (this.#depth === 1) {
      const isOpened = isObject && this.#record !== null && this.#opened.has(this.#key);
      this.#inner = isOpened ? {} : null;
      if (this.#inner) this.#keep(this.#inner);
      else this.#drop();
    } else {
      this.#drop();
    }
    this.#depth++;
  }

  #addPiece(piece: string): void {
    if (this.#target === null || this.#pieceBytes > this.#stringBytesMax) return;
    this.#pieceBytes += Buffer.byteLength(piece);
    if (this.#pieceBytes > this.#stringBytesMax) this.#pieces = [];
    else this.#pieces.push(piece);
  }

  #keep(value: JsonValue): void {
    const target = this.#target;
    if (!target) return;
    // A `__proto__` key is an ordinary property, too.
    const property = { value, writable: true, enumerable: true, configurable: true };
    Object.defineProperty(target, this.#key, property);
  }

  /** A dropped value also removes an earlier value of the same key. */
  #drop(): void {
    const target = this.#target;
    if (target) Reflect.deleteProperty(target, this.#key);
  }
}
