/** Laws of transcripts in place, over random sources, and while an agent writes them. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openSession } from "@branchlog/core";
import { live } from "@branchlog/core/live";
import { claudeSource } from "../../tools/import/arbitrary-claude.ts";
import type { ModelledSource } from "../../tools/import/arbitrary-claude.ts";
import { codexSource } from "../../tools/import/arbitrary-codex.ts";
import { fixturePath, importedLines, sourceOf, spoken } from "../../tools/import/imported.ts";
import { directoryState } from "../../support/directory-state.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const kinds: readonly (readonly [string, fc.Arbitrary<ModelledSource>])[] = [
  ["Claude Code", claudeSource],
  ["Codex", codexSource],
];

const isTitle = /"type":"(?:custom-title|ai-title|summary)"/;

/** The texts in a JSON, in their order. */
function textsIn(json: string): string[] {
  return json.match(/<\d+>/g) ?? [];
}

describe.each(kinds)("any transcript of %s", (_name, source) => {
  it("has in place every text of its import, in one entry each", async () => {
    await fc.assert(
      fc.asyncProperty(source, async ({ lines, texts }) => {
        const session = await openSession(sourceOf(lines));
        const found = new Map<string, number>();
        for await (const entry of session.entries()) {
          // A signature repeats what it signs.
          const json = JSON.stringify(entry, (key, value: unknown) =>
            key === "thinkingSignature" ? undefined : value,
          );
          for (const text of new Set(textsIn(json))) found.set(text, (found.get(text) ?? 0) + 1);
        }
        // Records that only name the session are no entries.
        const titles = new Set(lines.filter((line) => isTitle.test(line)).flatMap(textsIn));
        const expected = texts.filter((text) => !titles.has(text));
        expect([...found.keys()].toSorted()).toEqual(expected.toSorted());
        expect([...found.values()].every((count) => count === 1)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  it("has in place the messages of its import at its leaf", async () => {
    await fc.assert(
      fc.asyncProperty(source, async ({ lines }) => {
        const { session: imported } = await importedLines(lines);
        const session = await openSession(sourceOf(lines));
        const { messages } = await session.context({ bridgeGaps: true });
        expect(spoken(messages)).toEqual(spoken((await imported.context()).messages));
      }),
      { numRuns: 60 },
    );
  });

  it("is the same whether it is read at once or as it grows", async () => {
    await fc.assert(
      fc.asyncProperty(source, fc.nat(), async ({ lines }, cut) => {
        const whole = `${lines.join("\n")}\n`;
        const path = join(temporaryDirectory(), "s.jsonl");
        const at =
          1 + whole.indexOf("\n") + (cut % Math.max(1, whole.length - whole.indexOf("\n")));
        writeFileSync(path, whole.slice(0, at));
        const opened = await openSession(path).catch(() => undefined);
        // Its beginning may hold no record that says whose it is.
        if (opened === undefined) return;
        writeFileSync(path, whole.slice(at), { flag: "a" });
        await opened.refresh();
        const fresh = await openSession(path);
        expect(opened.leaf).toBe(fresh.leaf);
        expect(opened.name).toBe(fresh.name);
        const of = async ({ messages }: { messages: readonly unknown[] }) => spoken(messages);
        expect(await of(await opened.context())).toEqual(await of(await fresh.context()));
      }),
      { numRuns: 40 },
    );
  });
});

it("ends an answer of Codex at a rollback, also of missing turns", async () => {
  const item = (text: string): object => ({
    type: "response_item",
    payload: { type: "message", role: "assistant", content: [{ type: "output_text", text }] },
  });
  const lines = [
    { type: "session_meta", payload: { id: "s", cwd: "/w" } },
    item("<1>"),
    { type: "event_msg", payload: { type: "thread_rolled_back", num_turns: 2 } },
    item("<2>"),
  ];
  const { session: imported } = await importedLines(lines);
  const session = await openSession(sourceOf(lines));
  const said = spoken((await session.context()).messages);
  expect(said).toHaveLength(2);
  expect(said).toEqual(spoken((await imported.context()).messages));
});

it("marks the context after a compaction as approximate", async () => {
  for (const name of ["claude/compaction.jsonl", "codex/compaction.jsonl"]) {
    expect(await (await openSession(fixturePath(name))).context()).toMatchObject({
      approximate: true,
    });
  }
  const other = await openSession(fixturePath("claude/conversation.jsonl"));
  expect(await other.context()).not.toHaveProperty("approximate");
});

/** Appends the lines of its second argument to its first, in halves. */
const agent = `
const { appendFileSync, readFileSync } = require("node:fs");
const [path, source] = process.argv.slice(1);
for (const line of readFileSync(source, "utf8").split(/(?<=\\n)/)) {
  const middle = Math.floor(line.length / 2);
  appendFileSync(path, line.slice(0, middle));
  appendFileSync(path, line.slice(middle));
}`;

it.each(["claude/conversation.jsonl", "codex/conversation.jsonl"])(
  "%s is followed while another process writes it, and nothing else is written",
  async (name) => {
    const directory = temporaryDirectory();
    const [path, rest] = [join(directory, "s.jsonl"), join(temporaryDirectory(), "rest")];
    const lines = readFileSync(fixturePath(name), "utf8").split(/(?<=\n)/);
    writeFileSync(path, lines.slice(0, 6).join(""));
    writeFileSync(rest, lines.slice(6).join(""));
    const expected = await openSession(fixturePath(name));
    const ids: string[] = [];
    const session = await openSession(path, { access: "read" });
    const child = spawn(process.execPath, ["-e", agent, path, rest], { stdio: "inherit" });
    const ended = once(child, "close");
    for await (const event of live(session).events({ from: 1 })) {
      if (event.kind === "entry") ids.push(event.entry.id);
      if (ids.length === expected.revision) break;
    }
    expect((await ended)[0]).toBe(0);
    const all: string[] = [];
    for await (const entry of expected.entries()) all.push(entry.id);
    expect(ids).toEqual(all);
    expect(session.leaf).toBe(expected.leaf);
    const before = directoryState(directory);
    expect(before).toHaveLength(2);
    expect(readFileSync(path).equals(readFileSync(fixturePath(name)))).toBe(true);
    expect(spoken((await session.context()).messages)).toEqual(
      spoken((await expected.context()).messages),
    );
    expect(directoryState(directory)).toEqual(before);
  },
);
