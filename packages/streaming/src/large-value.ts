/**
 * Reads inside a record too large to be built: as a stream of tokens, or one value out of it.
 * Memory is bounded by the chunk and by the picked value. The chunks are the bytes of one JSON
 * text.
 */
import type { JsonValue } from "./decode-line.ts";
import { valueBytesMaxDefault } from "./limits.ts";
import { type OptionNames, requireKnown } from "./option-names.ts";
import { PathTracker, type ValuePath } from "./path-tracker.ts";
import { type JsonToken, TokenReader } from "./token-reader.ts";
import { ValueBuilder } from "./value-builder.ts";

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
  const { signal, valueBytesMax: bytesMax = valueBytesMaxDefault } = requireKnown(
    options,
    pickNames,
  );
  const builder = new ValueBuilder();
  let bytes = 0;
  for await (const tokens of tokensAt(chunks, path, signal)) {
    for (const token of tokens) {
      bytes += bytesOf(token);
      if (bytes > bytesMax) throw new RangeError(`the value has more than ${bytesMax} bytes`);
      builder.push(token);
    }
  }
  return builder.value;
}

/** The tokens of the value at `path`, chunk by chunk; each part must be drained. */
async function* tokensAt(
  chunks: AsyncIterable<Uint8Array>,
  path: ValuePath,
  signal: AbortSignal | undefined,
): AsyncGenerator<Iterable<JsonToken>, void, undefined> {
  const reader = new TokenReader();
  const tracker = new PathTracker(path);
  signal?.throwIfAborted();
  for await (const chunk of chunks) {
    signal?.throwIfAborted();
    yield tracker.valueTokens(reader.push(chunk));
    if (tracker.isOver) return;
  }
  yield tracker.valueTokens(reader.finish());
}

function bytesOf(token: JsonToken): number {
  return "value" in token && typeof token.value === "string" ? Buffer.byteLength(token.value) : 1;
}
