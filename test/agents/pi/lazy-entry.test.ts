/** Entries whose bodies load when they are read: nothing distinguishes them from plain objects. */
import { deepStrictEqual } from "node:assert";
import { isDeepStrictEqual } from "node:util";
import { appendFileSync, readFileSync, statSync, truncateSync } from "node:fs";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeCounter } from "@branchlog/streaming";
import { SessionManager } from "@branchlog/agents/pi";
import { temporaryFile } from "../../support/temporary-directory.ts";

const header =
  '{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}';
const time = '"timestamp":"2026-01-31T23:59:59.999Z"';
const message = `{"type":"message","id":"0000000a","parentId":null,${time},"message":{"role":"user","content":"hi","timestamp":1}}`;
const custom = `{"type":"custom","customType":"x","data":{"n":[1,2]},"id":"0000000b","parentId":"0000000a",${time}}`;

const open = (...lines: string[]): SessionManager =>
  SessionManager.open(temporaryFile(`${[header, ...lines].join("\n")}\n`));

describe.each([
  ["a message", message],
  ["an entry of an extension", custom],
])("%s, handed out lazily", (_what, line) => {
  const plain: unknown = JSON.parse(line);
  const lazy = (): object => open(line).getEntries()[0] ?? {};

  it("has the keys of the line in order, all of them own and enumerable", () => {
    const entry = lazy();
    expect(Object.keys(entry)).toEqual(Object.keys(plain as object));
    expect(Reflect.ownKeys(entry)).toEqual(Object.keys(plain as object));
    const seen: string[] = [];
    for (const key in entry) seen.push(key);
    expect(seen).toEqual(Object.keys(plain as object));
    expect("data" in entry || "message" in entry).toBe(true);
  });

  it("has the prototype of plain objects", () => {
    expect(Object.getPrototypeOf(lazy())).toBe(Object.prototype);
    expect(lazy().constructor).toBe(Object);
    expect(Object.prototype.toString.call(lazy())).toBe("[object Object]");
  });

  it("is equal to the plain object, in every way to compare and to copy", () => {
    expect(lazy()).toEqual(plain);
    expect(lazy()).toStrictEqual(plain);
    deepStrictEqual(lazy(), plain);
    expect(isDeepStrictEqual(plain, lazy())).toBe(true);
    expect(JSON.stringify(lazy())).toBe(line);
    expect({ ...lazy() }).toStrictEqual(plain);
    expect(structuredClone(lazy())).toStrictEqual(plain);
    expect(Object.entries(lazy())).toEqual(Object.entries(plain as object));
    expect(Object.assign({}, lazy())).toStrictEqual(plain);
  });

  it("is parsed once before it is handed out, and again only when its body is read", () => {
    // An entry without children would have been parsed when the file was opened.
    const { id: parent } = plain as { id: string };
    const child = message.replace("0000000a", "0000000c").replace("null", `"${parent}"`);
    const manager = open(line, child);
    const opened = decodeCounter.parses;
    manager.getEntries();
    expect(decodeCounter.parses).toBe(opened + 1);
    const before = decodeCounter.parses;
    const entries = manager.getEntries();
    expect(
      entries.map(({ type, id, parentId, timestamp }) => [type, id, parentId, timestamp]),
    ).toHaveLength(2);
    expect(decodeCounter.parses).toBe(before);
    expect(JSON.stringify(entries[0])).toBe(line);
    expect(decodeCounter.parses).toBe(before + 1);
  });

  it("cannot be assigned to: the log does not change", () => {
    const entry = lazy();
    expect(() => Object.assign(entry, { timestamp: "now" })).toThrow(TypeError);
    expect(JSON.stringify(entry)).toBe(line);
  });
});

describe("lines without pi's key order", () => {
  it.each([
    ["another timestamp", message.replace("31T23:59:59.999Z", "31T23:59:59.999+00:00")],
    ["a timestamp without a time", message.replace("2026-01-31T23:59:59.999Z", "yesterday")],
    ["a day that does not exist", message.replace("01-31", "02-31")],
    ["an empty parentId", message.replace("null", '""')],
    [
      "another order",
      `{"id":"0000000a","type":"message","parentId":null,${time},"message":{"role":"user"}}`,
    ],
    ["a field behind the message", message.replace(/\}$/u, ',"x":1}')],
    ["no data", `{"type":"custom","customType":"x","id":"0000000b","parentId":null,${time}}`],
    [
      "head form",
      `{"type":"custom","id":"0000000b","parentId":null,${time},"customType":"x","data":{}}`,
    ],
    [
      "a migrated message",
      `{"type":"message",${time},"message":{"role":"user"},"id":"0000000a","parentId":null}`,
    ],
    ["an unknown type", `{"type":"leaf","id":"0000000a","parentId":null,${time},"targetId":{}}`],
    ["an id that is not hex", message.replace("0000000a", "Entry 1")],
  ])("keep %s", (_what, line) => {
    const [entry] = open(line).getEntries();
    expect(JSON.stringify(entry)).toBe(line);
    expect(Object.keys(entry ?? {})).toEqual(Object.keys(JSON.parse(line) as object));
  });

  it("show an object after the message once the body was read", () => {
    const line = message.replace(/\}$/u, ',"meta":{"a":1}}');
    const manager = open(line);
    const [entry] = manager.getEntries();
    expect(entry).toHaveProperty("message.content", "hi");
    expect(JSON.stringify(manager.getEntries()[0])).toBe(line);
  });
});

