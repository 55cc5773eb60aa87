/** Giving entries other links by their bytes. Verifies: P19 (bytes in = bytes out), for copies. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { relinkLine } from "../../../packages/core/src/dialects/object-members.ts";
import type { NewLinks } from "../../../packages/core/src/dialects/object-members.ts";

const relink = (line: string, links: NewLinks): string =>
  relinkLine(Buffer.from(line), links).toString();

describe("relinkLine", () => {
  it.each([
    ['{"id":"a","parentId":null,"n":1.50}', '{"id":"a","parentId":"b","n":1.50}'],
    ['{"id":"a","parentId":"old"}\r', '{"id":"a","parentId":"b"}\r'],
    [' {"parentId" : "old" , "x":"\\u0061"} ', ' {"parentId" : "b" , "x":"\\u0061"} '],
    ['{"x":{"parentId":"inner"},"parentId":"old"}', '{"x":{"parentId":"inner"},"parentId":"b"}'],
    ['{"parentId":1,"parentId":2}', '{"parentId":1,"parentId":"b"}'],
    ['{"id":"a"}', '{"id":"a","parentId":"b"}'],
    ["[]", "[]"],
  ])("puts the parent into %s", (line, expected) => {
    expect(relink(line, { parentId: "b" })).toBe(expected);
  });

  it("makes an entry a root, and moves a boundary", () => {
    const line = '{"parentId":"a","firstKeptEntryId":"b","tokensBefore":1e3}';
    expect(relink(line, { parentId: null, firstKeptEntryId: 'ç"' })).toBe(
      '{"parentId":null,"firstKeptEntryId":"ç\\"","tokensBefore":1e3}',
    );
  });

  it("returns the same buffer where nothing is to change", () => {
    const line = Buffer.from('{"parentId":"a"}');
    expect(relinkLine(line, {})).toBe(line);
  });

  it("changes what JSON.parse sees by exactly the links, in the same order of keys", () => {
    const objects = fc.dictionary(
      fc.constantFrom("parentId", "id", "firstKeptEntryId", "x", "é"),
      fc.jsonValue(),
    );
    fc.assert(
      fc.property(objects, fc.option(fc.string()), (value, parentId) => {
        const changed: unknown = JSON.parse(relink(JSON.stringify(value), { parentId }));
        expect(JSON.stringify(changed)).toBe(JSON.stringify({ ...value, parentId }));
      }),
    );
  });
});
