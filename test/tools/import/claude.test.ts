/** What becomes of the records of Claude Code in a copy, record by record. */
import { describe, expect, it } from "vitest";
import { openSession } from "@branchlog/core";
import { verifySession } from "@branchlog/tools";
import { fixturePath, importedFile, importedLines, sourceOf, spoken } from "./imported.ts";

const sessionId = "5c000000-0000-4000-8000-000000000001";
const time = "2026-01-02T03:04:05.006Z";

function record(uuid: string, parentUuid: string | null, rest: object): object {
  return { parentUuid, isSidechain: false, sessionId, cwd: "/w", ...rest, uuid, timestamp: time };
}

function user(uuid: string, parentUuid: string | null, content: unknown, rest = {}): object {
  return record(uuid, parentUuid, { type: "user", message: { role: "user", content }, ...rest });
}

function answer(uuid: string, parentUuid: string | null, id: string, block: object): object {
  const usage = { input_tokens: 10, output_tokens: 5 };
  const message = { id, model: "claude-x", role: "assistant", content: [block], usage };
  return record(uuid, parentUuid, { type: "assistant", message });
}

const text = (said: string): object => ({ type: "text", text: said });
const call = (id: string): object => ({ type: "tool_use", id, name: "Read", input: { a: 1 } });
const result = (id: string, content: string): object => ({
  type: "tool_result",
  tool_use_id: id,
  content,
});

