/** Changing lines byte by byte: migration and other links. Verifies: P19 (bytes in = bytes out). */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "@branchlog/streaming";
import {
  migrateLine,
  type MigrationContext,
} from "../../../packages/core/src/dialects/migrate-line.ts";
import { upcastEntry } from "../../../packages/core/src/dialects/header.ts";
import { relinkLine } from "../../../packages/core/src/dialects/object-members.ts";
import type { NewLinks } from "../../../packages/core/src/dialects/object-members.ts";

/** Of the header, two entries, and one that comes later. */
const ids = [undefined, "one", "two", null];
const context = (version: 1 | 2 | 3, kind: "header" | "entry" = "entry"): MigrationContext => ({
  version,
  kind,
  id: "own",
  parentId: "before",
  idAtFileIndex: (i) => ids[i],
});
const migrate = (line: string, ...how: Parameters<typeof context>): string =>
  migrateLine(Buffer.from(line), context(...how)).toString();
const links = '"id":"own","parentId":"before"';

describe("migrateLine of v1", () => {
  it.each([
    ['{"type":"x","n":1.50e+0}', `{"type":"x","n":1.50e+0,${links}}`],
    ['{"type":"x"}\r\n', `{"type":"x",${links}}\r\n`],
    [' { "type" : "x" } \r', ` { "type" : "x" ,${links}} \r`],
    ["{}", `{${links}}`],
    ["{ }\n", `{ ${links}}\n`],
    ['{"a":"}\\"\\\\","b":[{"id":1},"]"]}', `{"a":"}\\"\\\\","b":[{"id":1},"]"],${links}}`],
    ['{"id":"x","type":"y"}', '{"id":"own","type":"y","parentId":"before"}'],
    ['{"parentId":{"a":[1]},"a":1,"id":7}', '{"parentId":"before","a":1,"id":"own"}'],
    ['{"\\u0069d":1,"parentId":2}', '{"\\u0069d":"own","parentId":"before"}'],
    ['{"id":1,"id":2,"parentId":3}', '{"id":1,"id":"own","parentId":"before"}'],
    ['{"firstKeptEntryIndex":1}', `{"firstKeptEntryIndex":1,${links}}`],
    [
      '{"type":"compaction","firstKeptEntryIndex":"1"}',
      `{"type":"compaction","firstKeptEntryIndex":"1",${links}}`,
    ],
  ])("writes the ids of %j", (line, expected) => {
    expect(migrate(line, 1)).toBe(expected);
  });

  it.each([
    ['"firstKeptEntryIndex":1,"firstKeptEntryIndex":2,"type":"compaction"'],
    ['"firstKeptEntryIndex":1,"type":"compaction","firstKeptEntryIndex":2,"firstKeptEntryIndex":2'],
    ['"type":"compaction","firstKeptEntryIndex":1,"a":1,"firstKeptEntryIndex":2'],
  ])("removes a repeated index: {%s}", (members) => {
    const migrated: unknown = JSON.parse(migrate(`{${members}}`, 1));
    expect(migrated).not.toHaveProperty("firstKeptEntryIndex");
    expect(migrated).toMatchObject({ type: "compaction", firstKeptEntryId: "two" });
  });

  it.each([
    ['"type":"compaction","firstKeptEntryId":"x","firstKeptEntryIndex":3', '"type":"compaction",'],
    ['"firstKeptEntryIndex":3,"firstKeptEntryId":"x","type":"compaction"', '"type":"compaction",'],
    [
      '"firstKeptEntryId":"x" , "type":"compaction" , "firstKeptEntryIndex":3,"z" : 1.0',
      '"type":"compaction","z" : 1.0,',
    ],
    [
      '"type":"compaction","firstKeptEntryId":1,"a":2,"firstKeptEntryId":3,"firstKeptEntryIndex":3',
      '"type":"compaction","a":2,',
    ],
  ])("removes the id from {%s}, whose index refers to a later entry", (members, kept) => {
    expect(migrate(`{${members}}`, 1)).toBe(`{${kept}${links}}`);
  });

  it("escapes ids, and writes null for the first parent", () => {
    const odd = { ...context(1), id: '"\\\n', parentId: null };
    expect(migrateLine(Buffer.from("{}"), odd).toString()).toBe(
      '{"id":"\\"\\\\\\n","parentId":null}',
    );
  });
});

