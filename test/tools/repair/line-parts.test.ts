import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { partsOf } from "../../../packages/tools/src/repair/line-parts.ts";
import type { Candidate } from "../../../packages/tools/src/repair/line-parts.ts";
import { recordKind } from "../../../packages/tools/src/repair/record-facts.ts";

const entry = (id: string): string =>
  `{"type":"custom","customType":"x","data":{"n":"\\"{"},"id":"${id}","parentId":null,"timestamp":"t"}`;
const [a, b, c] = [entry("a"), entry("b"), entry("c")];
const torn = a.slice(0, 50);

/** The parts of a line as text, debris in angle brackets. */
function parted(
  line: string | Buffer,
  accepts = (candidate: Candidate): boolean =>
    candidate.placement !== "inside" && recordKind(candidate.value, 3) !== "other",
): string[] {
  const bytes = Buffer.from(line);
  const parts = partsOf(bytes, accepts);
  return parts.map(({ kind, start, end }) => {
    const text = bytes.toString("utf8", start, end);
    return kind === "record" ? text : `<${text}>`;
  });
}

describe("a damaged line", () => {
  it.each([
    ["a torn record and a whole one", `${torn}${b}`, [`<${torn}>`, b]],
    ["two torn records and a whole one", `${torn}${torn}${b}`, [`<${torn}${torn}>`, b]],
    ["two whole records", `${a}${b}`, [a, b]],
    ["three, spaced", `${a} ${b}\t${c}\r`, [`${a} `, `${b}\t`, `${c}\r`]],
    ["a whole record and a torn one", `${a}${torn}`, [a, `<${torn}>`]],
    ["everything at once", `${torn}${a}${b}${torn}`, [`<${torn}>`, a, b, `<${torn}>`]],
    ["NUL bytes before a record", `\0\0${a}`, ["<\0\0>", a]],
    ["NUL bytes behind a record", `${a}\0\0`, [a, "<\0\0>"]],
    ["a torn record, NUL bytes, a record", `${torn}\0\0${b}`, [`<${torn}\0\0>`, b]],
    ["text before a record", `Killed ${a}`, ["<Killed >", a]],
    ["text behind a record", `${a}oops`, [a, "<oops>"]],
    ["no record", "hello", ["<hello>"]],
    ["a torn record", torn, [`<${torn}>`]],
    ["nothing", "", []],
  ])("with %s is split", (_, line, parts) => {
    expect(parted(line)).toEqual(parts);
  });

  it.each([1, 2, 3, 5, 9, 14, 31, 40, 44, 45, 47, 48])(
    "is split wherever the first record was torn: at %i",
    (at) => {
      expect(parted(`${a.slice(0, at)}${b}`)).toEqual([`<${a.slice(0, at)}>`, b]);
    },
  );

  it("is split when a character was torn", () => {
    const line = Buffer.concat([
      Buffer.from('{"type":"message","id":"a","text":"'),
      Buffer.from("€").subarray(0, 2),
      Buffer.from(b),
    ]);
    expect(parted(line).at(-1)).toBe(b);
  });

  it("does not treat an object in a record as a record", () => {
    const holder = `{"type":"custom","data":{"entries":[${a},${b}],"last":${c}},"id":"h"`;
    expect(parted(`${holder}x`)).toEqual([`<${holder}x>`]);
    expect(parted(`x${holder},"parentId":null}`)).toEqual(["<x>", `${holder},"parentId":null}`]);
  });

  it("checks an object in the position of a value", () => {
    const doubtful: boolean[] = [];
    const accepts = (candidate: Candidate): boolean => {
      doubtful.push(candidate.placement === "inside");
      return true;
    };
    const start = '{"type":"custom","data":{"entries":[';
    expect(parted(`${start}${a}`, accepts)).toEqual([`<${start}>`, a]);
    expect(parted(`${start}${a}${b}`, accepts)).toEqual([`<${start}>`, a, b]);
    expect(parted(`${start} ${a},`, accepts)).toEqual([`<${start} ${a},>`]);
    expect(doubtful).toEqual([true, true, false]);
  });

  it.each(["}", ",", "]", '"', ":", "}}", '"b"', b.slice(60), b.slice(-1), b.slice(-30)])(
    "keeps a complete record at its start when %s follows",
    (behind) => {
      expect(parted(`${a}${behind}`)).toEqual([a, `<${behind}>`]);
      expect(parted(`${a} ${b}${behind}`)).toEqual([`${a} `, b, `<${behind}>`]);
    },
  );

  it("does not treat the first half of a record as one when a byte of it became a brace", () => {
    const line = a
      .replace('"id"', '"n":12,"id"')
      .replace('"parentId":null', '"x":{},"parentId":null');
    for (const [of, at] of [
      [",", line.indexOf(',"timestamp"')],
      ["2", line.indexOf("2,")],
    ] as const) {
      expect(line[at]).toBe(of);
      const flipped = `${line.slice(0, at)}}${line.slice(at + 1)}`;
      expect(parted(flipped, () => true)).toEqual([`<${flipped}>`]);
      expect(parted(`${flipped}${b}`, () => true)).toEqual([`<${flipped}>`, b]);
    }
  });

  it("trusts no object between debris and other JSON", () => {
    const flipped = a.replace('"x",', '"x"}');
    for (const line of [`x${a},`, `\0${a}]`, `x ${a}"b"`, `${torn}${a}:`, flipped]) {
      expect(parted(line)).toEqual([`<${line}>`]);
    }
  });

  it("is covered by its parts", () => {
    const piece = fc.oneof(
      fc.constantFrom(a, b, c, "\0", " ", "{", '{"', "}", ",", '"', "[", "\r", "\\", "€"),
      fc
        .tuple(fc.constantFrom(a, b), fc.nat())
        .map(([text, at]) => text.slice(0, at % text.length)),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), fc.boolean(), (pieces, takesAll) => {
        const line = pieces.join("");
        const accepts = (candidate: Candidate): boolean =>
          takesAll || candidate.placement !== "inside";
        const parts = partsOf(Buffer.from(line), accepts);
        let end = 0;
        for (const part of parts) {
          expect(part.start).toBe(end);
          expect(part.end).toBeGreaterThan(part.start);
          end = part.end;
        }
        expect(end).toBe(Buffer.byteLength(line));
      }),
      { numRuns: 2000 },
    );
  });

  it("is split in linear time, for any bytes (Verifies: P18)", () => {
    const lines = [
      '{"a":'.repeat(400_000),
      '{"'.repeat(1_000_000),
      '{"a":{"type":"x"},'.repeat(100_000),
    ];
    for (const line of lines) expect(parted(line)).toEqual([`<${line}>`]);
  });
});
