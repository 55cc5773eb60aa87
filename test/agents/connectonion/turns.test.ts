/** The turns of a path: what belongs to one, what it took, and what was said about it. */
import { describe, expect, it } from "vitest";
import type { AgentMessage, SessionEntry } from "@branchlog/core";
import { turnNotesIn, turnTotals, turnsOfEntries } from "@branchlog/agents/connectonion";
import {
  assistant,
  assistantMessage,
  compaction,
  message,
  stored,
  usageOf,
  user,
} from "../../core/projections/sample-entries.ts";

const note = (targetId: unknown, fields: unknown): SessionEntry =>
  stored("custom", "n", null, { customType: "branchlog.turn", data: { targetId, fields } });

const at = (entry: SessionEntry, timestamp: string): SessionEntry => ({ ...entry, timestamp });

describe("the turns of a path", () => {
  it("start at each user message, with prompt, answer and usage", () => {
    const call = {
      type: "toolCall",
      id: "c",
      name: "run",
      arguments: { command: "ls -la" },
    } as const;
    const answered = (content: object[], model: string): AgentMessage => {
      const usage = usageOf(10, 5, 0.25);
      // Past what the types allow to say so shortly.
      return { ...assistantMessage(""), content, model, usage } as AgentMessage;
    };
    const path = [
      assistant("a0", null, "before any turn"),
      at(user("u1", "a0", "one"), "2025-06-03T09:00:00.000Z"),
      at(
        message("a1", "u1", answered([{ type: "text", text: "Looking." }, call], "first")),
        "2025-06-03T09:00:01.000Z",
      ),
      at(message("a2", "a1", answered([call], "second")), "2025-06-03T09:00:02.500Z"),
      at(stored("label", "l", "a2", { targetId: "u1", label: "x" }), "2025-06-04T09:00:00.000Z"),
      at(user("u2", "l", "two"), "2025-06-05T09:00:00.000Z"),
    ];
    expect(turnsOfEntries(path)).toEqual([
      {
        turn: 1,
        input: "one",
        result: "Looking.",
        model: "anthropic/second",
        duration_ms: 2500,
        tokens: 30,
        cost: 0.5,
        tools_called: ["run(command='ls -la')", "run(command='ls -la')"],
        timestamp: "2025-06-03T09:00:00.000Z",
        entryId: "u1",
        cache_read_tokens: 0,
        cache_write_tokens: 0,
        errors: 0,
        files: [],
        fields: {},
      },
      {
        turn: 2,
        input: "two",
        result: "",
        model: "",
        duration_ms: 0,
        tokens: 0,
        cost: 0,
        tools_called: [],
        timestamp: "2025-06-05T09:00:00.000Z",
        entryId: "u2",
        cache_read_tokens: 0,
        cache_write_tokens: 0,
        errors: 0,
        files: [],
        fields: {},
      },
    ]);
  });

  it("are complete when the path was compacted", () => {
    const path = [
      user("u1", null, "one"),
      assistant("a1", "u1", "first"),
      compaction("c", "a1", "what was", "c"),
      user("u2", "c", "two"),
    ];
    expect(turnsOfEntries(path).map(({ input }) => input)).toEqual(["one", "two"]);
  });

  it("have their notes, the later ones first, key by key", () => {
    const notes = turnNotesIn([
      note("u1", { expected: "a", passed: false, grade: 1 }),
      note("u2", { passed: "yes" }),
      note("u1", { passed: true }),
      note("u1", null),
      note(5, { passed: false }),
      stored("custom", "n", null, { customType: "other", data: { targetId: "u1", fields: {} } }),
    ]);
    const turns = turnsOfEntries([user("u1", null, "one"), user("u2", "u1", "two")], notes);
    expect(turns[0]).toMatchObject({
      expected: "a",
      passed: true,
      fields: { expected: "a", passed: true, grade: 1 },
    });
    expect(turns[1]).not.toHaveProperty("passed");
    expect(turnTotals(turns)).toEqual({
      count: 2,
      total_tokens: 0,
      total_cache_read_tokens: 0,
      total_cache_write_tokens: 0,
      total_cost: 0,
      passed: 1,
      failed: 0,
    });
  });

  it("end at their last message, and never have a negative duration", () => {
    const result = { role: "toolResult", toolCallId: "c", content: [] };
    const path = [
      at(user("u1", null, "one"), "2025-06-03T09:00:00.000Z"),
      at(stored("message", "t", "u1", { message: result }), "2025-06-03T09:00:03.000Z"),
      at(
        stored("message", "b", "t", { message: { role: "bashExecution" } }),
        "2025-06-03T10:00:00.000Z",
      ),
      at(assistant("a", "b", "when?"), "some time"),
      at(user("u2", "a", "two"), "2025-06-03T09:00:00.000Z"),
      at(assistant("a2", "u2", "by a clock set back"), "2025-06-03T08:00:00.000Z"),
    ];
    expect(turnsOfEntries(path).map((turn) => turn.duration_ms)).toEqual([3000, 0]);
  });

  it("take their text from their first message, and not from other types", () => {
    const body = { role: "user", content: "not a message" };
    const odd = (id: string, parentId: string, role: unknown): SessionEntry =>
      stored("message", id, parentId, { message: { role, content: "other" } });
    const path = [
      user("u1", null, "one"),
      stored("custom_message", "c", "u1", { message: body }),
      stored("custom_message", "d", "c", { message: { ...body, role: "assistant" } }),
      odd("r", "d", ["user"]),
      odd("u1", "r", "system"),
      { ...user("u3", "r", "two"), timestamp: 5 } as unknown as SessionEntry,
    ];
    const turns = turnsOfEntries(path);
    expect(turns.map(({ input, result }) => [input, result])).toEqual([
      ["one", ""],
      ["two", ""],
    ]);
    expect(turns[1]?.timestamp).toBe("");
  });

  it("add up their usage and the number of passed ones", () => {
    const notes = turnNotesIn([
      note("u1", { passed: true, expected: 5 }),
      note("u2", { passed: false }),
    ]);
    const answer = (id: string, parentId: string): SessionEntry => {
      const usage = usageOf(10, 5, 0.25);
      return message(id, parentId, { ...assistantMessage("x"), usage } as AgentMessage);
    };
    const path = [
      user("u1", null, "one"),
      answer("a1", "u1"),
      user("u2", "a1", "two"),
      answer("a2", "u2"),
      user("u3", "a2", "three"),
    ];
    const turns = turnsOfEntries(path, notes);
    expect(turns[0]).not.toHaveProperty("expected");
    expect(turnTotals(turns)).toEqual({
      count: 3,
      total_tokens: 30,
      total_cache_read_tokens: 0,
      total_cache_write_tokens: 0,
      total_cost: 0.5,
      passed: 1,
      failed: 1,
    });
  });

  it("are read from messages of any shape", () => {
    const odd = (id: string, body: unknown): SessionEntry =>
      stored("message", id, null, { message: body });
    const turns = turnsOfEntries([
      odd("u1", { role: "user" }),
      odd("x", null),
      odd("a1", {
        role: "assistant",
        content: "as text",
        provider: 5,
        model: "only",
        usage: { input: "many" },
      }),
      odd("a2", { role: "assistant", content: [null, { type: "toolCall" }, { type: "text" }] }),
      odd("a3", { role: "assistant", usage: { input: 1, cost: null } }),
      odd("t", { role: "toolResult" }),
      odd("u2", {
        role: "user",
        content: [
          { type: "text", text: "a" },
          { type: "text", text: "b" },
        ],
      }),
    ]);
    expect(turns).toMatchObject([
      { input: "", result: "as text", model: "only", tokens: 1, tools_called: ["()"] },
      { input: "a\nb" },
    ]);
  });
});
