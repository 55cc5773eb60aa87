/** What becomes of the records of a Codex rollout in a copy, record by record. */
import { describe, expect, it } from "vitest";
import { openSession } from "@branchlog/core";
import {
  codexItem,
  codexMessage,
  codexRecord,
  fixturePath,
  importedFile,
  importedLines,
  spoken,
} from "./imported.ts";

const meta = codexRecord("session_meta", { id: "s1", cwd: "/w", cli_version: "1.2.3" });
const event = (type: string, rest: object): object => codexRecord("event_msg", { type, ...rest });

describe("a rollout of Codex", () => {
  it("has one message for the items of one answer, with the usage of its request", async () => {
    const { entries } = await importedFile(fixturePath("codex/conversation.jsonl"));
    const [first, second] = entries.filter(
      (entry) => Reflect.get(Reflect.get(entry, "message") ?? {}, "role") === "assistant",
    );
    expect(first).toMatchObject({
      message: {
        provider: "openai-codex",
        model: "gpt-5.1-codex",
        stopReason: "toolUse",
        usage: { input: 500, cacheRead: 400, output: 40, totalTokens: 940 },
        content: [
          { type: "thinking", thinking: "**Measuring pages**" },
          {
            type: "toolCall",
            id: "call_1",
            name: "shell",
            arguments: { command: ["ls", "pages"] },
          },
        ],
      },
    });
    expect(second).toMatchObject({
      message: {
        content: [
          { name: "apply_patch", arguments: { input: "*** Begin Patch\n*** End Patch" } },
          { name: "view_image", arguments: { input: "not json" } },
        ],
      },
    });
  });

  it("keeps the text of arguments whose numbers exceed a double", async () => {
    const long = '{"tweet_id":1852345678901234567}';
    const { entries } = await importedLines([
      meta,
      codexMessage("Hi"),
      codexItem("function_call", { name: "get", arguments: long, call_id: "c1" }),
      codexItem("function_call", { name: "get", arguments: '{"id":1.0}', call_id: "c2" }),
      codexItem("tool_search_call", { arguments: long, call_id: "c3" }),
    ]);
    const parsed = { arguments: JSON.parse(long) as unknown };
    const message = { content: [{ ...parsed, rawArguments: long }, { arguments: { id: 1 } }, {}] };
    expect(entries.at(-1)).toMatchObject({ message });
    expect(Reflect.get(entries.at(-1) ?? {}, "message")).not.toHaveProperty(
      "content.1.rawArguments",
    );
  });

  it("has text that Codex writes as the user as context", async () => {
    const { entries } = await importedLines([
      meta,
      codexMessage("<environment_context>x</environment_context>"),
      codexMessage("Ask first.", "developer"),
      codexMessage("Hi"),
    ]);
    expect(entries).toMatchObject([
      { type: "custom_message", customType: "codex.context", display: false },
      { type: "custom_message", customType: "codex.developer", display: false },
      { type: "message", message: { role: "user" } },
    ]);
  });

  it.each([
    ["before its item", 0],
    ["after its item", 1],
  ])("has text repeated by an event once %s", async (_where, after) => {
    const pair = (one: object, copy: object): object[] => (after ? [one, copy] : [copy, one]);
    const reasoning = codexItem("reasoning", { summary: [{ type: "summary_text", text: "Hm." }] });
    const { session, report } = await importedLines([
      meta,
      ...pair(codexMessage("Hi"), event("user_message", { message: "Hi" })),
      ...pair(reasoning, event("agent_reasoning", { text: "Hm." })),
      ...pair(codexMessage("Hello.", "assistant"), event("agent_message", { message: "Hello." })),
    ]);
    expect(Object.values(report.skipped).reduce((sum, count) => sum + count)).toBe(4);
    expect(spoken((await session.context()).messages)).toEqual([
      "user: Hi",
      "assistant: Hm. | Hello.",
    ]);
  });

  it("keeps data of events only", async () => {
    const { session, report } = await importedLines([
      meta,
      event("user_message", { message: "Hi" }),
      event("agent_message", { message: "Hello." }),
      event("task_complete", {}),
      event("user_message", { message: "Hi" }),
    ]);
    expect(report.skipped).toEqual({ "event_msg/task_complete": 1, session_meta: 1 });
    expect(spoken((await session.context()).messages)).toEqual([
      "user: Hi",
      "assistant: Hello.",
      "user: Hi",
    ]);
  });

  it("keeps turns that were rolled back on their branch", async () => {
    const source = fixturePath("codex/rollback.jsonl");
    const { session: copy } = await importedFile(source);
    const session = await openSession(source);
    expect(spoken((await copy.context()).messages)).toEqual(
      spoken((await session.context()).messages),
    );
    expect(spoken((await session.context()).messages)).toEqual([
      "user: First.",
      "assistant: One.",
      "user: Second, again.",
      "assistant: Two, again.",
    ]);
    const dropped = await Promise.all(
      session.tips().map(async ({ id }) => spoken((await session.context({ at: id })).messages)),
    );
    expect(dropped.map((messages) => messages.at(-1))).toEqual([
      "assistant: Three.",
      "assistant: Four.",
    ]);
  });

  it("compacts where Codex did, and continues from the texts if no summary is readable", async () => {
    const { session, entries } = await importedFile(fixturePath("codex/compaction.jsonl"));
    const compactions = entries.filter(({ type }) => type === "compaction");
    expect(compactions).toMatchObject([
      { summary: "The first half is done.", tokensBefore: 200_009 },
      { summary: "Long work.\n\nGo on." },
    ]);
    expect(spoken((await session.context()).messages)).toEqual([
      "compactionSummary: Long work.\n\nGo on.",
      "user: Finish.",
      "assistant: Finished.",
    ]);
  });

  it("records changes of model and thinking level", async () => {
    const { session } = await importedFile(fixturePath("codex/conversation.jsonl"));
    expect(session.settings).toEqual({
      model: { provider: "openai-codex", modelId: "gpt-5.1-codex-max" },
      thinkingLevel: "off",
    });
    expect(session.name).toBe("Slow pages");
  });

  it("counts a request whose answer is before a result, once", async () => {
    const count = event("token_count", {
      info: {
        total_token_usage: { total_tokens: 15 },
        last_token_usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
      },
    });
    const { session, report } = await importedLines([
      meta,
      codexItem("function_call", { name: "ls", arguments: "{}", call_id: "c" }),
      codexItem("function_call_output", { call_id: "c", output: "x" }),
      count,
      count,
    ]);
    expect((await session.usage).total).toMatchObject({ input: 10, output: 5 });
    expect(report.skipped).toEqual({ "event_msg/token_count": 1, session_meta: 1 });
  });
});