describe("migrateLine of messages", () => {
  it("replaces the role hookMessage in place", () => {
    const line =
      '{"type":"message","id":"i","message":{ "a" : 1.0, "role" : "hookMessage" ,"z":"\\u00e9"}}';
    const expected = line.replace('"hookMessage"', '"custom"');
    expect(migrate(line, 2)).toBe(expected);
    expect(migrate(line.replace("hook", "\\u0068ook"), 2)).toBe(expected);
  });

  it.each([
    ['{"type":"custom","message":{"role":"hookMessage"}}'],
    ['{"type":"message","message":{"content":{"role":"hookMessage"},"role":"user"}}'],
    ['{"type":"message","message":{"role":"hookMessage","role":"user"}}'],
    ['{"type":"message","message":{"role":"hookMessage"},"message":"last one wins"}'],
    ['{"type":"message","message":["role","hookMessage"]}'],
    ['{"type":"message"}'],
  ])("returns %s as the same buffer", (line) => {
    const bytes = Buffer.from(line);
    expect(migrateLine(bytes, context(2))).toBe(bytes);
  });
});

it.each([
  ['{"type":"session","id":"s"}\n', 1, '{"type":"session","id":"s","version":3}\n'],
  ['{"type":"session","version":null,"id":"s"}', 1, '{"type":"session","version":3,"id":"s"}'],
  ['{"type":"session", "version": 2.0 ,"id":"s"}', 2, '{"type":"session", "version": 3 ,"id":"s"}'],
  ['{"type":"session","version":4}', 3, '{"type":"session","version":4}'],
] as const)("migrateLine of headers writes the version of %j", (line, version, expected) => {
  expect(migrate(line, version, "header")).toBe(expected);
});

describe("migrateLine, by law", () => {
  const space = fc.constantFrom("", "", " ", "\t", " \r");
  const numbers = ["0", "1", "2", "3", "-0", "1.0", "2E+0", "9007199254740993", "1e-7"] as const;
  const number = fc.constantFrom(...numbers);
  const text = fc.string({ unit: "binary" }).map((value) => JSON.stringify(value));
  const role = fc.constantFrom('"hookMessage"', '"user"', '"\\u0068ookMessage"', "5", "{}");
  const message = fc
    .tuple(space, role, text, space)
    .map(([a, roleText, other, b]) => `{${a}${other}:1,"role"${b}:${roleText}${a}}`);
  const value = fc.oneof(
    number,
    text,
    role,
    message,
    fc.constantFrom('"compaction"', '"message"', '"session"', "null", "true", "[]", "{}"),
    fc.jsonValue().map((json) => JSON.stringify(json, null, "\t").replaceAll("\n", " ")),
  );
  const key = fc.oneof(
    fc.constantFrom("id", "parentId", "type", "message", "firstKeptEntryIndex", "version"),
    fc.constantFrom("firstKeptEntryId", "__proto__", "7", "role", "data"),
    fc.string(),
  );
  const keyText = fc.tuple(key, fc.boolean()).map(([name, escaped]) => {
    const first = name.charCodeAt(0).toString(16).padStart(4, "0");
    return escaped && name !== ""
      ? `"\\u${first}${JSON.stringify(name.slice(1)).slice(1)}`
      : JSON.stringify(name);
  });
  const member = fc
    .tuple(space, keyText, space, space, value, space)
    .map(([a, name, b, c, json, d]) => `${a}${name}${b}:${c}${json}${d}`);
  const known = fc.constantFrom('"type":"message"', '"type":"compaction"', '"type":"custom"');
  const record = fc
    .tuple(space, fc.array(fc.oneof(member, known), { maxLength: 8 }), space)
    .map(([before, members, behind]) => `${before}{${members.join(",")}}${behind}`);

  it("equals upcasting, with the same order of keys", () => {
    const how = fc.constantFrom(...([1, 2, 3] as const));
    fc.assert(
      fc.property(record, how, fc.constantFrom("header", "entry"), (line, version, kind) => {
        const decoded = JSON.parse(line) as JsonObject;
        const expected =
          kind === "header"
            ? { ...decoded, ...(version < 3 && { version: 3 }) }
            : upcastEntry(decoded, context(version));
        const migrated = JSON.parse(migrate(line, version, kind)) as JsonObject;
        expect(JSON.stringify(migrated)).toBe(JSON.stringify(expected));
        expect(migrated).toEqual(expected);
      }),
      { numRuns: 3_000 },
    );
  });

  it("only inserts when there is nothing to replace", () => {
    const plain = fc
      .array(fc.tuple(fc.string({ minLength: 21, maxLength: 25 }), value))
      .map((pairs) => pairs.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(" , "));
    fc.assert(
      fc.property(plain, (members) => {
        const comma = members === "" ? "" : ",";
        expect(migrate(`{${members} }\r`, 1)).toBe(`{${members} ${comma}${links}}\r`);
      }),
    );
  });
});