describe("a transcript of Claude Code", () => {
  it("becomes a session under its id and time, with its entries under theirs", async () => {
    const { session, entries, report } = await importedLines([user("a", null, "Hi")]);
    expect(session.header).toMatchObject({ version: 3, id: sessionId, timestamp: time, cwd: "/w" });
    expect(session.header.parentSession).toMatch(/source\.jsonl$/);
    expect(entries).toMatchObject([
      { id: "a", parentId: null, message: { role: "user", content: "Hi" } },
    ]);
    expect(report).toMatchObject({ kind: "claude", lines: 1, imported: 1, entries: 1 });
  });

  it("has the blocks of one answer in one message, and its usage once", async () => {
    const { entries, session } = await importedLines([
      user("a", null, "Hi"),
      answer("b", "a", "m1", { type: "thinking", thinking: "Hm.", signature: "s" }),
      answer("c", "b", "m1", text("Hello.")),
      answer("d", "c", "m1", call("t1")),
      user("e", "d", [result("t1", "done")], { toolUseResult: { lines: 1 } }),
    ]);
    const messages = entries.filter(({ type }) => type === "message");
    expect(messages).toHaveLength(3);
    expect(messages[1]).toMatchObject({
      message: {
        provider: "anthropic",
        model: "claude-x",
        stopReason: "toolUse",
        content: [
          { type: "thinking", thinking: "Hm.", thinkingSignature: "s" },
          { type: "text", text: "Hello." },
          { type: "toolCall", id: "t1", name: "Read", arguments: { a: 1 } },
        ],
      },
    });
    expect(messages[2]).toMatchObject({
      message: {
        role: "toolResult",
        toolCallId: "t1",
        toolName: "Read",
        content: [{ type: "text", text: "done" }],
        details: { lines: 1 },
        isError: false,
      },
    });
    expect((await session.usage).total).toMatchObject({ input: 10, output: 5 });
  });

  it("has the results of parallel calls on one path, and their usage once", async () => {
    const { session } = await importedFile(fixturePath("claude/branches.jsonl"));
    const { messages } = await session.context();
    expect(spoken(messages)).toEqual([
      "user: Plan the cache.",
      "assistant: LRU or TTL?",
      "user: Try TTL instead.",
      "assistant: Read | Read | Read",
      "toolResult: a",
      "toolResult: b",
      "toolResult: c",
      "assistant: TTL is in place.",
    ]);
    const outputs = messages.flatMap((message) =>
      message.role === "assistant" ? [message.usage.output] : [],
    );
    expect(outputs).toEqual([40, 50, 40]);
  });

  it("has late parts of an answer in its message, and its usage once", async () => {
    const { session } = await importedLines([
      user("a", null, "Hi"),
      answer("b", "a", "m1", call("t1")),
      user("x", null, "Another root."),
      answer("c", "b", "m1", call("t2")),
      user("d", "b", [result("t1", "one")]),
      record("e", "d", { type: "attachment", attachment: { type: "hook" } }),
      user("f", "c", [result("t2", "two"), text("And this.")]),
    ]);
    expect(spoken((await session.context()).messages)).toEqual([
      "user: Hi",
      "assistant: Read | Read",
      "toolResult: one",
      "toolResult: two",
      "user: And this.",
    ]);
    expect((await session.usage).total).toMatchObject({ input: 10, output: 5 });
  });

  it("notes a change of the model on the branch where it happens", async () => {
    const session = await openSession(fixturePath("claude/branches.jsonl"));
    const models = await Promise.all(
      session.tips().map(async ({ id }) => (await session.context({ at: id })).model?.modelId),
    );
    expect(models).toEqual(["claude-opus-4-5", "claude-sonnet-4-5"]);
  });

  it("ends at the conversation, not at later subagent entries", async () => {
    const { session } = await importedFile(fixturePath("claude/sidechains.jsonl"));
    expect(spoken((await session.context()).messages).at(-1)).toBe(
      "assistant: orders.sql lacks an index.",
    );
  });

  it("keeps what a compaction kept", async () => {
    const { session } = await importedFile(fixturePath("claude/compaction.jsonl"));
    const first = await session.context({ at: await idOf(session.entries(), "Docs done.") });
    expect(spoken(first.messages)).toEqual([
      "compactionSummary: This session is being continued: the module was renamed.",
      "user: And the tests.",
      "assistant: The tests, too.",
      "user: Now the docs.",
      "assistant: Docs done.",
    ]);
    expect(spoken((await session.context()).messages)).toEqual([
      "compactionSummary: Everything was renamed, docs included.",
      "user: Release it.",
      "assistant: Released.",
      "user: No summary came.",
    ]);
  });

  it("keeps entries kept by a compaction from a later block of an answer on", async () => {
    const compactMetadata = { trigger: "auto", preTokens: 9, preservedSegment: { headUuid: "c" } };
    const boundary = { type: "system", subtype: "compact_boundary", compactMetadata };
    const source = sourceOf([
      user("a", null, "Hi"),
      answer("b", "a", "m1", text("One.")),
      answer("c", "b", "m1", call("t1")),
      user("d", "c", [result("t1", "done")]),
      record("e", null, { ...boundary, logicalParentUuid: "d" }),
      user("f", "e", "The summary.", { isCompactSummary: true }),
      user("g", "f", "Go on."),
    ]);
    const { session: copy } = await importedFile(source);
    const inPlace = spoken((await (await openSession(source)).context()).messages);
    const kept = spoken((await copy.context()).messages);
    expect(inPlace[0]).toBe("compactionSummary: The summary.");
    expect(inPlace).toContain("toolResult: done");
    // The answer is one message in the copy: with its first block.
    expect(kept.filter((said) => !said.startsWith("assistant"))).toEqual(
      inPlace.filter((said) => !said.startsWith("assistant")),
    );
    expect(kept).toContain("assistant: One. | Read");
    expect((await verifySession(copy)).ok).toBe(true);
  });

  it("shows hidden messages to the model, but not to the user", async () => {
    const { entries } = await importedLines([user("a", null, "A caveat.", { isMeta: true })]);
    expect(entries[0]).toMatchObject({
      type: "custom_message",
      customType: "claude.meta",
      content: "A caveat.",
      display: false,
    });
  });

  it("prefers the title of the user to that of a model, and that to a summary", async () => {
    const ai = { type: "ai-title", aiTitle: "By a model", sessionId };
    const own = { type: "custom-title", customTitle: "By me", sessionId };
    const summary = { type: "summary", summary: "A summary", leafUuid: "a" };
    const hi = user("a", null, "Hi");
    expect((await importedLines([summary, hi])).session.name).toBe("A summary");
    expect((await importedLines([summary, hi, ai])).session.name).toBe("By a model");
    const all = await importedLines([summary, hi, own, ai, own]);
    expect(all.session.name).toBe("By me");
    expect(all.report.skipped).toEqual({ "ai-title": 1, "custom-title": 2, summary: 1 });
  });

  it("attaches records to the nearest kept parent", async () => {
    const { entries, report } = await importedLines([
      user("a", null, "Hi"),
      record("p1", "a", { type: "progress", data: {} }),
      record("p2", "p1", { type: "progress", data: {} }),
      answer("b", "p2", "m", text("Hello.")),
    ]);
    expect(report.skipped).toEqual({ progress: 2 });
    expect(entries.at(-1)).toMatchObject({ id: "b", parentId: "a" });
  });

  it("continues at the preceding entry when a parent is lost, and reports it", async () => {
    const { session, report } = await importedLines([
      user("a", null, "One"),
      user("c", "b", "Two"),
    ]);
    expect(spoken((await session.context()).messages)).toEqual(["user: One", "user: Two"]);
    expect(report.diagnostics).toMatchObject([{ kind: "missing-parent", line: 2, id: "c" }]);
    expect(session.diagnostics).toEqual([]);
  });

  it("keeps blocks without an equivalent with their message", async () => {
    const image = { type: "image", source: { type: "url", url: "https://example.org/a.png" } };
    const { entries } = await importedLines([user("a", null, [text("Look."), image])]);
    expect(entries).toMatchObject([
      { message: { content: [text("Look.")] }, "claude.blocks": { blocks: [image] } },
    ]);
  });

  it.each([
    ["an object", { file: "a" }],
    ["a list", [{ type: "text", text: "whole" }]],
    ["a text", "Error: whole"],
    ["null", null],
  ])("keeps the full result of a tool as details: %s", async (_, toolUseResult) => {
    const { entries } = await importedLines([
      answer("b", null, "m1", call("c")),
      user("c", "b", [result("c", "short"), text("Go on.")], { toolUseResult }),
    ]);
    expect(entries.at(-2)).toMatchObject({ message: { role: "toolResult" } });
    expect(Reflect.get(entries.at(-2) ?? {}, "message")).toHaveProperty("details", toolUseResult);
    expect(entries.at(-1)).toMatchObject({ message: { role: "user" } });
    expect(Reflect.get(entries.at(-1) ?? {}, "message")).not.toHaveProperty("details");
  });

  it.each([
    ["of several results", [result("c", "1"), result("d", "2")]],
    ["of none", "Hi"],
  ])("keeps it with the last of them when a record is %s", async (_, content) => {
    const { entries, report } = await importedLines([
      user("a", null, "Hi"),
      answer("b", "a", "m1", call("c")),
      answer("c", "b", "m1", call("d")),
      user("d", "c", content, { toolUseResult: "whole" }),
      user("e", "d", "And then?"),
    ]);
    const data = { blocks: [], toolUseResult: "whole" };
    expect(entries.at(-2)).toMatchObject({ id: "d", "claude.blocks": data });
    expect(report.imported).toBe(5);
  });

  it("of only a subagent ends where that one does", async () => {
    const rest = { isSidechain: true, agentId: "a1" };
    const { session, entries } = await importedLines([
      user("a", null, "A task.", rest),
      user("b", "a", "More.", rest),
    ]);
    expect(session.header.id).toBe(`${sessionId}.a1`);
    expect(session.leaf).toBe(entries.at(-1)?.id);
    expect(spoken((await session.context()).messages)).toEqual(["user: A task.", "user: More."]);
  });
});

async function idOf(
  entries: AsyncIterable<{ readonly id: string }>,
  said: string,
): Promise<string> {
  for await (const entry of entries) if (JSON.stringify(entry).includes(said)) return entry.id;
  throw new Error(`nothing says ${said}`);
}
