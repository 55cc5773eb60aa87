/** Lines that are known to be records without a parse: never one that does not parse. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scanLines } from "@branchlog/streaming";
import type { CheckedRecord } from "@branchlog/streaming";
import { dataBeside } from "../support/data-file.ts";
import { runs } from "../support/fault-seed.ts";
import { checkedLines } from "./support/checked-lines.ts";

function checked(line: string | Buffer): CheckedRecord | undefined {
  const bytes = Buffer.from(line);
  const found: (CheckedRecord | undefined)[] = [];
  scanLines(bytes, 0, bytes.length, (rows) => found.push(rows.checked(0)));
  expect(found).toHaveLength(1);
  return found[0];
}

/** What a reader that parses says. */
function parsed(line: string): CheckedRecord | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const id: unknown = Object.hasOwn(value, "id") ? Reflect.get(value, "id") : undefined;
  if (id !== undefined && (typeof id !== "string" || !/^[ -~]*$/u.test(id))) return undefined;
  const isAscii = Buffer.byteLength(line) === line.length;
  return { id, isAscii, mayDiverge: Object.hasOwn(value, "branchlog.diverged") };
}

const malformed = dataBeside(import.meta.url, "malformed-texts.json") as readonly string[];

describe("a line recognised as a record", () => {
  it.each(checkedLines.records)("is %j, like for a parser", (line) => {
    expect(checked(line)).toEqual(parsed(line.trim()));
    expect(checked(line)).toBeDefined();
  });

  it.each([...checkedLines.others, ...malformed.filter((text) => !text.includes("\n"))])(
    "is not %j",
    (line) => {
      expect(checked(line)).toBeUndefined();
    },
  );

  it("can have bytes in its strings that are not UTF-8", () => {
    const bytes = Buffer.from('{"a":"??"}');
    bytes[6] = 0xff;
    expect(checked(bytes)).toMatchObject({ isAscii: false });
  });

  it("can be long, and nested as deep as records are", () => {
    expect(checked(`{"a":"${"x".repeat(100_000)}"}`)).toBeDefined();
    expect(checked(`{"a":${"[".repeat(1_000)}${"]".repeat(1_000)}}`)).toBeDefined();
    // Deeper ones are parsed.
    expect(checked(`{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`)).toBeUndefined();
  });

  it("is any object that a parser accepts", () => {
    const key = fc
      .string({ unit: "grapheme" })
      .filter((text) => JSON.stringify(text) === `"${text}"`);
    const object = fc.dictionary(key, fc.jsonValue({ maxDepth: 4 }));
    fc.assert(
      fc.property(object, fc.nat({ max: 3 }), (value, indent) => {
        const line = JSON.stringify(value, null, indent).replaceAll("\n", " ");
        expect(checked(line)).toEqual(parsed(line));
      }),
      { numRuns: runs(300, 5_000) },
    );
  });

  it("is never one that a parser rejects, after any change", () => {
    const base = fc.oneof(
      fc.constantFrom(...checkedLines.records),
      fc.object({ maxDepth: 3 }).map((value) => JSON.stringify(value)),
    );
    const edit = fc.record({
      at: fc.nat({ max: 200 }),
      removed: fc.nat({ max: 2 }),
      inserted: fc.string({ unit: "binary-ascii", maxLength: 2 }),
    });
    let count = 0;
    fc.assert(
      fc.property(base, edit, (text, { at, removed, inserted }) => {
        const place = at % (text.length + 1);
        const kept = inserted.replaceAll("\n", "");
        const line = text.slice(0, place) + kept + text.slice(place + removed);
        const found = checked(line);
        if (found === undefined) return;
        count += 1;
        expect(found).toEqual(parsed(line));
      }),
      { numRuns: runs(1_000, 20_000) },
    );
    expect(count).toBeGreaterThan(50);
  });
});
