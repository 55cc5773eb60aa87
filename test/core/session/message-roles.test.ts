/** Messages that no agent stores: refused by sessions, stored by the drop-ins as pi and omp do. */
import { describe, expect, it } from "vitest";
import { memorySession } from "@branchlog/core";
import type { EntryDraft } from "@branchlog/core";
import { SessionManager as OmpManager } from "@branchlog/agents/omp";
import { SessionManager as PiManager } from "@branchlog/agents/pi";

/** Cast: what a caller in JavaScript gives. */
const draftOf = (message: unknown): EntryDraft => ({ type: "message", message }) as EntryDraft;

const blocks = [{ type: "text", text: "Hi" }];
const spoken = (text: string): object => ({ toJSON: () => ({ role: "user", content: text }) });

const refusals: Readonly<Record<string, readonly [unknown, string]>> = {
  "it has no role": [{ content: "Hi" }, "role of a message must be a text"],
  "its role is a number": [{ role: 1, content: "Hi" }, "role of a message must be a text"],
  "its role is unknown": [{ role: "wizard", content: "Hi" }, 'The role "wizard" of a message'],
  "its role is misspelt": [{ role: "asistant", content: [] }, 'Did you mean "assistant"?'],
  "an assistant's content is a text": [
    { role: "assistant", content: "Hi" },
    "content of a message of the role assistant must be an array, not a string",
  ],
  "a tool's content is a text": [
    { role: "toolResult", toolCallId: "1", toolName: "x", content: "Hi", isError: false },
    "of the role toolResult must be an array, not a string",
  ],
  "its content is a number": [
    { role: "user", content: 1 },
    "a string or an array, not another value",
  ],
  "its content is null": [{ content: null, role: "user" }, "not another value"],
  "it has no content": [{ role: "user", text: "Hi" }, "but it is missing"],
  "only a nested object has content": [
    { role: "user", details: { content: "Hi" }, note: ',"content":"Hi"' },
    "but it is missing",
  ],
};

const accepted: Readonly<Record<string, unknown>> = {
  "a user with blocks": { role: "user", content: blocks },
  "an assistant": { role: "assistant", content: blocks },
  "an assistant whose role is last": { content: [], usage: { input: 1 }, role: "assistant" },
  "a tool with details before its content": {
    role: "toolResult",
    details: { content: "x" },
    content: blocks,
  },
  "a tool with an escaped name": { role: "toolResult", toolName: 'a "b"', content: blocks },
  "a system message": { role: "system", content: "You help." },
  "a message of an extension": { role: "custom", customType: "x", content: "Hi", display: true },
  "a command": { role: "bashExecution", command: "ls", output: "", cancelled: false },
  "a summary of a branch": { role: "branchSummary", summary: "s", fromId: "a" },
  "a summary": { role: "compactionSummary", summary: "s", tokensBefore: 1 },
  "a developer of omp": { role: "developer", content: "Hi" },
  "code of omp": { role: "pythonExecution", code: "1", output: "" },
  "mentions of omp": { role: "fileMention", files: [] },
  "a user whose toJSON returns it": spoken("Hi"),
};

describe("appending a message", () => {
  it.each(Object.entries(refusals))(
    "is rejected when %s, and nothing is written",
    async (_, [message, words]) => {
      const session = await memorySession({ cwd: "/w" });
      for (const append of [
        session.append(draftOf(message)),
        session.appendAll([draftOf({ role: "user", content: "Hi" }), draftOf(message)]),
      ]) {
        await expect(append).rejects.toMatchObject({
          code: "ERR_INVALID_ARGUMENT",
          message: expect.stringContaining(words) as unknown,
        });
      }
      expect(session.revision).toBe(0);
    },
  );

  it.each(Object.entries(accepted))("stores %s", async (_, message) => {
    const session = await memorySession({ cwd: "/w" });
    await session.append(draftOf(message));
    expect(session.revision).toBe(1);
  });

  it("stores an unknown role when allowUnknownType is true, but never a message without one", async () => {
    const session = await memorySession({ cwd: "/w" });
    await session.append(draftOf({ role: "wizard" }), { allowUnknownType: true });
    const without = session.append(draftOf({}), { allowUnknownType: true });
    await expect(without).rejects.toMatchObject({ code: "ERR_INVALID_ARGUMENT" });
    expect(session.revision).toBe(1);
  });
});

it("the drop-ins store what pi and omp store when a message has no role, or another", () => {
  for (const manager of [PiManager.inMemory("/w"), OmpManager.inMemory("/w")]) {
    for (const message of [{}, { role: "wizard" }, { role: "assistant", content: "Hi" }]) {
      // Cast: what a caller in JavaScript gives.
      manager.appendMessage(message as never);
    }
    expect(manager.getEntries()).toHaveLength(3);
  }
});
