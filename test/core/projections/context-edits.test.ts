/** Context edits: what they change of a context, and what they leave alone. */
import { describe, expect, it } from "vitest";
import type { AgentMessage, SessionEntry } from "@branchlog/core";
import { projectContextEntry as projectEntry } from "@branchlog/agents/pi";
import type { ContextProblem } from "@branchlog/agents/pi";
import { buildContext } from "../../../packages/core/src/projections/context.ts";
import { pathTo, pathToLast } from "./naive-tree.ts";
import {
  assistant,
  assistantMessage,
  compaction,
  contextEdit,
  message,
  stored,
  textsOf,
  user,
  userMessage,
} from "./sample-entries.ts";

const textsAt = (entries: readonly SessionEntry[], leaf?: string): string[] =>
  textsOf(buildContext(leaf === undefined ? pathToLast(entries) : pathTo(entries, leaf)).messages);

const toolResult: AgentMessage = {
  role: "toolResult",
  toolCallId: "t",
  toolName: "bash",
  content: [{ type: "text", text: "output" }],
  isError: false,
  timestamp: 3,
};
const bash: AgentMessage = {
  role: "bashExecution",
  command: "ls",
  output: "a",
  cancelled: false,
  truncated: false,
  timestamp: 4,
};

describe("a context edit", () => {
  it("puts text in place of a user message and leaves the stored one alone", () => {
    const target = user("1", null, "secret");
    expect(textsAt([target, contextEdit("2", "1", "1", { content: "removed" })])).toEqual([
      "removed",
    ]);
    expect(target).toMatchObject({ message: { content: "secret" } });
  });

  it("with null hides its target", () => {
    const entries = [user("1", null, "one"), user("2", "1", "two")];
    expect(textsAt([...entries, contextEdit("3", "2", "1", null)])).toEqual(["two"]);
  });

  it("with null hides a summary together with its system message", () => {
    const systemMessage = { role: "system", content: "rules", timestamp: 1 } as const;
    const summary = { ...compaction("1", null, "summary", "1"), systemMessage };
    expect(textsAt([summary, contextEdit("2", "1", "1", null)])).toEqual([]);
  });

  it.each([
    ["user", userMessage("old")],
    ["assistant", assistantMessage("old")],
    ["toolResult", toolResult],
    ["custom", { ...userMessage("old"), role: "custom", customType: "c", display: true } as const],
  ])("puts a list in place of the content of a %s message, the rest kept", (_, body) => {
    const content = [{ type: "text", text: "new" } as const];
    const entry = message("1", null, body as AgentMessage);
    const [edited] = projectEntry(entry, contextEdit("2", "1", "1", { content }));
    expect(edited).toEqual({ ...body, content });
    expect(Object.keys(edited ?? {})).toEqual(Object.keys(body));
  });

  it("turns text into one block where content is always a list", () => {
    const edit = contextEdit("2", "1", "1", { content: "new" });
    const blocks = [{ type: "text", text: "new" }];
    const contentOf = (body: AgentMessage): unknown => {
      const [edited] = projectEntry(message("1", null, body), edit);
      return edited !== undefined && "content" in edited ? edited.content : undefined;
    };
    expect(contentOf(assistantMessage("old"))).toEqual(blocks);
    expect(contentOf(toolResult)).toEqual(blocks);
    expect(contentOf(userMessage("old"))).toBe("new");
  });

  it("reaches custom_message entries", () => {
    const rest = { customType: "note", content: "old", display: true };
    const entries = [stored("custom_message", "1", null, rest)];
    expect(textsAt([...entries, contextEdit("2", "1", "1", { content: "new" })])).toEqual(["new"]);
  });

  it.each([
    ["shell command", message("1", null, bash)],
    ["branch summary", stored("branch_summary", "1", null, { summary: "summary", fromId: "x" })],
    ["compaction", compaction("1", null, "summary", "1")],
    ["system message", message("1", null, { role: "system", content: "rules", timestamp: 1 })],
  ])("does not change the content of a %s", (_, entry) => {
    const edit = contextEdit("2", "1", "1", { content: "new" });
    expect(projectEntry(entry, edit)).toEqual(projectEntry(entry, undefined));
  });

  it("is replaced by a later one, and comes back when the leaf moves before that", () => {
    const entries = [
      user("1", null, "one"),
      contextEdit("2", "1", "1", { content: "first edit" }),
      contextEdit("3", "2", "1", { content: "second edit" }),
    ];
    expect(textsAt(entries)).toEqual(["second edit"]);
    expect(textsAt(entries, "2")).toEqual(["first edit"]);
    expect(textsAt(entries, "1")).toEqual(["one"]);
  });

  it("counts on its own branch only", () => {
    const entries = [
      user("1", null, "one"),
      contextEdit("2", "1", "1", { content: "edited" }),
      user("3", "1", "three"),
    ];
    expect(textsAt(entries, "3")).toEqual(["one", "three"]);
  });

  it("does not count if it is before what a compaction kept", () => {
    const entries = [
      contextEdit("1", null, "2", { content: "edited" }),
      assistant("2", "1", "two"),
      compaction("3", "2", "summary", "2"),
    ];
    expect(textsAt(entries)).toEqual(["summary", "two"]);
    expect(textsAt(entries, "2")).toEqual(["edited"]);
  });

  it.each([
    ["absent", undefined],
    ["text", "new"],
    ["a list", []],
    ["without content", {}],
    ["of null content", { content: null }],
    ["of a number", { content: 5 }],
  ])("is ignored and reported if its replacement is %s", (_, replacement) => {
    const problems: ContextProblem[] = [];
    const entries = [
      user("1", null, "one"),
      contextEdit("2", "1", "1", { content: "edited" }),
      stored("context_edit", "3", "2", { targetId: "1", replacement }),
    ];
    const { messages } = buildContext(pathToLast(entries), (problem) => problems.push(problem));
    expect(textsOf(messages)).toEqual(["edited"]);
    expect(problems).toEqual([{ entryId: "3", reason: "no-replacement" }]);
  });
});
