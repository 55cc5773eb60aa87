/** Exports of one path as Markdown. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { exportMarkdown, markdownPieces } from "@branchlog/tools";
import { closedText, codeSpan, fenced } from "../../../packages/tools/src/export/markdown-text.ts";
import { collected } from "../../support/collected.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { fixturePath, importedFile } from "../import/imported.ts";

const time = "2026-01-01T00:00:00.000Z";
const header = { type: "session", version: 3, id: "s", timestamp: time, cwd: "/w" };

const markdownOf = async (source: string, at?: string): Promise<string> =>
  (await collected(markdownPieces(source, { at }))).join("");

/** The Markdown of a log whose entries form a chain. */
async function markdownOfEntries(entries: readonly object[]): Promise<string> {
  const path = join(temporaryDirectory(), "s.jsonl");
  const chained = entries.map((entry, i) => ({
    ...entry,
    id: `e${i}`,
    parentId: i === 0 ? null : `e${i - 1}`,
    timestamp: time,
  }));
  const lines = [header, ...chained].map((line) => `${JSON.stringify(line)}\n`);
  writeFileSync(path, lines.join(""));
  return markdownOf(path);
}

const said = (role: string, content: unknown, rest = {}): object => ({
  type: "message",
  message: { role, content, timestamp: 1, ...rest },
});

describe("a session as Markdown", () => {
  it("is unchanged for every mapped source", async () => {
    const { session } = await importedFile(fixturePath("claude/conversation.jsonl"));
    const golden = fileURLToPath(
      new URL("../../../fixtures/claude/conversation.expected-markdown.txt", import.meta.url),
    );
    await expect(await markdownOf(session.path)).toMatchFileSnapshot(golden);
  });

  it("has the entries after a message without a body", async () => {
    const text = await markdownOfEntries([
      said("user", "before it"),
      { type: "message" },
      said("user", "behind it"),
    ]);
    expect(text).toContain("behind it");
  });

  it("has each part under its speaker", async () => {
    const text = await markdownOfEntries([
      { type: "session_info", name: "A *name*" },
      said("user", "Hello"),
      said(
        "assistant",
        [
          { type: "thinking", thinking: "Hm.\n\nYes." },
          { type: "text", text: "I look." },
          { type: "toolCall", id: "t", name: "read", arguments: { path: "a.ts" } },
        ],
        { model: "m1" },
      ),
      said("toolResult", [{ type: "text", text: "```\ncode\n```" }], {
        toolName: "read",
        isError: true,
      }),
      said("user", [{ type: "image", data: "AAAA", mimeType: "image/png" }]),
      { type: "compaction", summary: "All done.", firstKeptEntryId: "e1", tokensBefore: 1 },
      { type: "branch_summary", fromId: "e1", summary: "Tried." },
      { type: "custom", customType: "x", data: { secret: 1 } },
    ]);
    await expect(text).toMatchFileSnapshot("golden/each-part.txt");
  });

  it("has only the path", async () => {
    const source = fixturePath("pi-branches.jsonl");
    const text = await markdownOf(source, "5b2e9d06");
    expect(text).toContain("Measure it.");
    expect(text).not.toContain("A second root.");
    expect(text).not.toContain("Try TTL instead.");
  });

  it.each([null, 5, "text", [null, 5, "x", { type: 5 }, {}], { a: 1 }])(
    "accepts the content %j as stored",
    async (content) => {
      const text = await markdownOfEntries([
        said("user", content),
        said("assistant", content),
        said("toolResult", content),
        { type: "message", message: content },
        { type: "custom_message", customType: content, content, display: content },
        { type: "compaction", summary: content },
      ]);
      expect(text).toContain("## 1 · ");
    },
  );

  it("is written to a new file", async () => {
    const target = join(temporaryDirectory(), "session.md");
    const report = await exportMarkdown(fixturePath("pi-linear.jsonl"), target);
    const bytes = readFileSync(target);
    expect(report).toEqual({ path: target, sizeBytes: bytes.length });
    expect(bytes.toString()).toBe(await markdownOf(fixturePath("pi-linear.jsonl")));
  });
});

describe("marks around text", () => {
  const marked = fc.string({
    unit: fc.constantFrom("`", "```", "~~~", "\n", " ", "a", "    "),
    maxLength: 12,
  });

  it("are not closed by anything in a fence", () => {
    fc.assert(
      fc.property(marked, (text) => {
        const lines = fenced(text).split("\n");
        const fence = lines[0] ?? "";
        const inside = lines.slice(1, -2);
        expect(fence).toMatch(/^`{3,}$/);
        expect(lines.at(-2)).toBe(fence);
        expect(inside.join("\n")).toBe(text.replace(/\n$/, ""));
        for (const line of inside) expect(line).not.toContain(fence);
      }),
    );
  });

  it("are closed when a text leaves a fence open", () => {
    fc.assert(
      fc.property(marked, (text) => {
        // What is closed once stays as it is.
        const once = closedText(text);
        expect(closedText(once).trimEnd()).toBe(once.trimEnd());
      }),
    );
    expect(closedText("see\n```ts\na")).toBe("see\n```ts\na\n```\n");
    expect(closedText("see\n```ts\na\n```")).toBe("see\n```ts\na\n```\n");
    expect(closedText("~~~~\n```\n~~~")).toBe("~~~~\n```\n~~~\n~~~~\n");
  });

  it("surround code in a line", () => {
    expect(codeSpan("a")).toBe("`a`");
    expect(codeSpan("a `b`")).toBe("`` a `b` ``");
    expect(codeSpan("a\nb")).toBe("`a b`");
  });
});
