/**
 * Whatever encodes a secret, no reader of an export decodes it: as laws, and as the table of kinds
 * and forms of docs/redaction.md.
 */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Redactor } from "../../../packages/tools/src/redaction/redactor.ts";
import {
  base64,
  base64Url,
  jsonEscaped,
  percentEncoded,
  secretForms,
  secretKinds,
  secretsRead,
  shellEscaped,
  shellQuoted,
  wrapped,
} from "../../support/secret-kinds.ts";
import type { SecretForm, SecretKind } from "../../support/secret-kinds.ts";
import { runs } from "../../support/fault-seed.ts";
import { readDocument } from "../../tidy/documents.ts";

function redacted(text: string): string {
  const line = JSON.stringify({ id: "1", text });
  const redactor = new Redactor("session.jsonl");
  redactor.json(line);
  redactor.endLearning();
  return redactor.json(line);
}

function asEntities(text: string): string {
  const entities = [
    ["&", "&amp;"],
    ['"', "&quot;"],
    ["'", "&#39;"],
    ["<", "&lt;"],
  ] as const;
  return entities.reduce((coded, [mark, entity]) => coded.replaceAll(mark, entity), text);
}

function inDiff(text: string): string {
  return `@@ -1 +1,9 @@\n-old\n${text.replaceAll(/^/gm, "+")}\n`;
}

const encodings = fc.constantFrom(
  jsonEscaped,
  (text: string) => JSON.stringify([{ text }], null, 2),
  percentEncoded,
  (text: string) => percentEncoded(text).replaceAll(/%../g, (code) => code.toLowerCase()),
  base64,
  base64Url,
  (text: string) => `Basic: ${wrapped(base64(`some more, before\n${text}`), 76)}`,
  shellEscaped,
  shellQuoted,
  asEntities,
  inDiff,
);

const words = fc.constantFrom("see", "it", "a = b;", "x", "", "\n", "100 %", "C:\\x", "+", "- y");

const surroundings = fc.array(fc.oneof(words, fc.string({ maxLength: 8 })), { maxLength: 4 });

/** What is around an encoded text on its own lines. */
const frames = fc.constantFrom<(text: string) => string>(
  (text) => text,
  (text) => `see ${text}.`,
  (text) => `("${text}")`,
  (text) => `<a title='${text}'>`,
  (text) => `{"data":"${text}"}`,
  (text) => `data:text/plain;base64,${text}`,
  (text) => `x-value: ${text}; b=c`,
  (text) => `run(a, b=${text}, c)`,
);

const nested = fc.record({
  kind: fc.constantFrom(...secretKinds),
  number: fc.nat({ max: 10_000 }),
  chain: fc.array(encodings, { maxLength: 2 }),
  frame: frames,
  before: surroundings,
  behind: surroundings,
});

describe("the law of encodings", () => {
  it("leaves no secret of any kind in any nesting of two encodings", () => {
    fc.assert(
      fc.property(nested, ({ kind, number, chain, frame, before, behind }) => {
        const { text, secrets } = kind.sample(number);
        const encoded = chain.reduce((inner, encode) => encode(inner), text);
        const session = `${before.join(" ")}\n${frame(encoded)}\n${behind.join(" ")}`;
        const once = redacted(session);
        expect(secretsRead(once, secrets)).toEqual([]);
        const value: unknown = JSON.parse(once);
        expect(value).toMatchObject({ id: "1", text: expect.any(String) as unknown });
        const again = redacted(String(Reflect.get(Object(value), "text")));
        expect(again).toBe(once);
      }),
    );
  });

  it("changes no text without secrets, in any encoding", () => {
    const texts = fc.oneof(words, fc.string({ unit: "grapheme" }), fc.lorem(), fc.uuid());
    fc.assert(
      fc.property(fc.array(texts), fc.array(encodings, { maxLength: 2 }), (parts, chain) => {
        const encoded = chain.reduce((inner, encode) => encode(inner), parts.join(" "));
        expect(redacted(encoded)).toBe(JSON.stringify({ id: "1", text: encoded }));
      }),
    );
  });
});

const samples = Array.from({ length: runs(3, 12) }, (_, number) => number);

function isMissed({ sample }: SecretKind, { textsOf }: SecretForm): boolean {
  return samples.some((number) => {
    const secret = sample(number);
    return textsOf(secret).some(
      (text) => secretsRead(redacted(`Before.\n${text}\nBehind.`), secret.secrets).length > 0,
    );
  });
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

describe("the table of kinds and forms", () => {
  it("lists for each kind the forms in which redaction finds it", () => {
    const rows = secretKinds.map((kind) => {
      const cells = secretForms.map((form) => (isMissed(kind, form) ? "no" : "yes"));
      return row([kind.name, ...cells]);
    });
    const head = [row(["kind", ...secretForms.map(({ name }) => name)]), "|---".repeat(9) + "|"];
    const table = [...head, ...rows].join("\n");
    expect(readDocument("docs/redaction.md").text).toContain(`\n${table}\n`);
  });

  it("is made from texts in which a reader finds the secrets that are not redacted", () => {
    for (const { sample } of secretKinds) {
      const secret = sample(1);
      for (const { textsOf } of secretForms) {
        for (const text of textsOf(secret)) {
          expect(secretsRead(JSON.stringify({ text }), secret.secrets, 3)).not.toEqual([]);
        }
      }
    }
  });
});