describe("migrateLine of unusual lines", () => {
  it.each([
    [""],
    ["  \r\n"],
    ["[1]"],
    ["5"],
    ['"{}"'],
    ["{"],
    ['{"a"'],
    ['{"a":'],
    ['{"a":1'],
    ['{"a":1,'],
    ['{"a":"\\'],
    ['{"a":{"b":1'],
    ['{"a":1}{"b":2}'],
    ['{"a":1 2}'],
    ['{"a":1,,"b":2}'],
    ["{a:1}"],
    ['{"\\u00":1}'],
    ['{"type":"message","message":{"ro'],
  ])("returns the bad line %j unchanged", (line) => {
    const bytes = Buffer.from(line);
    for (const kind of ["entry", "header"] as const) {
      expect(migrateLine(bytes, context(1, kind))).toBe(bytes);
    }
  });

  it("steps over a million levels without recursion", () => {
    const deep = `${'{"a":['.repeat(500_000)}${"]}".repeat(500_000)}`;
    expect(migrate(`{"deep":${deep}}`, 1)).toBe(`{"deep":${deep},${links}}`);
  });

  it("keeps bytes that are not UTF-8", () => {
    const bytes = Buffer.from('{"a":"?"}');
    bytes[6] = 0xff;
    expect(migrateLine(bytes, context(1)).subarray(0, 8)).toEqual(bytes.subarray(0, 8));
  });
});

const relink = (line: string, to: NewLinks): string => relinkLine(Buffer.from(line), to).toString();

describe("relinkLine", () => {
  it.each([
    ['{"id":"a","parentId":null,"n":1.50}', '{"id":"a","parentId":"b","n":1.50}'],
    ['{"id":"a","parentId":"old"}\r', '{"id":"a","parentId":"b"}\r'],
    [' {"parentId" : "old" , "x":"\\u0061"} ', ' {"parentId" : "b" , "x":"\\u0061"} '],
    ['{"x":{"parentId":"inner"},"parentId":"old"}', '{"x":{"parentId":"inner"},"parentId":"b"}'],
    ['{"parentId":1,"parentId":2}', '{"parentId":1,"parentId":"b"}'],
    ['{"id":"a"}', '{"id":"a","parentId":"b"}'],
    ["[]", "[]"],
  ])("inserts the parent into %s", (line, expected) => {
    expect(relink(line, { parentId: "b" })).toBe(expected);
  });

  it("makes an entry a root, and moves a boundary", () => {
    const line = '{"parentId":"a","firstKeptEntryId":"b","tokensBefore":1e3}';
    expect(relink(line, { parentId: null, firstKeptEntryId: 'ç"' })).toBe(
      '{"parentId":null,"firstKeptEntryId":"ç\\"","tokensBefore":1e3}',
    );
  });

  it("returns the same buffer when nothing changes", () => {
    const line = Buffer.from('{"parentId":"a"}');
    expect(relinkLine(line, {})).toBe(line);
  });

  it("changes only the links in the parsed value, in the same order of keys", () => {
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
