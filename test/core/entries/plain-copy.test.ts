/** Copies of what is appended: they say what the line says, or there is none. */
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSession, openSession } from "@branchlog/core";
import { SessionManager } from "@branchlog/agents/pi";
import { plainObjectCopy } from "../../../packages/core/src/entries/plain-copy.ts";
import { join } from "node:path";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

/** Anything, plain or not: numbers that JSON changes, holes, dates, keys like `__proto__`. */
const anything = fc.object({
  withDate: true,
  withMap: true,
  withNullPrototype: true,
  withSparseArray: true,
  key: fc.oneof(fc.string(), fc.constantFrom("__proto__", "toJSON", "1", "0", "constructor")),
  values: [
    fc.string({ unit: "binary" }),
    fc.double(),
    fc.boolean(),
    fc.constantFrom<unknown>(null, undefined, -0, Number.NaN, 1e21, () => 1, Symbol("s")),
  ],
});

describe("a copy", () => {
  it("equals the JSON round trip of the value, in the same order, or is missing", () => {
    let copied = 0;
    fc.assert(
      fc.property(anything, (value) => {
        const copy = plainObjectCopy(value);
        if (copy === undefined) return;
        copied += 1;
        const written = JSON.stringify(value);
        expect(JSON.stringify(copy)).toBe(written);
        // Not `toStrictEqual`, which takes a key named `constructor` for the class of its object.
        expect(isDeepStrictEqual(copy, JSON.parse(written))).toBe(true);
      }),
      { numRuns: 1_000 },
    );
    expect(copied).toBeGreaterThan(10);
  });

  it("is made of any parsed JSON", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const parsed = JSON.parse(JSON.stringify(value)) as object;
        const hasNone = JSON.stringify(parsed).includes('"__proto__"') || "toJSON" in parsed;
        if (!hasNone) expect(isDeepStrictEqual(plainObjectCopy(parsed), parsed)).toBe(true);
      }),
    );
  });

  it("runs getters once, and no toJSON", () => {
    const calls: string[] = [];
    const getter = Object.defineProperty({}, "a", { enumerable: true, get: () => calls.push("a") });
    expect(plainObjectCopy({ getter })).toEqual({ getter: { a: 1 } });
    class Own {
      readonly a = 1;
      toJSON(): unknown {
        return calls.push("toJSON");
      }
    }
    for (const value of [new Own(), { toJSON: () => calls.push("own") }]) {
      expect(plainObjectCopy({ value })).toBeUndefined();
    }
    expect(calls).toEqual(["a"]);
  });

  it("is not made of endlessly nested values", () => {
    const circle: Record<string, unknown> = {};
    circle["self"] = circle;
    expect(plainObjectCopy(circle)).toBeUndefined();
  });
});

describe("an appended entry", () => {
  it("is read as stored, whatever happens to its draft", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anything, { minLength: 1, maxLength: 4 }), async (values) => {
        const path = join(temporaryDirectory(), "s.jsonl");
        const session = await createSession(path, { cwd: "/w" });
        for (const data of values) {
          const draft = { type: "custom", customType: "x", data } as const;
          await session.append(draft).catch(() => undefined);
          for (const key of Object.keys(data)) delete data[key];
        }
        const fresh = await openSession(path);
        const texts = async (of: typeof session): Promise<string[]> => {
          const found: string[] = [];
          for await (const entry of of.entries()) found.push(JSON.stringify(entry));
          return found;
        };
        expect(await texts(session)).toEqual(await texts(fresh));
      }),
      { numRuns: 60 },
    );
  });

  it("is read as written when a getter returns a different value each time", async () => {
    const path = join(temporaryDirectory(), "s.jsonl");
    const session = await createSession(path, { cwd: "/w" });
    let reads = 0;
    const get = (): number => (reads += 1);
    const data = Object.defineProperty({ first: 0 }, "n", { enumerable: true, get });
    const { id } = await session.append({ type: "custom", customType: "x", data });
    const fresh = await openSession(path);
    expect(await session.entry(id)).toEqual(await fresh.entry(id));
    expect(await fresh.entry(id)).toMatchObject({ data: { first: 0, n: 1 } });
    await Promise.all([session.close(), fresh.close()]);
  });

  it("is in the context without being read back", () => {
    const directory = temporaryDirectory();
    const manager = SessionManager.create(directory, directory);
    const content = [{ type: "text" as const, text: "as it was" }];
    for (let n = 0; n < 3; n += 1) manager.appendMessage({ role: "user", content, timestamp: n });
    content[0] = { type: "text", text: "changed" };
    const { messages } = manager.buildSessionContext();
    expect(messages).toHaveLength(3);
    for (const message of messages) {
      expect(message).toMatchObject({ content: [{ text: "as it was" }] });
    }
  });
});
