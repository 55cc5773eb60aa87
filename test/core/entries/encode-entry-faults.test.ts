/** Drafts that cannot be written: one error with its cause, whatever the caller's code does. */
import { describe, expect, it } from "vitest";
import { BranchlogError } from "@branchlog/core";
import type { EntryDraft } from "@branchlog/core";
import {
  encodeDraft,
  encodeHeader,
  spliceDraft,
} from "../../../packages/core/src/entries/encode-entry.ts";

const time = "2026-01-02T03:04:05.678Z";

function errorOf(run: () => unknown): BranchlogError {
  try {
    run();
  } catch (error) {
    if (error instanceof BranchlogError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

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

  it("fields and types that cannot even be read", () => {
    const field = Object.defineProperty({ type: "label" }, "targetId", {
      enumerable: true,
      get: () => {
        throw boom;
      },
    });
    expect(errorOf(() => encode(field))).toMatchObject({ code: "ERR_UNSERIALIZABLE", cause: boom });
    expect(errorOf(() => encode(revoked())).code).toBe("ERR_UNSERIALIZABLE");
  });

  it("a process in which every object is written as text", () => {
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
    "a message that is no object: %s",
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

  it("a timestamp or ids that are no strings", () => {
    const draft: EntryDraft = { type: "label", targetId: "t" };
    const encoded = encodeDraft(draft, time);
    // @ts-expect-error a caller without types
    expect(errorOf(() => encodeDraft(draft, undefined)).code).toBe("ERR_INVALID_ARGUMENT");
    // @ts-expect-error a caller without types
    expect(errorOf(() => spliceDraft(encoded, undefined, null)).code).toBe("ERR_INVALID_ARGUMENT");
    // @ts-expect-error a caller without types
    expect(errorOf(() => spliceDraft(encoded, "a", undefined)).code).toBe("ERR_INVALID_ARGUMENT");
  });

  it("but takes envelope fields that are undefined", () => {
    // @ts-expect-error a caller without exact optional types
    const draft: EntryDraft = { type: "x", id: undefined, a: 1 };
    expect(spliceDraft(encodeDraft(draft, time), "i", null).toString()).toBe(
      `{"type":"x","id":"i","parentId":null,"timestamp":"${time}","a":1}\n`,
    );
  });
});

describe("encodeHeader", () => {
  const header = { type: "session", id: "s", timestamp: time, cwd: "/a" } as const;

  it("writes pi's keys in pi's order, then unknown ones", () => {
    const odd = { metadata: { a: 1 }, parentSession: "/p.jsonl", version: 3, ...header };
    expect(encodeHeader(odd).toString()).toBe(
      `{"type":"session","version":3,"id":"s","timestamp":"${time}","cwd":"/a",` +
        `"parentSession":"/p.jsonl","metadata":{"a":1}}\n`,
    );
    expect(encodeHeader({ ...header, version: 3, parentSession: undefined }).toString()).toBe(
      `{"type":"session","version":3,"id":"s","timestamp":"${time}","cwd":"/a"}\n`,
    );
  });

  it("rejects what no reader would take for a header, and what is not JSON", () => {
    // @ts-expect-error a caller without types
    expect(errorOf(() => encodeHeader({ ...header, type: "x" })).code).toBe("ERR_INVALID_ARGUMENT");
    // @ts-expect-error a caller without types
    expect(errorOf(() => encodeHeader({ ...header, id: 5 })).code).toBe("ERR_INVALID_ARGUMENT");
    const odd = { ...header, metadata: 1n };
    expect(errorOf(() => encodeHeader(odd)).code).toBe("ERR_UNSERIALIZABLE");
  });
});
