/** The envelope reader: what it trusts, what it reads there, and what it leaves to the parser. */
import { describe, expect, it } from "vitest";
import { EnvelopeReader } from "@branchlog/streaming";
import { countingBuffer } from "./support/counting-buffer.ts";
import { readEnvelope, readLongEnvelope } from "./support/read-envelope.ts";
import { lineOf, otherForms, writtenForms } from "./support/session-lines.ts";

const id = "a1b2c3d4";
const parentId = "0f0e0d0c";
const timestamp = "2026-11-21T20:28:20.131Z";
const core = { id, parentId, timestamp };
const text = (record: object) => lineOf(record).toString();

describe("the forms that the agents write", () => {
  it.each([
    ["user", { type: "message", role: "user", form: "head", endsWithObject: true }],
    ["assistant", { type: "message", role: "assistant", form: "head", endsWithObject: true }],
    ["root", { type: "message", role: "user", parentId: null }],
    ["modelChange", { type: "model_change", form: "head", endsWithObject: false }],
    ["label", { type: "label", form: "head" }],
    ["bare", { type: "mark", form: "head" }],
    ["usage", { type: "usage", form: "head", endsWithObject: true }],
    ["custom", { type: "custom", customType: "todo", form: "tail", hasPayload: true }],
    ["customNoData", { type: "custom", customType: "todo", form: "tail", hasPayload: false }],
    ["customText", { type: "custom", customType: "todo", form: "tail", hasPayload: true }],
    ["customMessage", { type: "custom_message", customType: "note", form: "tail" }],
    ["customMessageDetails", { type: "custom_message", customType: "note", hasPayload: true }],
    ["migratedMessage", { type: "message", role: "toolResult", form: "tail", hasPayload: true }],
    ["migratedBare", { type: "mark", form: "tail", parentId: null, hasPayload: false }],
  ])("%s is read without parsing", (name, expected) => {
    const line = lineOf(writtenForms[name]);
    expect(readEnvelope(line)).toMatchObject({ id, parentId, timestamp, ...expected });
    const returned = Buffer.concat([line, Buffer.from("\r")]);
    expect(readEnvelope(returned)).toEqual(readEnvelope(line));
  });

  it("ids may be of any length", () => {
    for (const other of ["", "x", "0196f3a2-7c5e-7d4a-b1c2-3d4e5f607182", "y".repeat(300)]) {
      const record = { type: "label", ...core, id: other, parentId: other, targetId: "z" };
      expect(readEnvelope(lineOf(record))).toMatchObject({ id: other, parentId: other });
    }
  });

  it("custom records may have the head form, with customType right after the timestamp", () => {
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
    ["a torn line", user.slice(0, -1)],
    ["text after the record", `${user} `],
    ["white space in front", ` ${user}`],
    ["white space inside", user.replace(",", ", ")],
    ["a byte-order mark", `\ufeff${user}`],
    ["a NUL", user.replace("hi", "h\0i")],
    ["parentId twice", user.replace('"hi"', '{"parentId":1}')],
    ["an escape in the id", user.replace(id, String.raw`a\u0031b2c3d4`)],
    ["an escaped quote in the id", user.replace(id, String.raw`a\"b`)],
    ["a non-ASCII id", user.replace(id, "é1b2c3d4")],
    ["a non-ASCII parentId", user.replace(parentId, "漢")],
    ["a non-ASCII role", user.replace("user", "usér")],
    ["a control character in the id", user.replace(id, "a\tb")],
    ["a number as parentId", user.replace(`"${parentId}"`, "12")],
    ["a number as timestamp", user.replace(`"${timestamp}"`, "12")],
    ["keys in another order", text({ id, type: "message", parentId, timestamp, message: {} })],
    ["a message without role first", user.replace('"role":"user",', '"x":1,"role":"user",')],
    ["a message without message", text({ type: "message", ...core })],
    ["a message before its timestamp", user.replace(`,"timestamp":"${timestamp}"`, "")],
    ["a message with more keys behind", `${user.slice(0, -1)},"more":1}`],
    ["a record closed after its timestamp", text({ type: "mark", ...core }).concat('{"a":1}')],
    ["custom without customType in the head form", text({ type: "custom", ...core, data: 1 })],
    ["custom without customType in the tail form", text({ type: "custom", data: 1, ...core })],
    ["custom with content", text({ type: "custom", customType: "t", content: 1, ...core })],
    ["custom with data twice", custom.replace('"a":1', '"data":1')],
    ["custom with customType twice", custom.replace('"a":1', '"customType":1')],
    ["custom with keys behind", `${custom.slice(0, -1)},"more":1}`],
    [
      "custom that ends in a string of its own",
      text({ type: "custom", customType: "t", data: 1, x: "y", ...core }),
    ],
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
  it("the envelope reader reads only the line, with any bytes around it", () => {
    const lines = Object.values({ ...writtenForms, ...otherForms }).map(lineOf);
    const chunk = Buffer.concat(lines.flatMap((line) => [line, Buffer.from("\n")]));
    const reader = new EnvelopeReader();
    let start = 0;
    for (const line of lines) {
      expect(readEnvelope(chunk, start, start + line.length, reader)).toEqual(readEnvelope(line));
      start += line.length + 1;
    }
  });
});

describe("work", () => {
  it.each(["custom", "customMessage", "migratedMessage", "user", "bare", "customNoData"])(
    "searches a chunk of %s lines for each needle about once",
    (name) => {
      const line = `${text(writtenForms[name] ?? {})}\n`;
      const { buffer, looked } = countingBuffer(line.repeat(1000));
      const reader = new EnvelopeReader();
      for (let start = 0; start < buffer.length; start += line.length) {
        expect(reader.read(buffer, start, start + line.length - 1)).toBe(true);
      }
      // At most four needles for a line: parentId, NUL, customType, the key of the payload.
      expect(looked()).toBeLessThanOrEqual(5 * buffer.length);
    },
  );

  it("the envelope reader searches a chunk for rare needles once, not once per line", () => {
    // Every second line is searched for a second "data": and there is none.
    const lines = [text(writtenForms["user"] ?? {}), text(writtenForms["customNoData"] ?? {})];
    const first = text(writtenForms["custom"] ?? {});
    const { buffer, looked } = countingBuffer(`${first}\n${`${lines.join("\n")}\n`.repeat(500)}`);
    const reader = new EnvelopeReader();
    let start = 0;
    for (const line of buffer.toString().trimEnd().split("\n")) {
      expect(reader.read(buffer, start, start + line.length)).toBe(true);
      start += line.length + 1;
    }
    expect(looked()).toBeLessThanOrEqual(5 * buffer.length);
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
  ])("%s is read from its two ends as from the whole", (_, record) => {
    const whole = readEnvelope(lineOf(record));
    expect(whole).toMatchObject({ id, parentId, timestamp });
    expect(readLongEnvelope(lineOf(record))).toEqual(whole);
    const returned = Buffer.concat([lineOf(record), Buffer.from("\r")]);
    expect(readLongEnvelope(returned)).toEqual(whole);
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
