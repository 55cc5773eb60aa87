/** Secrets in JSON of any shape, encodings of known ones, and redactions that fail. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { wrapped } from "../../support/secret-kinds.ts";
import { isBranchlogError } from "@branchlog/core";
import { Redactor } from "../../../packages/tools/src/redaction/redactor.ts";
import { plantedSecrets, secretsIn } from "../../support/planted-secrets.ts";
import { cpuMs } from "../../support/cpu-time.ts";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Both passes. */
function redacted(...lines: readonly string[]): string[] {
  const redactor = new Redactor("session.jsonl");
  for (const line of lines) redactor.json(line);
  redactor.endLearning();
  return lines.map((line) => redactor.json(line));
}

/** The shape of a value: kinds of values, names that no secret is in, numbers. */
function shapeOf(value: unknown): unknown {
  if (typeof value === "string") return "text";
  if (Array.isArray(value)) return value.map((item: unknown) => shapeOf(item));
  if (typeof value !== "object" || value === null) return value;
  return Object.entries(value).map(([, item]) => shapeOf(item));
}

const planted = plantedSecrets(500);

/** Objects whose strings and keys have secrets in them, at random places. */
const withSecrets = fc.letrec<{ value: unknown; object: unknown }>((tie) => {
  const texts = fc.oneof(
    { weight: 3, arbitrary: fc.string({ unit: "grapheme", maxLength: 12 }) },
    { weight: 1, arbitrary: fc.constantFrom(...planted).map(({ text }) => text) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.string({ maxLength: 8 }), fc.constantFrom(...planted))
        .map(([before, { text }]) => `${before} ${text}`),
    },
  );
  const keys = fc.oneof(
    { weight: 4, arbitrary: fc.string({ maxLength: 6 }).filter((key) => key !== "type") },
    { weight: 1, arbitrary: fc.constantFrom(...planted.map(({ text }) => text)) },
    { weight: 1, arbitrary: fc.constantFrom("password", "token", "__proto__", "id") },
  );
  const leaves = fc.oneof(texts, fc.integer(), fc.boolean(), fc.constant(null));
  return {
    value: fc.oneof({ depthSize: "small" }, leaves, tie("object"), fc.array(tie("value"))),
    object: fc.array(fc.tuple(keys, tie("value")), { maxLength: 5 }).map((members) => {
      return Object.fromEntries(members);
    }),
  };
}).object;

describe("the law of redaction", () => {
  it("removes every planted secret from any JSON, and nothing else", () => {
    const secrets = planted.flatMap(({ secrets: own }) => own);
    fc.assert(
      fc.property(withSecrets, fc.constantFrom(undefined, 1), (value, indent) => {
        const line = JSON.stringify(value, null, indent);
        const [clean = ""] = redacted(line);
        const text = JSON.stringify(JSON.parse(clean));
        expect(secretsIn(clean, secrets)).toEqual([]);
        expect(secretsIn(text, secrets)).toEqual([]);
        // A number is a secret only if its name is secret.
        const unnamed = (shape: string): string =>
          /"(?:password|token)"/.test(line) ? shape.replaceAll(/-?\d+|"text"/g, "") : shape;
        const shapes = [line, clean].map((json) => JSON.stringify(shapeOf(JSON.parse(json))));
        expect(unnamed(shapes[1] ?? "")).toBe(unnamed(shapes[0] ?? ""));
        if (secretsIn(line, secrets).length === 0 && !/"(?:password|token)"/.test(line)) {
          expect(clean).toBe(line);
        }
      }),
    );
  });

  it("changes nothing in redacted data", () => {
    fc.assert(
      fc.property(withSecrets, (value) => {
        const once = redacted(JSON.stringify(value));
        expect(redacted(...once)).toEqual(once);
      }),
    );
  });
});

