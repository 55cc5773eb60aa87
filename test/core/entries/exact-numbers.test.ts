/** Which numbers of a JSON text parsing changes, and how they are carried past a parser. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { changedNumber, markedNumbers } from "../../../packages/core/src/entries/exact-numbers.ts";
import { dataBeside } from "../../support/data-file.ts";

const numbers = dataBeside(import.meta.url, "exact-numbers.json") as Record<
  "changed" | "kept",
  readonly string[]
>;

describe("a number of a JSON text", () => {
  it.each(numbers.changed)("is changed when it exceeds a double: %s", (number) => {
    expect(changedNumber(`{"a":[1,{"b":${number}}]}`)).toBe(number);
  });

  it.each(numbers.kept)("is not changed when only its notation differs: %s", (number) => {
    expect(changedNumber(`{"a":${number},"b":1}`)).toBeUndefined();
  });

  it("is not changed as digits in a text", () => {
    const text = { 'a"\\': '9007199254740993 \\"1e400', "1852345678901234567": "\\" };
    expect(changedNumber(JSON.stringify(text))).toBeUndefined();
  });

  it("is never changed when this process wrote it", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.double({ noNaN: true }), (value, number) => {
        const json = JSON.stringify([value, number, { number }]);
        expect(changedNumber(json)).toBeUndefined();
      }),
    );
  });

  it("is found among any others", () => {
    const parts = fc.array(
      fc.oneof(fc.jsonValue(), fc.bigInt({ max: 2n ** 80n, min: -(2n ** 80n) })),
    );
    fc.assert(
      fc.property(parts, (values) => {
        const texts = values.map((value) =>
          typeof value === "bigint" ? String(value) : JSON.stringify(value),
        );
        const first = values.find(
          (value) => typeof value === "bigint" && BigInt(Number(value)) !== value,
        );
        const found = changedNumber(`[${texts.join(",")}]`);
        // A double that is whole may still be written with other last digits.
        if (first !== undefined) expect(found).toBeDefined();
        if (found !== undefined) expect(String(Number(found))).not.toBe(found);
      }),
    );
  });

  it("is restored when its marker passes a parser", () => {
    const json =
      '{"a":12345678901234567890,"b":["\\u0001 \\u00011e400",{"c":1e400}],"d":"\\\\u00019"}';
    const marked = markedNumbers(json);
    const value: unknown = JSON.parse(marked?.json ?? "");
    expect(value).toMatchObject({ b: ["\u0001 \u00011e400", {}] });
    expect(marked?.restored(JSON.stringify(value))).toBe(json);
    expect(markedNumbers('{"a":1}')).toBeUndefined();
    const binary = "\u0001".repeat(1_000_000);
    expect(markedNumbers(`{"a":12345678901234567890,"b":${JSON.stringify(binary)}}`)).toBe(
      undefined,
    );
  });
});
