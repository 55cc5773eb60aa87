/** Context edits: what they change of a context, and what they leave alone. */
import { describe, expect, it } from "vitest";
import type { AgentMessage } from "@branchlog/core";
import { projectContextEntry as projectEntry } from "@branchlog/agents/pi";
import type { ContextProblem } from "@branchlog/agents/pi";
import { buildContext } from "../../../packages/core/src/projections/context.ts";
import { pathToLast } from "./naive-tree.ts";
import { contextEdit, message, stored, textsOf, user, userMessage } from "./sample-entries.ts";

describe("a context edit", () => {
  it.each([
    ["user", userMessage("old")],
    ["custom", { ...userMessage("old"), role: "custom", customType: "c", display: true } as const],
  ])("replaces the content of a %s message by an array, and keeps the rest", (_, body) => {
    const content = [{ type: "text", text: "new" } as const];
    const entry = message("1", null, body as AgentMessage);
    const [edited] = projectEntry(entry, contextEdit("2", "1", "1", { content }));
    expect(edited).toEqual({ ...body, content });
    expect(Object.keys(edited ?? {})).toEqual(Object.keys(body));
  });

  it.each([
    ["branch summary", stored("branch_summary", "1", null, { summary: "summary", fromId: "x" })],
    ["system message", message("1", null, { role: "system", content: "rules", timestamp: 1 })],
  ])("does not change the content of a %s", (_, entry) => {
    const edit = contextEdit("2", "1", "1", { content: "new" });
    expect(projectEntry(entry, edit)).toEqual(projectEntry(entry, undefined));
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
