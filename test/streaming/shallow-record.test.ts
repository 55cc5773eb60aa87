/** The small facts of a record: JSON.parse without what is large. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeLine, type JsonObject, type JsonValue, readShallow } from "@branchlog/streaming";
import { chunksOfSize, jsonText, objectJson } from "./support/session-lines.ts";

const read = (text: string, options = {}, size = 7) =>
  readShallow(chunksOfSize(Buffer.from(text), size), options);

function isContainer(value: JsonValue): value is JsonObject | JsonValue[] {
  return typeof value === "object" && value !== null;
}

/** The reference: leaves out what readShallow leaves out, from the whole. */
function shallow(record: JsonObject, open: readonly string[], stringBytesMax: number): unknown {
  const kept = Object.entries(record).flatMap(([key, value]) => {
    if (typeof value === "string" && Buffer.byteLength(value) > stringBytesMax) return [];
    if (!isContainer(value)) return [[key, value] as const];
    if (Array.isArray(value) || !open.includes(key)) return [];
    return [[key, shallow(value, [], stringBytesMax)] as const];
  });
  return Object.fromEntries(kept);
}

/**
 * V8 13.6 (Node 24) takes the key "\n" for a key "\\" that it met at the same place before: then
 * JSON.parse is not a judge of keys with escapes.
 */
const parserMixesKeys = ((): boolean => {
  JSON.parse('{"branchlog":1,"\\\\":1}');
  const [, key] = Object.keys(JSON.parse('{"branchlog":1,"\\n":1}') as object);
  return key !== "\n";
})();

describe("readShallow", () => {
  const line =
    '{"type":"message","id":"a","n":-1.5,"message":{"role":"user","content":["x",{"role":1}],' +
    '"t":1},"list":[1,{"id":2}],"ok":true,"none":null}';

  it("readShallow keeps scalars and omits the rest", () => {
    const value = { type: "message", id: "a", n: -1.5, ok: true, none: null };
    expect(read(line)).toEqual({ ok: true, value });
  });

  it("readShallow takes the last of duplicate keys, also when that one is omitted", () => {
    expect(read('{"a":1,"a":2,"b":1,"b":[3]}')).toEqual({ ok: true, value: { a: 2 } });
  });

  it("keeps a __proto__ key as an own property", () => {
    const found = read('{"__proto__":1,"a":{"__proto__":"x"}}', { open: ["a"] });
    expect(found.ok && Object.keys(found.value)).toEqual(["__proto__", "a"]);
  });

  it.each(["", " \r\n", "\0\0", '{"a":1}\0', '{"a":1', "{}{}", "[]", "5", '"x"', "null", "[{}]"])(
    "readShallow returns the reason of decodeLine for %j",
    (text) => {
      const expected = decodeLine(Buffer.from(text));
      const reason = expected.ok ? "" : expected.reason;
      for (const size of [1, 100]) {
        expect(read(text, {}, size)).toMatchObject({ ok: false, reason });
      }
    },
  );

  it("law: readShallow equals JSON.parse without large values, at any chunk size", () => {
    const open = fc.subarray(["message", "data", "content", "details", "__proto__", "a"]);
    const size = fc.integer({ min: 1, max: 60 });
    fc.assert(
      fc.property(objectJson, open, fc.nat(12), size, (text, opened, stringBytesMax, chunk) => {
        fc.pre(!(parserMixesKeys && text.includes("\\")));
        const options = { open: opened, stringBytesMax };
        const whole = JSON.parse(text) as JsonObject;
        const expected = { ok: true, value: shallow(whole, opened, stringBytesMax) };
        expect(read(text, options, chunk)).toStrictEqual(expected);
      }),
      { numRuns: 1000 },
    );
  });

  it("law: readShallow accepts the same records as decodeLine", () => {
    const cut = fc.option(fc.nat());
    fc.assert(
      fc.property(jsonText, cut, fc.constantFrom("", "\r", " x", "}"), (text, at, end) => {
        const some = (at === null ? text : text.slice(0, at % (text.length + 1))) + end;
        expect(read(some).ok).toBe(decodeLine(Buffer.from(some)).ok);
      }),
      { numRuns: 1000 },
    );
  });

  it("readShallow rethrows the error of its source", () => {
    const failing = function* () {
      yield Buffer.from('{"a":');
      throw new Error("EIO");
    };
    expect(() => readShallow(failing())).toThrow("EIO");
  });
});
