/** The scan of records: what it trusts, what it reads there, and what it leaves to the parser. */
import { describe, expect, it } from "vitest";
import { scanLines } from "@branchlog/streaming";
import { readEnvelope, readEnvelopes, readLongEnvelope } from "./support/read-envelope.ts";
import { lineOf, otherForms, writtenForms } from "./support/session-lines.ts";

const id = "a1b2c3d4";
const parentId = "0f0e0d0c";
const timestamp = "2026-11-21T20:28:20.131Z";
const core = { id, parentId, timestamp };
const text = (record: object) => lineOf(record).toString();

describe("the forms that the agents write", () => {
  it("ids can have any length", () => {
    for (const other of ["x", "0196f3a2-7c5e-7d4a-b1c2-3d4e5f607182", "y".repeat(300)]) {
      const record = { type: "label", ...core, id: other, parentId: other, targetId: "z" };
      expect(readEnvelope(lineOf(record))).toMatchObject({ id: other, parentId: other });
    }
  });

  it("custom records can have the head form, with customType directly after the timestamp", () => {
    const head = { type: "custom", ...core, customType: "todo", data: 1 };
    expect(readEnvelope(lineOf(head))).toMatchObject({ form: "head", customType: "todo" });
    const last = { type: "custom", ...core, customType: "todo" };
    expect(readEnvelope(lineOf(last))).toMatchObject({ form: "head", customType: "todo" });
  });
});

describe("lines for the parser", () => {
  const user = text({ type: "message", ...core, message: { role: "user", content: "hi" } });
  const custom = text({ type: "custom", customType: "todo", data: { a: 1 }, ...core });

  it.each([
    ["nothing", ""],
    ["white space", "  "],
    ["a lone brace", "}"],
    ["a header", text(otherForms["header"] ?? {})],
    ["a line without parentId", text(otherForms["v1Message"] ?? {})],
    ["a title slot", text(otherForms["title"] ?? {})],
    ["white space in front", ` ${user}`],
    ["white space inside", user.replace(",", ", ")],
    ["a byte-order mark", `\ufeff${user}`],
    ["an escaped quote in the id", user.replace(id, String.raw`a\"b`)],
    ["a non-ASCII parentId", user.replace(parentId, "漢")],
    ["a non-ASCII role", user.replace("user", "usér")],
    ["a number as parentId", user.replace(`"${parentId}"`, "12")],
    ["a number as timestamp", user.replace(`"${timestamp}"`, "12")],
    ["keys in another order", text({ id, type: "message", parentId, timestamp, message: {} })],
    ["a message without role first", user.replace('"role":"user",', '"x":1,"role":"user",')],
    ["a message without message", text({ type: "message", ...core })],
    ["a message before its timestamp", user.replace(`,"timestamp":"${timestamp}"`, "")],
    ["a message with more keys behind", `${user.slice(0, -1)},"more":1}`],
    ["custom without customType in the head form", text({ type: "custom", ...core, data: 1 })],
    ["custom without customType in the tail form", text({ type: "custom", data: 1, ...core })],
    ["custom with content", text({ type: "custom", customType: "t", content: 1, ...core })],
    ["custom with data twice", custom.replace('"a":1', '"data":1')],
    ["custom with customType twice", custom.replace('"a":1', '"customType":1')],
    ["custom with keys behind", `${custom.slice(0, -1)},"more":1}`],
    ["another type in the tail form", text({ type: "mark", data: 1, ...core })],
    ["migrated, but no message", text(writtenForms["migratedThinking"] ?? {})],
    [
      "migrated, message twice",
      text({
        type: "message",
        timestamp,
        message: { role: "user", details: { message: 1 } },
        id,
        parentId,
      }),
    ],
    [
      "migrated, keys between",
      text({ type: "message", timestamp, message: { role: "user" }, x: 1, id, parentId }),
    ],
  ])("%s", (_, line) => {
    expect(readEnvelope(Buffer.from(line))).toBeNull();
  });
});

