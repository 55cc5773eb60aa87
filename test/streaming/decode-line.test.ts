/** Decoding one line: JSON.parse, and a reason where there is no record. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeCounter, decodeLine } from "@branchlog/streaming";
import { jsonText, objectJson } from "./support/session-lines.ts";

const decode = (text: string) => decodeLine(Buffer.from(text));

describe("decodeLine", () => {
  it.each([
    ["another first byte", [0x7b, 0xbb, 0xbf]],
    ["another second byte", [0xef, 0x7b, 0xbf]],
    ["another third byte", [0xef, 0xbb, 0x7b]],
    ["another third byte that looks like the mark's first", [0xef, 0xbb, 0xef]],
  ])("does not treat three bytes with %s as a mark", (_, bytes) => {
    const line = Buffer.concat([Buffer.from(bytes), Buffer.from('{"a":1}')]);
    expect(decodeLine(line)).toMatchObject({ ok: false, reason: "not-json" });
  });

  it("decodeLine ignores a byte-order mark that ends after the line", () => {
    const bytes = Buffer.from([0x20, 0xef, 0xbb, 0xbf]);
    expect(decodeLine(bytes, 1, 3)).toMatchObject({ ok: false, reason: "not-json" });
    expect(decodeLine(bytes, 1, 4)).toMatchObject({ ok: false, reason: "blank" });
  });

  it.each([
    ["null", "null"],
    ["[]", "an array"],
    ["5", "a number"],
  ])("reports what %s is instead of an object", (text, name) => {
    expect(decodeLine(Buffer.from(text))).toEqual({
      ok: false,
      reason: "not-object",
      message: `the line holds ${name}, not an object`,
    });
  });

  it("decodeLine decodes an object with any white space around it", () => {
    for (const text of [
      '{"a":1}',
      '{"a":1}\r',
      ' \t{"a":1}\r\n',
      '\ufeff{"a":1}',
      '\ufeff {"a":1}',
    ]) {
      expect(decode(text)).toEqual({ ok: true, value: { a: 1 } });
    }
  });

  it("decodeLine decodes a range of a buffer, and bytes of a plain Uint8Array", () => {
    const bytes = new TextEncoder().encode('xx{"a":1}yy');
    expect(decodeLine(bytes, 2, 9)).toEqual({ ok: true, value: { a: 1 } });
    expect(decodeLine(bytes.subarray(2, 9))).toEqual({ ok: true, value: { a: 1 } });
    expect(decodeLine(bytes, 2)).toMatchObject({ ok: false, reason: "not-json" });
  });

  it.each([
    ["", "blank"],
    [" \t\r\n", "blank"],
    ["\ufeff", "blank"],
    ["\0\0\0", "nul-bytes"],
    ['{"a":1}\0\0', "nul-bytes"],
    ['{"a":1', "not-json"],
    ['{"a":1}{"b":2}', "not-json"],
    ["{'a':1}", "not-json"],
    ["\u00a0{}", "not-json"],
    ['"text"', "not-object"],
    ["true", "not-object"],
  ])("%j is not a record: %s", (text, reason) => {
    const decoded = decode(text);
    expect(decoded).toMatchObject({ ok: false, reason });
    expect(decoded.ok ? "" : decoded.message).not.toBe("");
  });

  it("keeps a __proto__ key as an own property and takes the last of duplicate keys", () => {
    const decoded = decode('{"__proto__":{"a":1},"b":1,"b":2}');
    expect(decoded.ok && Object.keys(decoded.value)).toEqual(["__proto__", "b"]);
    expect(decoded.ok && decoded.value["b"]).toBe(2);
    expect("a" in {}).toBe(false);
  });

  it("replaces invalid UTF-8 and keeps lone surrogates that are escaped", () => {
    const invalid = Buffer.from([0x22, 0xff, 0xed, 0xa0, 0x80, 0x22]);
    const line = Buffer.concat([Buffer.from('{"a":'), invalid, Buffer.from("}")]);
    expect(decodeLine(line)).toEqual({ ok: true, value: { a: "\ufffd".repeat(4) } });
    expect(decode(String.raw`{"a":"\ud800"}`)).toEqual({ ok: true, value: { a: "\ud800" } });
  });

  it("decodes nesting 100,000 deep", () => {
    const depth = 100_000;
    expect(decode(`{"a":${"[".repeat(depth)}${"]".repeat(depth)}}`).ok).toBe(true);
  });

  it("decodeLine counts parsed lines and does not parse blank ones", () => {
    const before = decodeCounter.parses;
    decode("{}");
    decode("{");
    decode("  ");
    expect(decodeCounter.parses - before).toBe(2);
  });
});

describe("law: decoding is JSON.parse", () => {
  it("decodeLine equals JSON.parse for any JSON text", () => {
    fc.assert(
      fc.property(fc.oneof(objectJson, jsonText), fc.constantFrom("", "\r", "\n"), (text, end) => {
        const value: unknown = JSON.parse(text);
        const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
        const expected = isObject ? { ok: true, value } : { ok: false, reason: "not-object" };
        expect(decode(text + end)).toMatchObject(expected);
        if (isObject) expect(decode(text + end)).toStrictEqual(expected);
      }),
      { numRuns: 1000 },
    );
  });

  it("decodeLine returns a record for any bytes exactly when JSON.parse returns an object", () => {
    const part = fc.oneof(
      fc.constantFrom("{", "}", '"', ":", ",", "a", "\\", "\0", " ", "1"),
      fc.uint8Array({ maxLength: 2 }),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
        const bytes = Buffer.concat(parts.map((p) => Buffer.from(p)));
        let expected: unknown;
        try {
          expected = JSON.parse(bytes.toString());
        } catch {
          expected = undefined;
        }
        const isObject = typeof expected === "object" && expected !== null;
        expect(decodeLine(bytes).ok).toBe(isObject && !Array.isArray(expected));
      }),
      { numRuns: 2000 },
    );
  });
});
