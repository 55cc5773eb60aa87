/** The bytes of every entry type, against JSON.stringify of pi's objects; and what has none. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AnyDraft } from "@branchlog/core/entries";
import {
  encodeDraft,
  spliceDraft,
  encodeHeader,
} from "../../../packages/core/src/entries/encode-entry.ts";
import { thrownBy, typedError } from "../../support/typed-errors.ts";
import { anyDraft, piObject } from "./drafts.ts";
import { BranchlogError } from "@branchlog/core";
import type { EntryDraft } from "@branchlog/core";

const time = "2026-01-02T03:04:05.678Z";
const head = (type: string): string =>
  `{"type":"${type}","id":"0a1b2c3d","parentId":"ffffffff","timestamp":"${time}"`;
const tail = `"id":"0a1b2c3d","parentId":"ffffffff","timestamp":"${time}"}\n`;
const line = (draft: AnyDraft): string =>
  spliceDraft(encodeDraft(draft, time), "0a1b2c3d", "ffffffff").toString();

describe("encodeDraft and spliceDraft, by example", () => {
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

  it("have the type, and the role of a message as written", () => {
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

  it("write the result of toJSON of a value, but not of the draft itself", () => {
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

  it("have exactly the bytes of JSON.stringify for pi's object", () => {
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

  it("allow more than one splice of an encoded draft", () => {
    const encoded = encodeDraft({ type: "label", targetId: "t" }, time);
    expect(spliceDraft(encoded, "a", null)).toEqual(spliceDraft(encoded, "a", null));
    expect(spliceDraft(encoded, "b", "a").toString()).toContain('"id":"b","parentId":"a"');
  });

  it("run no code of the caller after encoding, and ignore later changes", () => {
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

const errorOf = (run: () => unknown): BranchlogError => typedError(thrownBy(run));
const encode = (draft: unknown): unknown => encodeDraft(draft as EntryDraft, time);
const thrower = (thrown: unknown): object => ({
  toJSON(): never {
    throw thrown;
  },
});

function nested(depth: number): unknown {
  let value: unknown = 0;
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { value };
  return value;
}

function cycle(): object {
  const data: { self?: object } = {};
  data.self = data;
  return data;
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

describe("encodeDraft rejects with ERR_UNSERIALIZABLE", () => {
  const boom = new Error("boom");
  const closed = new BranchlogError("ERR_CLOSED", "the log is closed");

  it.each([
    ["a cycle", cycle(), TypeError],
    ["a BigInt", { n: 1n }, TypeError],
    ["nesting that overflows the stack", nested(20_000), RangeError],
    ["a revoked proxy", revoked(), TypeError],
  ])("%s, whose cause it names", (_, data, kind) => {
    const error = errorOf(() => encode({ type: "custom", customType: "c", data }));
    expect(error.code).toBe("ERR_UNSERIALIZABLE");
    expect(error.cause).toBeInstanceOf(kind);
  });

  it.each([
    ["an error", boom],
    ["an error of our own with another code", closed],
    ["a string", "text"],
    ["nothing", undefined],
    ["a proxy that cannot be asked anything", revoked()],
    [
      "a message that throws",
      Object.defineProperty(new Error(), "message", { get: () => cycle() }),
    ],
  ])("a toJSON that throws %s", (_, thrown) => {
    const error = errorOf(() => encode({ type: "custom", customType: "c", data: thrower(thrown) }));
    expect(error.code).toBe("ERR_UNSERIALIZABLE");
    expect(error.cause === thrown).toBe(true);
  });

  it("fields and types that cannot be read", () => {
    const field = Object.defineProperty({ type: "label" }, "targetId", {
      enumerable: true,
      get: () => {
        throw boom;
      },
    });
    expect(errorOf(() => encode(field))).toMatchObject({ code: "ERR_UNSERIALIZABLE", cause: boom });
    expect(errorOf(() => encode(revoked())).code).toBe("ERR_UNSERIALIZABLE");
  });

  it("a process in which every object serializes to a string", () => {
    const polluted = { value: () => "text", configurable: true };
    Reflect.defineProperty(Object.prototype, "toJSON", polluted);
    try {
      const error = errorOf(() => encode({ type: "label", targetId: "t" }));
      expect(error.code).toBe("ERR_UNSERIALIZABLE");
    } finally {
      Reflect.deleteProperty(Object.prototype, "toJSON");
    }
  });

  it.each([[null], [undefined], ["text"], [5], [[]], [() => 0], [{ toJSON: () => null }]])(
    "a message that is not an object: %s",
    (message) => {
      expect(errorOf(() => encode({ type: "message", message })).code).toBe("ERR_UNSERIALIZABLE");
    },
  );
});

describe("encodeDraft rejects with ERR_INVALID_ARGUMENT", () => {
  it.each([
    [null],
    ["message"],
    [{}],
    [{ type: "" }],
    [{ type: 5 }],
    [{ type: "session", id: "x" }],
    [{ type: "label", targetId: "t", id: "mine" }],
    [{ type: "unknown", parentId: null }],
    [{ type: "unknown", timestamp: "now" }],
  ])("the draft %j", (draft) => {
    expect(errorOf(() => encode(draft)).code).toBe("ERR_INVALID_ARGUMENT");
  });

  it("a timestamp or ids that are not strings", () => {
    const draft: EntryDraft = { type: "label", targetId: "t" };
    const encoded = encodeDraft(draft, time);
    // @ts-expect-error a caller without types
    expect(errorOf(() => encodeDraft(draft, undefined)).code).toBe("ERR_INVALID_ARGUMENT");
    // @ts-expect-error a caller without types
    expect(errorOf(() => spliceDraft(encoded, undefined, null)).code).toBe("ERR_INVALID_ARGUMENT");
    // @ts-expect-error a caller without types
    expect(errorOf(() => spliceDraft(encoded, "a", undefined)).code).toBe("ERR_INVALID_ARGUMENT");
  });

  it("but accepts envelope fields that are undefined", () => {
    // @ts-expect-error a caller without exact optional types
    const draft: EntryDraft = { type: "x", id: undefined, a: 1 };
    expect(spliceDraft(encodeDraft(draft, time), "i", null).toString()).toBe(
      `{"type":"x","id":"i","parentId":null,"timestamp":"${time}","a":1}\n`,
    );
  });
});

describe("encodeHeader", () => {
  const header = { type: "session", id: "s", timestamp: time, cwd: "/a" } as const;

  it("rejects values that are not a readable header, or not JSON", () => {
    // @ts-expect-error a caller without types
    expect(errorOf(() => encodeHeader({ ...header, type: "x" })).code).toBe("ERR_INVALID_ARGUMENT");
    // @ts-expect-error a caller without types
    expect(errorOf(() => encodeHeader({ ...header, id: 5 })).code).toBe("ERR_INVALID_ARGUMENT");
    const odd = { ...header, metadata: 1n };
    expect(errorOf(() => encodeHeader(odd)).code).toBe("ERR_UNSERIALIZABLE");
  });
});
