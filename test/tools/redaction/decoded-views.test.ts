/** What a text encodes, where that is in the text, and how much of it is searched. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { base64Views } from "../../../packages/tools/src/redaction/base64-views.ts";
import { decodedViews } from "../../../packages/tools/src/redaction/decoded-views.ts";
import type { DecodedView } from "../../../packages/tools/src/redaction/decoded-views.ts";
import { findSecrets } from "../../../packages/tools/src/redaction/secret-rules.ts";

function* viewsOf(text: string): Generator<DecodedView, void, undefined> {
  yield* decodedViews(text);
  yield* base64Views(text, () => true);
}

const characters = "aB3dE6gH9kLmNoPqaB3dE6gH9kLmNoPqaB3d";

const token = ["ghp", characters].join("_");

const base64 = Buffer.from(`{"user":"me","token":"${token}"}`).toString("base64");

describe("the decoded views of a text", () => {
  it.each([
    ["percent-encoding", "a\nx%3A%2f%41y\nb", "x:/Ay"],
    ["escapes", String.raw`say \"a\nb\" \u0041\x42\/\\n`, 'say "a\nb" AB/\\n'],
    ["a shell's escapes and continued lines", "a\\;\\ b\\\nc", "a; bc"],
    ["entities", "&quot;a&quot; &#39;&#x41;&amp;lt;", '"a" \'A&lt;'],
    ["colours", "a\u001B[1;31mb\u001B[0m \\u001b[0mc", "ab c"],
    ["the parts of a shell's word", `a'b'"c"`, "a'bc\""],
    ["texts that a program joins", `"ab" +\n  "cd"`, `"abcd"`],
    ["lines of 64 columns", `${"a".repeat(64)}\nbc`, `${"a".repeat(64)}bc`],
    ["lines of 76 columns", `${"a".repeat(76)}\r\nbc`, `${"a".repeat(76)}bc`],
    ["soft line ends", `${"a".repeat(75)}=\nbc`, `${"a".repeat(75)}bc`],
    ["the new lines of a diff", "@@ -1,2 +1,2 @@\n a\n-b\n+c", "a\nc"],
    ["the old lines of a diff", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n d", "a\nb\nd"],
    ["added lines", "x\n+a\n+b\ny", "a\nb"],
    ["base64", `see ${base64}.`, Buffer.from(base64, "base64").toString()],
    ["base64 behind a path", `a/bc/${base64}`, Buffer.from(base64, "base64").toString()],
    [
      "base64 over lines",
      base64.replaceAll(/.{20}/g, "$&\n"),
      Buffer.from(base64, "base64").toString(),
    ],
  ])("have %s decoded", (_name, text, decoded) => {
    expect(Array.from(viewsOf(text), (view) => view.text).join("\n\n")).toContain(decoded);
  });

  it("are absent when a text encodes nothing", () => {
    const text = "A line; 5 % of them.\n\tAnother: packages/core/src/redaction/decoded-views.ts\n";
    expect([...viewsOf(text)]).toEqual([]);
  });

  it("map each character to its position in the text", () => {
    const units = fc.constantFrom("a", "b", "\n", "%41", "\\n", '\\"', "&lt;", "%", "\\", "+", "x");
    fc.assert(
      fc.property(fc.array(units, { maxLength: 60 }), (parts) => {
        const text = parts.join("");
        for (const view of decodedViews(text)) {
          let last = 0;
          for (const [at, character] of view.text.split("").entries()) {
            const [start, end] = view.rangeOf(at, at + 1);
            expect(start).toBeGreaterThanOrEqual(last);
            if (end - start === 1) expect(text.slice(start, end)).toBe(character);
            last = end;
          }
          expect(last).toBeLessThanOrEqual(text.length);
        }
      }),
    );
  });
});

/** The characters of all views, and of theirs. */
function decodedUnits(text: string, decodings = 2): number {
  if (decodings === 0) return 0;
  let units = 0;
  for (const view of viewsOf(text)) {
    units += view.text.length + decodedUnits(view.text, decodings - 1);
  }
  return units;
}

describe("the work for a hostile text", () => {
  it.each([
    "%41",
    "%25",
    "\\\\",
    "\\n",
    "&amp;",
    "a''",
    `a"+"`,
    "QWJj",
    "QWJj\n",
    `${"QWJj".repeat(19)}\n`,
    `${"a".repeat(63)}\n`,
    "+a\n",
    "a\\\n\n\n",
    `${"a".repeat(64)}\nb\nc\n`,
    "@@ -1 +1 @@\n+a\n-b\n",
    "%5C%41\\n&lt;QWJjQWJjQWJjQWJj\n",
    "\u001B[0m",
    `${Buffer.from("%41\\n".repeat(5)).toString("base64")}/`,
  ])("grows linearly when it repeats %j", (part) => {
    const [short, long] = [2_000, 8_000].map((times) => decodedUnits(part.repeat(times)));
    expect(long).toBeLessThanOrEqual(4.1 * (short ?? 0) + 1_000);
    expect(long).toBeLessThan(20 * 8_000 * part.length);
  });

  it("is bounded in memory: no view is longer than a window", () => {
    const text = `%41${"x".repeat(3 * 1024 * 1024)}%41`;
    const seen: number[] = [];
    expect(findSecrets(`${text}\nA_TOKEN%3D${token}\n${text}`)[0]?.kind).toBe("github-token");
    for (const view of decodedViews(text.slice(0, 1024 * 1024))) seen.push(view.text.length);
    expect(Math.max(...seen)).toBeLessThanOrEqual(1024 * 1024);
  });
});

describe("findSecrets", () => {
  it.each([
    ["percent-encoded", `postgres%3A%2F%2Fu%3Aaa11bb22%40h`, "aa11bb22"],
    ["in base64 only", base64, base64],
    ["in base64 in JSON in base64", Buffer.from(`"${base64}"`).toString("base64"), undefined],
    ["percent-encoded twice", encodeURIComponent("a%3A//b%3Aaa11bb22%40h"), "aa11bb22"],
    ["continued by a backslash", `say ghp_${"aB3d\\\n".repeat(9)}.`, `ghp_${"aB3d\\\n".repeat(9)}`],
  ])("finds a secret %s, at its position", (_how, text, found) => {
    const finds = findSecrets(text);
    expect(finds.map(({ start, end }) => text.slice(start, end))).toContain(
      found?.replace(/\\\n$/, "") ?? text,
    );
  });

  it("replaces only the base64 lines that contain the secret", () => {
    const [first = "", ...more] = base64.replaceAll(/.{20}/g, "$&\n").split("\n");
    const before = Buffer.from("some other words ".repeat(3)).toString("base64").slice(0, 20);
    const text = [before, first, ...more, "word"].join("\n");
    const [find] = findSecrets(text);
    const { start = 0, end = 0 } = find ?? {};
    expect(text.slice(0, start)).toMatch(new RegExp(`^${before}\n`));
    expect(text.slice(end)).toMatch(/^[\w=]{0,20}\nword$/);
  });

  it("finds nothing in encodings of texts without secrets", () => {
    const texts = ["export function a(b: string): string", "the password is not here", "a=b&c=d"];
    for (const text of texts) {
      const encoded = Buffer.from(text.repeat(3)).toString("base64");
      expect(findSecrets(`${encoded} ${encodeURIComponent(text)} ${JSON.stringify(text)}`)).toEqual(
        [],
      );
    }
  });
});