describe("a lazy body", () => {
  it("that is damaged is not handed out, but reported (Verifies: P10)", () => {
    const broken = message.replace('"content":"hi"', '"content":"hi');
    const child = message.replace("null", '"0000000a"').replace("0000000a", "0000000d");
    const manager = open(broken, child);
    const [first, ...others] = manager.getEntries();
    expect(first).toHaveProperty("message.role", "user");
    expect(others).toEqual([]);
    expect(manager.getDiagnostics()).toMatchObject([
      { kind: "damaged-entry", id: "0000000a", line: 2 },
    ]);
    expect(manager.getEntries()).toHaveLength(1);
  });

  it("that is damaged restores the entry that it hid, in the first answer", () => {
    const again = message.replace('"content":"hi"', '"content":"hi');
    const below = message.replace("null", '"0000000a"').replace("0000000a", "0000000d");
    const manager = open(message, again, below);
    expect(manager.getBranch().map(({ id }) => id)).toEqual(["0000000a", "0000000d"]);
    const [tree] = open(message, again, below).getTree();
    expect(tree).toMatchObject({ entry: { message: { content: "hi" } }, children: [{}] });
  });

  it("that is damaged is in no answer of many entries, whichever is asked for first", () => {
    const broken = message.replace('"content":"hi"', '"content":"hi').replace("null", '"0000000b"');
    const below = message.replace("null", '"0000000a"').replace("0000000a", "0000000d");
    const root = custom.replace('"parentId":"0000000a"', '"parentId":null');
    const rows = [root, broken, below];
    const ids = (entries: readonly { readonly id: string }[]): string[] =>
      entries.map(({ id }) => id);
    expect(ids(open(...rows).getEntries())).toEqual(["0000000b", "0000000d"]);
    expect(ids(open(...rows).getBranch())).toEqual(["0000000b", "0000000d"]);
    expect(ids(open(...rows).getChildren("0000000b"))).toEqual(["0000000d"]);
    expect(ids(open(...rows).buildContextEntries())).toEqual(["0000000b", "0000000d"]);
    expect(JSON.stringify(open(...rows).getTree())).not.toContain('"id":"0000000a"');
  });

  it("is still there after a migration rewrote the file", () => {
    const v2 = header.replace('"version":3', '"version":2');
    const hook = message.replace("0000000a", "0000000e").replace('"user"', '"hookMessage"');
    const path = temporaryFile(`${[v2, message, hook, custom].join("\n")}\n`);
    const manager = SessionManager.open(path);
    const entries = manager.getEntries();
    manager.appendCustomEntry("first append");
    expect(readFileSync(path, "utf8")).toContain('"version":3');
    expect(entries[0]).toEqual(JSON.parse(message));
    expect(entries[1]).toHaveProperty("message.role", "custom");
    expect(entries[2]).toEqual(JSON.parse(custom));
  });

  it("is found by id after another program rewrote the file", () => {
    const path = temporaryFile(`${[header, message, custom].join("\n")}\n`);
    const manager = SessionManager.open(path);
    const entries = manager.getEntries();
    truncateSync(path);
    appendFileSync(path, `${[header, custom, message].join("\n")}\n`);
    expect(statSync(path).size).toBeGreaterThan(0);
    manager.appendCustomEntry("notices");
    expect(entries[0]).toEqual(JSON.parse(message));
    expect(entries[1]).toEqual(JSON.parse(custom));
  });
});

it("any time is returned as stored", () => {
  const instant = fc.date({
    min: new Date(0),
    max: new Date("9999-12-31T23:59:59.999Z"),
    noInvalidDate: true,
  });
  const digits = fc.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/u);
  const stamps = fc.array(
    fc.oneof(
      instant.map((date) => date.toISOString()),
      digits,
    ),
    { minLength: 1, maxLength: 50 },
  );
  fc.assert(
    fc.property(stamps, (times) => {
      const lines = times.map((stamp) => message.replace("2026-01-31T23:59:59.999Z", stamp));
      const manager = open(...lines);
      expect(manager.getEntries().map(({ timestamp }) => timestamp)).toEqual(times);
    }),
    { numRuns: 30 },
  );
});
