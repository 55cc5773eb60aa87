/** Reading inside a record: tokens, one value; JSON.parse at any chunk size. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  bodyStream,
  type JsonToken,
  type JsonValue,
  pick,
  readRange,
  readRangeAsync,
  type ValuePath,
} from "@branchlog/streaming";
import { collected } from "../support/collected.ts";
import { MemorySource } from "./support/memory-source.ts";
import { chunksOf, chunksOfSize, jsonText } from "./support/session-lines.ts";
import { dataBeside } from "../support/data-file.ts";

const record = '{"a":[1,{"b":"text"},[true,null]],"b":{"a":-1.5e3},"é":"漢😀","c":""}';

async function* stream(chunks: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield await Promise.resolve(chunk);
}

function bytes(text: string, size = 5): AsyncGenerator<Uint8Array> {
  return stream(chunksOfSize(Buffer.from(text), size));
}

/** Every value in a JSON value, with its path. */
function valuesIn(root: JsonValue): { path: ValuePath; value: JsonValue }[] {
  const found: { path: ValuePath; value: JsonValue }[] = [{ path: [], value: root }];
  for (const { path, value } of found) {
    if (Array.isArray(value)) {
      for (const [i, item] of value.entries()) found.push({ path: [...path, i], value: item });
    } else if (typeof value === "object" && value !== null) {
      for (const [key, item] of Object.entries(value)) {
        found.push({ path: [...path, key], value: item });
      }
    }
  }
  return found;
}

/** The value whose tokens these are, by a text that JSON.parse reads. */
function build(tokens: Iterable<JsonToken>): unknown {
  let text = "";
  for (const token of tokens) {
    if (token.name === "startObject") text += "{";
    else if (token.name === "startArray") text += "[";
    else if (token.name === "startString") text += '"';
    else if (token.name === "stringChunk") text += JSON.stringify(token.value).slice(1, -1);
    else if (token.name === "endString") text += '",';
    else if (token.name === "keyValue") text += `${JSON.stringify(token.value)}:`;
    else if (token.name === "endObject") text = `${text.replace(/,$/, "")}},`;
    else if (token.name === "endArray") text = `${text.replace(/,$/, "")}],`;
    else text += `${token.value},`;
  }
  return JSON.parse(text.slice(0, -1));
}

/** Texts that JSON.parse refuses. */
const malformed = dataBeside(import.meta.url, "malformed-texts.json") as readonly string[];

describe("bodyStream", () => {
  it("yields the tokens in order, strings in pieces", async () => {
    const tokens = await collected(bodyStream(bytes('{"a":["xyz",1.50,true]}', 100)));
    expect(tokens).toEqual([
      { name: "startObject" },
      { name: "keyValue", value: "a" },
      { name: "startArray" },
      { name: "startString" },
      { name: "stringChunk", value: "xyz" },
      { name: "endString" },
      { name: "numberValue", value: "1.50" },
      { name: "trueValue", value: true },
      { name: "endArray" },
      { name: "endObject" },
    ]);
  });

  it("law: its tokens build what JSON.parse builds, at any chunking", async () => {
    const cuts = fc.array(fc.nat(300), { maxLength: 10 });
    await fc.assert(
      fc.asyncProperty(jsonText, cuts, fc.constantFrom("", "\ufeff"), async (text, at, mark) => {
        for (const chunks of [
          chunksOf(Buffer.from(mark + text), at),
          chunksOfSize(Buffer.from(mark + text), 1),
        ]) {
          const tokens = await collected(bodyStream(stream(chunks)));
          expect(build(tokens)).toStrictEqual(JSON.parse(text));
        }
      }),
      { numRuns: 500 },
    );
  });

  it("law: it decodes any bytes like a single decode, at any chunking", async () => {
    const part = fc.oneof(
      fc.uint8Array({ maxLength: 4 }),
      fc.constantFrom("é", "漢", "😀", "\ufeff"),
    );
    const cuts = fc.array(fc.nat(40), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 6 }), cuts, async (parts, at) => {
        const inner = Buffer.concat(parts.map((p) => Buffer.from(p)));
        fc.pre(!inner.some((byte) => byte < 0x20 || byte === 0x22 || byte === 0x5c));
        const line = Buffer.concat([Buffer.from('"'), inner, Buffer.from('"')]);
        const tokens = await collected(bodyStream(stream(chunksOf(line, at))));
        expect(build(tokens)).toBe(JSON.parse(line.toString()));
      }),
      { numRuns: 1000 },
    );
  });

  it.each(malformed)("bodyStream rejects %j, as JSON.parse does", async (text) => {
    expect(() => void JSON.parse(text)).toThrow(SyntaxError);
    for (const size of [1, 3, 100]) {
      await expect(collected(bodyStream(bytes(text, size)))).rejects.toThrow(SyntaxError);
    }
  });

  it("bodyStream reads nesting 200,000 deep", async () => {
    const depth = 200_000;
    const text = `${"[".repeat(depth)}${"]".repeat(depth)}`;
    let tokens = 0;
    for await (const token of bodyStream(bytes(text, 10_000))) tokens += token.name ? 1 : 0;
    expect(tokens).toBe(2 * depth);
  });
});

