/**
 * Where bytes stop being an object, and records that were truncated, distinguished from text that
 * is not JSON.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ObjectScanner } from "@branchlog/streaming";
import type { ScanStatus, Span } from "@branchlog/streaming";
import { isCutOffObject } from "../../packages/streaming/src/object-scanner.ts";

interface Scan {
  readonly status: ScanStatus;
  readonly stop: number;
  readonly closedLast: Span | null;
}
import { dataBeside } from "../support/data-file.ts";

/** Scans a text in pieces of so many bytes. */
function scan(text: string | Buffer, pieceBytes = Number.POSITIVE_INFINITY): Scan {
  const bytes = Buffer.from(text);
  const scanner = new ObjectScanner(0);
  let at = 0;
  while (at < bytes.length && scanner.status === "open") {
    const end = Math.min(bytes.length, at + pieceBytes);
    at = scanner.push(bytes, at, end);
  }
  return { status: scanner.status, stop: at, closedLast: scanner.closedLast };
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** A text, what it is, and where that is known. */
const verdicts = dataBeside(import.meta.url, "object-verdicts.json") as readonly (readonly [
  text: string,
  status: string,
  stop: number,
])[];

describe("the scanner of objects", () => {
  it.each(verdicts)("reports %j as %s at %i", (text, status, stop) => {
    expect(scan(text)).toMatchObject({ status, stop });
  });

  it("accepts bytes in strings that are not UTF-8, like decoding", () => {
    const bytes = Buffer.concat([
      Buffer.from('{"a":"'),
      Buffer.from([0xff, 0xc3]),
      Buffer.from('"}'),
    ]);
    expect(scan(bytes).status).toBe("complete");
  });

  it.each([
    ['{"a":[{"b":1}', { start: 6, end: 13 }],
    ['{"a":[{"b":1} {', { start: 6, end: 13 }],
    ['{"a":[{"b":1},', null],
    ['{"a":[{"b":1},2', null],
    ['{"a":{"b":[]}', { start: 5, end: 13 }],
    ['{"a":[[]', null],
  ])("reports for %j which object was closed last", (text, closedLast) => {
    expect(scan(text).closedLast).toEqual(closedLast);
  });

  it("agrees with JSON.parse on JSON, and on JSON with one character changed", () => {
    const anyChange = fc.tuple(
      fc.nat(),
      fc.constantFrom(...'{}[]",:\\ 0-.eEtu\n\u0000\u0001é'.split("")),
    );
    fc.assert(
      fc.property(fc.json(), fc.option(anyChange), (json, change) => {
        const text = `{"a":${json}}`;
        const at = change === null ? 0 : change[0] % text.length;
        const changed = change === null ? text : text.slice(0, at) + change[1] + text.slice(at + 1);
        const { status, stop } = scan(changed);
        const isWhole = status === "complete" && changed.slice(stop).trim() === "";
        const bytes = Buffer.from(changed);
        const isWholeInBytes =
          status === "complete" && bytes.subarray(stop).toString().trim() === "";
        expect(changed.startsWith("{") && (isWhole || isWholeInBytes)).toBe(
          changed.startsWith("{") && isObject(changed),
        );
      }),
      { numRuns: 2000 },
    );
  });

  it("reports every prefix of an object as open, and the whole as complete", () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        const bytes = Buffer.from(`{"a":${json}}`);
        for (let end = 0; end < bytes.length; end += 1) {
          expect(scan(bytes.subarray(0, end)).status).toBe("open");
        }
        expect(scan(bytes).status).toBe("complete");
      }),
    );
  });

  it("gives the same answer for pieces of any size", () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 1, max: 5 }), (text, pieceBytes) => {
        const object = `{"a":[{"b":"${text}"}`;
        expect(scan(object, pieceBytes)).toEqual(scan(object));
      }),
    );
  });

  it("handles any depth without recursion (Verifies: P18)", () => {
    const deep = '{"a":['.repeat(1_000_000);
    expect(scan(deep)).toMatchObject({ status: "open", stop: deep.length });
    expect(scan(`${deep}${"]}".repeat(1_000_000)}`).status).toBe("complete");
  });
});

const isCutOff = (text: string): boolean => isCutOffObject([Buffer.from(text)]);

/** In this order, so that strings end before brackets are tried, and no new ones begin. */
const nextCharacters = ['"', "}", "]", ":", "0", "r", "u", "e", "a", "l", "s"];

/** Makes a beginning whole, a character at a time; undefined if the way is blocked. */
function completed(beginning: string): string | undefined {
  let text = beginning;
  for (let steps = 0; steps < 200; steps += 1) {
    if (isObject(text)) return text;
    const next = nextCharacters.find((char) => isCutOff(text + char) || isObject(text + char));
    if (next === undefined) return undefined;
    text += next;
  }
  return undefined;
}

describe("a truncated record", () => {
  it.each([
    "",
    " ",
    "torn",
    "[1,",
    '"text',
    '{"a":1}',
    '{"a":1} ',
    '{"a":1}x',
    '{"a":1}{"b":',
    '{"type":"mess{"type":"message"}',
  ])("is not this: %j", (text) => {
    expect(isCutOff(text)).toBe(false);
  });

  it("is every proper prefix of a record, in any pieces", () => {
    const record = fc.dictionary(fc.string(), fc.jsonValue());
    const spacing = fc.constantFrom(undefined, 1, "\t");
    fc.assert(
      fc.property(record, spacing, fc.nat(), fc.nat(), (value, space, cut, seam) => {
        const bytes = Buffer.from(JSON.stringify(value, null, space));
        expect(isCutOffObject([bytes])).toBe(false);
        const beginning = Buffer.concat([
          Buffer.from(" "),
          bytes.subarray(0, 1 + (cut % (bytes.length - 1))),
        ]);
        const at = seam % beginning.length;
        expect(isCutOffObject([beginning.subarray(0, at), beginning.subarray(at)])).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  it("can always be completed", () => {
    const pieces = '{}[]":,01-.et\\u '.split("");
    const text = fc.array(fc.constantFrom('{"a":', ...pieces), { maxLength: 12 });
    fc.assert(
      fc.property(text, (parts) => {
        const beginning = parts.join("");
        if (isCutOff(beginning)) expect(completed(beginning)).toBeDefined();
      }),
      { numRuns: 5000 },
    );
  });
});
