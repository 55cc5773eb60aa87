/** The bytes of every entry type, against literal lines and JSON.stringify of pi's objects. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AnyDraft, KnownDraft } from "@branchlog/core/entries";
import {
  encodeDraft,
  entryFromDraft,
  spliceDraft,
} from "../../../packages/core/src/entries/encode-entry.ts";
import { anyDraft, piObject, usage } from "./drafts.ts";

const time = "2026-01-02T03:04:05.678Z";
const head = (type: string): string =>
  `{"type":"${type}","id":"0a1b2c3d","parentId":"ffffffff","timestamp":"${time}"`;
const tail = `"id":"0a1b2c3d","parentId":"ffffffff","timestamp":"${time}"}\n`;
const usageText = JSON.stringify(usage);
const line = (draft: AnyDraft): string =>
  spliceDraft(encodeDraft(draft, time), "0a1b2c3d", "ffffffff").toString();

const examples: readonly (readonly [KnownDraft, string])[] = [
  [
    { type: "message", message: { role: "user", content: "Grüße\u2028\n", timestamp: 7 } },
    `${head("message")},"message":{"role":"user","content":"Grüße\u2028\\n","timestamp":7}}\n`,
  ],
  [
    { type: "thinking_level_change", thinkingLevel: "high" },
    `${head("thinking_level_change")},"thinkingLevel":"high"}\n`,
  ],
  [
    { type: "model_change", modelId: "m", provider: "p" },
    `${head("model_change")},"provider":"p","modelId":"m"}\n`,
  ],
  [
    {
      type: "compaction",
      systemMessage: { role: "system", content: "s", timestamp: 1 },
      fromHook: true,
      usage,
      details: { readFiles: [] },
      tokensBefore: 9,
      firstKeptEntryId: "k",
      summary: "S",
    },
    `${head("compaction")},"summary":"S","firstKeptEntryId":"k","tokensBefore":9,` +
      `"details":{"readFiles":[]},"usage":${usageText},"fromHook":true,` +
      `"systemMessage":{"role":"system","content":"s","timestamp":1}}\n`,
  ],
  [
    { type: "compaction", summary: "S", firstKeptEntryId: null, tokensBefore: 9 },
    `${head("compaction")},"summary":"S","firstKeptEntryId":"0a1b2c3d","tokensBefore":9}\n`,
  ],
  [
    { type: "branch_summary", summary: "S", fromId: "root", fromHook: false, usage, details: 0 },
    `${head("branch_summary")},"fromId":"root","summary":"S","details":0,"usage":${usageText},` +
      `"fromHook":false}\n`,
  ],
  [
    { type: "custom", data: { id: "x", parentId: null }, customType: "c" },
    `{"type":"custom","customType":"c","data":{"id":"x","parentId":null},${tail}`,
  ],
  [{ type: "custom", customType: "c" }, `{"type":"custom","customType":"c",${tail}`],
  [
    { type: "custom_message", customType: "c", content: "t", display: false, details: [1] },
    `{"type":"custom_message","customType":"c","content":"t","display":false,"details":[1],${tail}`,
  ],
  [
    { type: "label", targetId: "t", label: "here" },
    `${head("label")},"targetId":"t","label":"here"}\n`,
  ],
  [{ type: "label", targetId: "t", label: undefined }, `${head("label")},"targetId":"t"}\n`],
  [{ type: "session_info", name: "" }, `${head("session_info")},"name":""}\n`],
  [
    { type: "usage", kind: "cache_warming", provider: "p", model: "m", usage, note: "n" },
    `${head("usage")},"kind":"cache_warming","provider":"p","model":"m","usage":${usageText},` +
      `"note":"n"}\n`,
  ],
  [
    { type: "context_edit", targetId: "t", replacement: null },
    `${head("context_edit")},"targetId":"t","replacement":null}\n`,
  ],
  [
    { type: "context_edit", targetId: "t", replacement: { content: "c" } },
    `${head("context_edit")},"targetId":"t","replacement":{"content":"c"}}\n`,
  ],
];

describe("encodeDraft and spliceDraft, by example", () => {
  it.each(examples)("write %j in pi's key order", (draft, expected) => {
    expect(line(draft)).toBe(expected);
  });

  it("write null for the parent of a root", () => {
    const encoded = encodeDraft({ type: "session_info", name: "n" }, time);
    expect(spliceDraft(encoded, "i", null).toString()).toBe(
      `{"type":"session_info","id":"i","parentId":null,"timestamp":"${time}","name":"n"}\n`,
    );
  });

  it("keep unknown types and fields, after the known ones, in their order", () => {
    expect(line({ type: "active_tools_change", tools: ["a"], z: 1, a: undefined })).toBe(
      `${head("active_tools_change")},"tools":["a"],"z":1}\n`,
    );
    expect(line({ type: "label", retained: 1, targetId: "t" })).toBe(
      `${head("label")},"targetId":"t","retained":1}\n`,
    );
    expect(line({ type: "custom", extra: 1, customType: "c" })).toBe(
      `{"type":"custom","customType":"c","extra":1,${tail}`,
    );
    expect(line({ type: "bare" })).toBe(`${head("bare")}}\n`);
  });

  it("escape ids that a caller supplied", () => {
    const id = 'a"\\\n\ud800\u00e9';
    const encoded = encodeDraft(
      { type: "compaction", summary: "", firstKeptEntryId: null, tokensBefore: 0 },
      time,
    );
    const written = spliceDraft(encoded, id, id);
    const stored: unknown = JSON.parse(written.toString());
    expect(stored).toMatchObject({ id, parentId: id, firstKeptEntryId: id });
    expect(written.indexOf("\n")).toBe(written.length - 1);
  });

  it("say the type, and the role of a message as it is written", () => {
    const role = (message: unknown): string | undefined =>
      encodeDraft({ type: "message", message }, time).role;
    expect(role({ role: "user", content: "" })).toBe("user");
    expect(role({ content: "", role: "user" })).toBe("user");
    expect(role({ role: 'od"d', content: "" })).toBe('od"d');
    expect(role({ content: "" })).toBeUndefined();
    expect(role({ role: 5 })).toBeUndefined();
    expect(role({ role: "before", toJSON: () => ({ role: "written" }) })).toBe("written");
    expect(encodeDraft({ type: "custom", customType: "c", role: "user" }, time)).toMatchObject({
      type: "custom",
      role: undefined,
      timestamp: time,
      ownIdAt: -1,
    });
  });

  it("treat __proto__ as a key like any other", () => {
    const text = '{"type":"x","__proto__":{"a":1},"v":{"__proto__":2}}';
    const draft = JSON.parse(text) as AnyDraft;
    expect(line(draft)).toBe(`${head("x")},"__proto__":{"a":1},"v":{"__proto__":2}}\n`);
    expect(line({ type: "toString", constructor: 1, hasOwnProperty: 2 })).toBe(
      `${head("toString")},"constructor":1,"hasOwnProperty":2}\n`,
    );
  });

  it("write what toJSON of a value returns, and not ask the draft itself for it", () => {
    expect(line({ type: "custom", customType: "c", data: new Date(0) })).toContain(
      '"data":"1970-01-01T00:00:00.000Z"',
    );
    expect(line({ type: "x", a: 1, toJSON: () => "nothing" })).toBe(`${head("x")},"a":1}\n`);
    expect(line({ type: "x", toJSON: 5 })).toBe(`${head("x")},"toJSON":5}\n`);
  });
});

describe("encodeDraft and spliceDraft, by law", () => {
  const id = fc.string({ unit: "binary", minLength: 1 });
  const parent = fc.option(fc.string({ unit: "binary" }));

  it("give exactly the bytes of JSON.stringify for pi's object", () => {
    fc.assert(
      fc.property(anyDraft, id, parent, (draft, ownId, parentId) => {
        const expected = JSON.stringify(piObject(draft, ownId, parentId, time));
        const written = spliceDraft(encodeDraft(draft, time), ownId, parentId);
        // Integer-like keys of unknown types move to the front in an object, but not in our line.
        const foreign = Object.keys(draft).some((key) => /^\d/.test(key));
        const text = written.toString("utf8", 0, written.length - 1);
        expect(foreign ? JSON.stringify(JSON.parse(text)) : text).toBe(expected);
        expect(written.indexOf(0x0a)).toBe(written.length - 1);
      }),
      { numRuns: 1_000 },
    );
  });

  it("read back as the entry of the draft", () => {
    fc.assert(
      fc.property(anyDraft, id, parent, (draft, ownId, parentId) => {
        const written = spliceDraft(encodeDraft(draft, time), ownId, parentId).toString();
        expect(JSON.parse(written)).toEqual(entryFromDraft(draft, ownId, parentId, time));
      }),
    );
  });

  it("leave an encoded draft usable for more than one splice", () => {
    const encoded = encodeDraft({ type: "label", targetId: "t" }, time);
    expect(spliceDraft(encoded, "a", null)).toEqual(spliceDraft(encoded, "a", null));
    expect(spliceDraft(encoded, "b", "a").toString()).toContain('"id":"b","parentId":"a"');
  });

  it("run no code of the caller after encoding, and take no later change", () => {
    let calls = 0;
    const data = { toJSON: () => ({ calls: (calls += 1) }) };
    const message = { role: "user" as const, content: "first", timestamp: 0 };
    const encoded = encodeDraft({ type: "custom", customType: "c", data }, time);
    const stored = encodeDraft({ type: "message", message }, time);
    message.content = "second";
    spliceDraft(encoded, "a", null);
    expect(calls).toBe(1);
    expect(spliceDraft(stored, "a", null).toString()).toContain("first");
  });
});

describe("entryFromDraft", () => {
  it("is a snapshot that shares nothing with the draft", () => {
    const content = [{ type: "text" as const, text: "t" }];
    const draft: AnyDraft = { type: "message", message: { role: "user", content, timestamp: 0 } };
    const entry = entryFromDraft(draft, "a", null, time);
    expect(entry).toEqual({ ...draft, id: "a", parentId: null, timestamp: time });
    expect(Object.keys(entry)).toEqual(["type", "id", "parentId", "timestamp", "message"]);
    content.pop();
    expect(
      entry.type === "message" && entry.message.role === "user" && entry.message.content,
    ).toHaveLength(1);
  });
});