describe("a redactor", () => {
  const secret = "q7-w8e9r0-tyui";

  it.each([
    ["as it is", secret],
    ["in base64", Buffer.from(secret).toString("base64")],
    ["within base64", Buffer.from(`me:${secret}!`).toString("base64")],
    ["in base64 for URLs", Buffer.from(`???${secret}???`).toString("base64url")],
    ["in upper-case hexadecimal", Buffer.from(secret).toString("hex").toUpperCase()],
    ["in base64 over lines", wrapped(Buffer.from(`me:${secret}!`).toString("base64"), 5)],
    ["in hexadecimal", Buffer.from(secret).toString("hex")],
    ["in JSON in a string", JSON.stringify({ a: [secret] })],
  ])("replaces a known secret %s, in another entry before it", (_how, text) => {
    const [first = ""] = redacted(JSON.stringify({ text }), `{"password":"${secret}"}`);
    expect(secretsIn(first, [secret])).toEqual([]);
    expect(first).toContain("[redacted: secret-value 1]");
  });

  it("replaces a known secret in percent-encoding of lower case", () => {
    const [first = ""] = redacted('{"a":"x%2fy%3dz%2b1234"}', '{"password":"x/y=z+1234"}');
    expect(first).toBe('{"a":"[redacted: secret-value 1]"}');
  });

  it.each([5, 8, 64, 76])("replaces a known secret in base64 over lines of %d", (width) => {
    const long = `${secret}-${"Ab3".repeat(40)}`;
    const lines = wrapped(Buffer.from(`user:${long}`).toString("base64"), width);
    const text = JSON.stringify({ text: `auth:\n  ${lines.replaceAll("\n", "\n  ")}\n` });
    const [first = ""] = redacted(text, JSON.stringify({ password: long }));
    expect(secretsIn(first, [long])).toEqual([]);
    expect(first).toContain("[redacted: secret-value 1]");
  });

  it("gives a secret known from an encoding the same marker in plain text", () => {
    const settings = Buffer.from(`{"user":"me","password":"${secret}"}`).toString("base64");
    const url = `postgres%3A%2F%2Fme%3A${secret}%40db%2Fshop`;
    const texts = [`it was ${secret}`, `send ${settings} now`, url];
    const lines = redacted(...texts.map((text) => JSON.stringify({ text })));
    expect(lines.map((line) => line.replaceAll("[redacted: secret-value 1]", "#"))).toEqual([
      '{"text":"it was #"}',
      '{"text":"send # now"}',
      '{"text":"postgres%3A%2F%2Fme%3A#%40db%2Fshop"}',
    ]);
  });

  it("replaces the start of a known secret before an ellipsis, but no start of all keys", () => {
    const github = `ghp_${"06A7b9Xq".repeat(5)}`;
    const text = "(a='ghp_06A7b9Xq...') ghp_06A7b9… ghp_06A7 ghp_06A7b9Xq";
    const [first] = redacted(JSON.stringify({ text }), JSON.stringify({ text: github }));
    const marker = "[redacted: github-token 1]";
    const clean = `(a='${marker}...') ${marker}… ghp_06A7 ghp_06A7b9Xq`;
    expect(first).toBe(JSON.stringify({ text: clean }));
    const key = `sk-ant-api03-${"aB3dE6gH9".repeat(10)}`;
    const line = '{"text":"sk-ant-api03-..."}';
    expect(redacted(line, JSON.stringify({ text: key }))[0]).toBe(line);
  });

  it.each([
    "QWJj".repeat(100_000) + "\n",
    "QWJj\n".repeat(50_000),
    "ghp_06A7".repeat(50_000),
    "\\\n".repeat(100_000),
  ])("takes no longer to search a hostile text for a known secret (case %#)", (text) => {
    const redactor = new Redactor("session.jsonl", () => []);
    redactor.json('{"password":"ghp_06A7ghp_06A7b9Xq"}');
    redactor.endLearning();
    const start = cpuMs();
    redactor.text(text);
    expect(cpuMs() - start).toBeLessThan(3_000);
  });

  it("replaces each string below a member with a secret's name", () => {
    const line =
      '{"apiKey":{"value":"zzzz1111yyyy","type":"x","list":[{"a":"one"},"two"]},' +
      '"token":{"type":"string","description":"of the reader"},"b":"three"}';
    expect(redacted(line)).toEqual([
      '{"apiKey":{"value":"[redacted: secret-value 1]","type":"x",' +
        '"list":[{"a":"[redacted: secret-value 2]"},"[redacted: secret-value 3]"]},' +
        '"token":{"type":"string","description":"of the reader"},"b":"three"}',
    ]);
  });

  it("finds secrets hidden by escapes or a repeated key", () => {
    const token = `ghp_${"aB3dE6gH9".repeat(4)}`;
    const escaped = Array.from(token, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
    expect(redacted(`{"a":"${escaped.join("")}"}`)).toEqual(['{"a":"[redacted: github-token 1]"}']);
    expect(redacted(`{"a":"${token}","a":"x"}`)).toEqual([
      '{"a":"[redacted: github-token 1]","a":"x"}',
    ]);
  });

  it("keeps numbers, order and spaces, and replaces numbers with a secret's name", () => {
    const line =
      '{ "b": 12345678901234567890,\t"a": 1.0e2, "pin_password": 1234, "total_tokens": 5 }';
    expect(redacted(line)).toEqual([line.replace("1234,", '"[redacted: secret-value 1]",')]);
  });

  it.each([
    ["words", ["mysql", "--password", "letmein"]],
    ["members", { name: "API_TOKEN", value: "letmein" }],
  ])("finds a secret whose name is in another string of the same %s", (_of, value) => {
    const [clean = ""] = redacted(JSON.stringify({ type: "x", arguments: value }));
    expect(clean).toContain('"[redacted: secret-value 1]"');
    expect(clean).not.toContain("letmein");
  });

  it("omits values with the type of an image or a document, and keeps texts", () => {
    const data = "c2VjcmV0";
    const media = [
      { type: "image", data, mimeType: "image/png" },
      { type: "document", source: { type: "base64", media_type: "application/pdf", data } },
      { uri: "x", mimeType: "audio/wav", blob: data },
    ];
    const kept = { uri: "x", mimeType: "text/plain", text: "hello" };
    const [clean = ""] = redacted(JSON.stringify({ content: [...media, kept] }));
    const note = { type: "text", text: "[redacted: image]" };
    expect(JSON.parse(clean)).toEqual({ content: [note, note, note, kept] });
  });

  it("replaces text after a marker in a secret member", () => {
    for (const name of ["password", "MYSQL_PW"]) {
      const line = `{"${name}":"[redacted: x 1] and more"}`;
      expect(redacted(line)).toEqual([`{"${name}":"[redacted: secret-value 1]"}`]);
    }
  });

  it("does not replace a common word everywhere because it was a password", () => {
    expect(redacted('{"password":"postgres"}', '{"a":"postgres"}')[1]).toBe('{"a":"postgres"}');
  });

  it("keeps the kind of an entry whose members are named like secrets", () => {
    const line = '{"type":"x","id":"1","tokens":{"type":"a","role":"b"},"secret":["one","two"]}';
    expect(redacted(line)).toEqual([
      '{"type":"x","id":"1","tokens":{"type":"a","role":"b"},' +
        '"secret":["[redacted: secret-value 1]","[redacted: secret-value 2]"]}',
    ]);
  });

  it.each([
    ["the search throws", '{"id":"e1","a":"x"}', "searching it failed"],
    ["an entry is an image", '{"id":"e1","mimeType":"image/png","data":"x"}', "it is an image"],
    ["the line is cut", '{"id":"e1","a":"ghp_', "a line is not JSON"],
  ])("fails without a quote when %s", (_when, line, reason) => {
    const redactor = new Redactor("session.jsonl", (text) => {
      if (text.includes('"a"')) throw new Error(`at ${text}`);
      return [];
    });
    let failure: unknown;
    try {
      redactor.json(line);
    } catch (error) {
      failure = error;
    }
    expect(isBranchlogError(failure, "ERR_REDACTION_FAILED")).toBe(true);
    expect(String(failure)).toContain(reason);
    expect(String(failure)).not.toContain("ghp_");
    expect(failure).not.toHaveProperty("cause");
    if (line.endsWith("}")) expect(failure).toMatchObject({ id: "e1" });
  });
});

const file = join(process.env["BRANCHLOG_CORPUS"] ?? "", "large-session.jsonl");

it.runIf(existsSync(file))("redaction replaces nothing in a large real session", () => {
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  const redactor = new Redactor(file);
  for (const line of lines) redactor.json(line);
  redactor.endLearning();
  expect(lines.map((line) => redactor.json(line))).toEqual(lines);
  expect(redactor.report()).toEqual({ secrets: 0, replaced: {}, entries: 0, images: 0 });
});