describe("pick", () => {
  it.each<ValuePath[]>([
    [["d"]],
    [["a", 3]],
    [["a", "1"]],
    [["b", 0]],
    [["c", "x"]],
    [["a", 0, "x"]],
    [["a", 1, "c"]],
  ])("finds nothing at %j", async (path) => {
    for (const size of [1, 4, 1000]) expect(await pick(bytes(record, size), path)).toBeUndefined();
  });

  it("law: every value of any text is found at the position of JSON.parse", async () => {
    await fc.assert(
      fc.asyncProperty(jsonText, fc.integer({ min: 1, max: 30 }), async (text, size) => {
        for (const { path, value } of valuesIn(JSON.parse(text) as JsonValue)) {
          expect(await pick(bytes(text, size), path)).toStrictEqual(value);
        }
        expect(await pick(bytes(text, size), ["no such key", 0])).toBeUndefined();
      }),
      { numRuns: 200 },
    );
  });

  it("pick takes the first of duplicate keys, since it stops reading there", async () => {
    expect(await pick(bytes('{"a":1,"a":2}'), ["a"])).toBe(1);
    expect(await pick(bytes('{"a":{"b":1},"a":{"b":2}}'), ["a", "b"])).toBe(1);
  });

  it("keeps a __proto__ key as an own property", async () => {
    const value = await pick(bytes('{"a":{"__proto__":{"b":1}}}'), ["a"]);
    expect(Object.keys(value as object)).toEqual(["__proto__"]);
    expect(await pick(bytes('{"__proto__":{"b":1}}'), ["__proto__", "b"])).toBe(1);
    expect(await pick(bytes('{"a":1}'), ["__proto__"])).toBeUndefined();
  });

  it("pick stops reading once the result is known", async () => {
    let pulled = 0;
    const chunks = async function* () {
      for (const chunk of chunksOfSize(Buffer.from('{"a":{"b":1},"c":2,"d":3}'), 1)) {
        pulled += 1;
        yield await Promise.resolve(chunk);
      }
    };
    expect(await pick(chunks(), ["a", "b"])).toBe(1);
    expect(pulled).toBe('{"a":{"b":1}'.length);
    pulled = 0;
    expect(await pick(chunks(), ["a", "x"])).toBeUndefined();
    expect(pulled).toBe('{"a":{"b":1}'.length);
  });

  it("pick ends its source when it stops", async () => {
    let isClosed = false;
    const chunks = async function* () {
      try {
        for (;;) yield await Promise.resolve(Buffer.from('{"a":1,"b":2}'));
      } finally {
        isClosed = true;
      }
    };
    expect(await pick(chunks(), ["a"])).toBe(1);
    expect(isClosed).toBe(true);
  });

  it("pick rejects a value above the maximum, before it is built", async () => {
    const text = JSON.stringify({ a: "x".repeat(1000), b: Array.from({ length: 1000 }, () => 0) });
    const limit = { valueBytesMax: 500 };
    await expect(pick(bytes(text), ["a"], limit)).rejects.toThrow(RangeError);
    await expect(pick(bytes(text), ["b"], limit)).rejects.toThrow("500 bytes");
    expect(await pick(bytes(text), ["b", 999], limit)).toBe(0);
  });

  it("builds nesting 100,000 deep", async () => {
    const depth = 100_000;
    const text = `{"a":${"[".repeat(depth)}${"]".repeat(depth)}}`;
    let value = await pick(bytes(text, 10_000), ["a"]);
    let levels = 0;
    for (; Array.isArray(value); levels++) value = value[0];
    expect(levels).toBe(depth);
  });
});

describe("an aborted signal", () => {
  const reason = new Error("enough");

  it.each([
    [
      "bodyStream",
      (c: AsyncIterable<Uint8Array>, signal: AbortSignal) => collected(bodyStream(c, { signal })),
    ],
    ["pick", (c: AsyncIterable<Uint8Array>, signal: AbortSignal) => pick(c, ["z"], { signal })],
  ])("ends %s between two chunks and releases the source", async (_, read) => {
    const controller = new AbortController();
    let pulled = 0;
    let isClosed = false;
    const chunks = async function* () {
      try {
        for (const chunk of chunksOfSize(Buffer.from(record), 1)) {
          pulled += 1;
          if (pulled === 5) controller.abort(reason);
          yield await Promise.resolve(chunk);
        }
      } finally {
        isClosed = true;
      }
    };
    await expect(read(chunks(), controller.signal)).rejects.toBe(reason);
    expect([pulled, isClosed]).toEqual([5, true]);
    await expect(read(chunks(), AbortSignal.abort(reason))).rejects.toBe(reason);
    expect(pulled).toBe(5);
  });
});

it("readRange and readRangeAsync yield the bytes of a range in separate chunks", async () => {
  const whole = Buffer.from("0123456789");
  for (const readBytesMax of [1, 3, 100]) {
    const source = new MemorySource(whole, { readBytesMax });
    const sync = [...readRange(source, 2, 7, 4)];
    const later = await collected(readRangeAsync(source, 2, 7, 4));
    expect(Buffer.concat(sync).toString()).toBe("2345678");
    expect(later).toEqual(sync);
    expect(sync.every((chunk) => chunk.length <= 4)).toBe(true);
  }
});

it("readRange and readRangeAsync end where the source ends", async () => {
  const source = new MemorySource(Buffer.from("0123"));
  expect(Buffer.concat([...readRange(source, 2, 100)]).toString()).toBe("23");
  expect(await collected(readRangeAsync(source, 4, 100))).toEqual([]);
});