describe("lines in chunks", () => {
  const lines = Object.values({ ...writtenForms, ...otherForms }).map(lineOf);
  const chunk = Buffer.concat(lines.flatMap((line) => [line, Buffer.from("\n")])).subarray(0, -1);

  it("have their positions, also blank ones, in batches of any size", () => {
    const count = 10_000;
    const bytes = Buffer.from("\n{}\n\r\n".repeat(count));
    const places: (readonly [number, number])[] = [];
    scanLines(bytes, 0, bytes.length - 1, (rows) => {
      for (let row = 0; row < rows.count; row += 1) {
        places.push([(rows.start[row] ?? 0) + rows.shift, rows.length[row] ?? 0]);
      }
    });
    expect(places).toHaveLength(3 * count);
    expect(places.slice(-3)).toEqual([
      [6 * (count - 1), 0],
      [6 * (count - 1) + 1, 2],
      [6 * (count - 1) + 4, 1],
    ]);
  });

  it("can be scanned during other scans, and are then left to the parser", () => {
    const [user = Buffer.alloc(0)] = lines;
    let inner: unknown;
    scanLines(user, 0, user.length, (rows) => {
      inner = readEnvelopes(chunk);
      expect(rows.kinds[rows.kind[0] ?? -1]?.role).toBe("user");
    });
    expect(inner).toEqual(lines.map(() => null));
    expect(readEnvelopes(chunk)).toEqual(lines.map((line) => readEnvelope(line)));
  });

  it("that are longer than one scan are left to the parser", () => {
    const content = "x".repeat(17 * 1024 * 1024);
    const line = lineOf({ type: "message", ...core, message: { role: "user", content } });
    expect(readEnvelope(line)).toBeNull();
    const [user = Buffer.alloc(0)] = lines;
    const both = Buffer.concat([user, Buffer.from("\n"), line]);
    expect(readEnvelopes(both)).toEqual([null, null]);
  });

  it("with more kinds than the limit have correct ones, or are left to the parser", () => {
    const types = Array.from({ length: 2000 }, (_, n) => `kind-${n}`);
    const records = types.map((type) => JSON.stringify({ type, ...core })).join("\n");
    const found = readEnvelopes(Buffer.from(records));
    const trusted = found.filter((envelope) => envelope !== null).length;
    expect(trusted).toBeGreaterThan(100);
    expect(found.map((envelope, n) => envelope?.type ?? types[n])).toEqual(types);
    for (const type of types.slice(-300)) {
      expect(readEnvelope(lineOf({ type, ...core }))).toMatchObject({ type, id });
    }
    const long = "k".repeat(1000);
    expect(readEnvelope(lineOf({ type: long, ...core }))).toBeNull();
  });
});

describe("flat records", () => {
  it.each([
    ["nothing more", {}, true],
    ["one text", { thinkingLevel: "high" }, true],
    ["texts", { targetId: "x", label: "y" }, true],
    ["a number", { thinkingLevel: 1 }, false],
    ["null", { thinkingLevel: null }, false],
    ["an object at the end", { a: "b", c: {} }, false],
    ["an escape", { label: 'a"b' }, false],
    ["other than ASCII", { label: "é" }, false],
  ])("are known to be JSON: %s", (_, fields, isFlat) => {
    expect(readEnvelope(lineOf({ type: "mark", ...core, ...fields }))).toMatchObject({ isFlat });
  });

  it.each(["type", "id", "timestamp"])("are not flat with a second %s", (key) => {
    const line = text({ type: "mark", ...core, x: "y" }).replace('"x"', `"${key}"`);
    expect(readEnvelope(Buffer.from(line))).toMatchObject({ type: "mark", isFlat: false });
  });

  it("are neither messages nor extension records", () => {
    const found = ["user", "custom", "customMessage", "migratedBare"].map((name) =>
      readEnvelope(lineOf(writtenForms[name])),
    );
    expect(found.map((envelope) => envelope?.isFlat)).toEqual([false, false, false, false]);
  });
});

describe("long lines", () => {
  const filler = "x".repeat(20_000);

  it.each([
    ["message", { type: "message", ...core, message: { role: "user", content: filler } }],
    ["label", { type: "label", ...core, targetId: "x", label: filler }],
    ["custom", { type: "custom", customType: "todo", data: { x: filler }, ...core }],
    ["custom head", { type: "custom", ...core, customType: "todo", data: { x: filler } }],
    [
      "content",
      { type: "custom_message", customType: "t", content: filler, display: true, ...core },
    ],
    [
      "migrated",
      { type: "message", timestamp, message: { role: "user", x: filler }, id, parentId },
    ],
  ])("%s is read from its two ends like from the whole", (_, record) => {
    const whole = readEnvelope(lineOf(record));
    expect(whole).toMatchObject({ id, parentId, timestamp });
    const returned = Buffer.concat([lineOf(record), Buffer.from("\r")]);
    for (const line of [lineOf(record), returned]) {
      // Its middle was not seen.
      expect(readLongEnvelope(line)).toEqual({ ...whole, isFlat: false });
    }
  });

  it("a long line is not trusted when a string outside the edges ends before the id", () => {
    const record = { type: "custom", customType: "todo", data: filler, ...core };
    expect(readLongEnvelope(lineOf(record))).toBeNull();
  });

  it.each([
    ["a NUL", (line: string) => line.replace("xxx", "x\0x")],
    ["parentId twice", (line: string) => line.replace("xxx", '","parentId":"')],
    ["a message key twice", (line: string) => line.replace("xxx", '","message":"')],
    ["torn", (line: string) => line.slice(0, -1)],
    ["no opening", (line: string) => line.slice(1)],
    ["a type longer than the edge", (line: string) => line.replace("message", filler)],
    ["an id longer than the edge", (line: string) => line.replace(id, filler)],
  ])("is left to the tokens: %s", (_, change) => {
    const record = {
      type: "message",
      timestamp,
      message: { role: "user", x: filler },
      id,
      parentId,
    };
    expect(readLongEnvelope(Buffer.from(change(text(record))))).toBeNull();
  });
});
