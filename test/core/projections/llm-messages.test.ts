/** What a model is sent for each kind of message, word for word. */
import { describe, expect, it } from "vitest";
import type { AgentMessage } from "@branchlog/core";
import { convertToLlm } from "@branchlog/core/entries";
import type { BashExecutionMessage } from "@branchlog/core/entries";
import { assistantMessage, userMessage } from "./sample-entries.ts";

const bash = (rest: Partial<BashExecutionMessage>): BashExecutionMessage => ({
  role: "bashExecution",
  command: "ls -l",
  output: "a\nb",
  exitCode: 0,
  cancelled: false,
  truncated: false,
  timestamp: 5,
  ...rest,
});

const textOf = (message: AgentMessage): unknown => {
  const [sent] = convertToLlm([message]);
  return sent?.content;
};
const block = (text: string) => [{ type: "text", text }];

describe("the messages sent to a model", () => {
  it("are those of users, models, tools and systems by reference, in order", () => {
    const messages: AgentMessage[] = [
      { role: "system", content: "rules", timestamp: 1 },
      userMessage("hello"),
      assistantMessage("hi"),
      {
        role: "toolResult",
        toolCallId: "t",
        toolName: "bash",
        content: [],
        isError: false,
        timestamp: 1,
      },
    ];
    const sent = convertToLlm(messages);
    expect(sent).toHaveLength(4);
    for (const [i, one] of sent.entries()) expect(one).toBe(messages[i]);
  });

  const output = "Ran `ls -l`\n```\na\nb\n```";
  it.each([
    ["that succeeded", bash({}), output],
    ["without output", bash({ output: "" }), "Ran `ls -l`\n(no output)"],
    ["that failed", bash({ exitCode: 2 }), `${output}\n\nCommand exited with code 2`],
    ["without exit code", bash({ exitCode: null }), output],
    [
      "that was cancelled",
      bash({ cancelled: true, exitCode: 3 }),
      `${output}\n\n(command cancelled)`,
    ],
    ["cut short without a file", bash({ truncated: true }), output],
    [
      "cut short with a file",
      bash({ exitCode: 1, truncated: true, fullOutputPath: "/tmp/log" }),
      `${output}\n\nCommand exited with code 1\n\n[Output truncated. Full output: /tmp/log]`,
    ],
  ])("describe a shell command %s", (_, message, expected) => {
    expect(convertToLlm([message])).toEqual([
      { role: "user", content: block(expected), timestamp: 5 },
    ]);
  });

  it("have messages of extensions as user messages", () => {
    const custom = { role: "custom", customType: "c", display: false, timestamp: 4 } as const;
    expect(textOf({ ...custom, content: "note" })).toEqual(block("note"));
    const content = [{ type: "text", text: "note" } as const];
    expect(textOf({ ...custom, content })).toBe(content);
  });
});
