/** What a context holds: the behaviours that the tests of pi assert, on paths in small trees. */
import { describe, expect, it } from "vitest";
import type { SessionEntry } from "@branchlog/core";
import { buildContext } from "../../../packages/core/src/projections/context.ts";
import { arrayPathView } from "../../../packages/core/src/projections/projection.ts";
import { countingView, pathTo, pathToLast } from "./naive-tree.ts";
import { assistant, compaction, contextEdit, stored, textsOf, user } from "./sample-entries.ts";
import { runs } from "../../support/fault-seed.ts";

const contextAt = (entries: readonly SessionEntry[], leaf: string) =>
  buildContext(pathTo(entries, leaf));
const rolesOf = (entries: readonly SessionEntry[]): string[] =>
  buildContext(pathToLast(entries)).messages.map((one) => one.role);

const fourTurns = [
  user("1", null, "one"),
  assistant("2", "1", "two"),
  user("3", "2", "three"),
  assistant("4", "3", "four"),
];

describe("a context without compaction", () => {
  it("is empty, off and without a model where there are no entries", () => {
    const context = buildContext(arrayPathView([]));
    expect(context).toEqual({ messages: [], thinkingLevel: "off", model: null });
  });

  it("holds a single user message", () => {
    const { messages } = buildContext(pathToLast([user("1", null, "hello")]));
    expect(messages).toEqual([{ role: "user", content: "hello", timestamp: 1 }]);
  });

  it("holds the roles of four turns in order", () => {
    expect(rolesOf(fourTurns)).toEqual(["user", "assistant", "user", "assistant"]);
  });

  it("tracks the thinking level without adding a message", () => {
    const level = stored("thinking_level_change", "2", "1", { thinkingLevel: "high" });
    const context = buildContext(pathToLast([user("1", null, "one"), level]));
    expect(context.thinkingLevel).toBe("high");
    expect(context.messages).toHaveLength(1);
  });

  it("takes the model from an assistant message", () => {
    const { model } = buildContext(pathToLast(fourTurns));
    expect(model).toEqual({ provider: "anthropic", modelId: "claude-test" });
  });

  it("lets an assistant message override an earlier model change", () => {
    const change = stored("model_change", "1", null, { provider: "openai", modelId: "gpt-4o" });
    expect(buildContext(arrayPathView([change])).model?.provider).toBe("openai");
    const { model } = buildContext(arrayPathView([change, assistant("2", "1", "two")]));
    expect(model?.provider).toBe("anthropic");
  });

  it("hands out stored messages by reference", () => {
    const { messages } = buildContext(pathToLast(fourTurns));
    const own = fourTurns.map((entry) => (entry.type === "message" ? entry.message : undefined));
    for (const [i, message] of messages.entries()) expect(message).toBe(own[i]);
  });
});

describe("a context with a compaction", () => {
  it("holds the summary first, then what was kept, then what came after", () => {
    const entries = [
      ...fourTurns,
      compaction("5", "4", "summary", "3"),
      user("6", "5", "six"),
      assistant("7", "6", "seven"),
    ];
    const { messages } = buildContext(pathToLast(entries));
    expect(textsOf(messages)).toEqual(["summary", "three", "four", "six", "seven"]);
    expect(messages[0]?.role).toBe("compactionSummary");
  });

  it("keeps everything if the first entry is the first kept one", () => {
    const entries = [...fourTurns, compaction("5", "4", "summary", "1")];
    const { messages } = buildContext(pathToLast(entries));
    expect(textsOf(messages)).toEqual(["summary", "one", "two", "three", "four"]);
  });

  it("follows only the latest of two", () => {
    const entries = [
      ...fourTurns,
      compaction("5", "4", "first summary", "3"),
      user("6", "5", "six"),
      assistant("7", "6", "seven"),
      compaction("8", "7", "second summary", "6"),
      user("9", "8", "nine"),
    ];
    const { messages } = buildContext(pathToLast(entries));
    expect(textsOf(messages)).toEqual(["second summary", "six", "seven", "nine"]);
  });

  it("still knows the settings from before it", () => {
    const entries = [
      stored("thinking_level_change", "0", null, { thinkingLevel: "low" }),
      assistant("1", "0", "one"),
      compaction("2", "1", "summary", "2"),
    ];
    const { thinkingLevel, model } = buildContext(pathToLast(entries));
    expect({ thinkingLevel, id: model?.modelId }).toEqual({
      thinkingLevel: "low",
      id: "claude-test",
    });
  });
});

describe("a context in a tree with branches", () => {
  const entries = [
    ...fourTurns,
    user("5", "2", "another way"),
    stored("branch_summary", "6", "2", { fromId: "4", summary: "tried one way" }),
    user("7", "6", "seven"),
    compaction("8", "4", "summary", "3"),
  ];

  it("is that of the given leaf", () => {
    expect(textsOf(contextAt(entries, "4").messages).at(-1)).toBe("four");
    expect(textsOf(contextAt(entries, "5").messages).at(-1)).toBe("another way");
  });

  it("holds a branch summary where it is on the path", () => {
    const { messages } = contextAt(entries, "7");
    expect(textsOf(messages)).toEqual(["one", "two", "tried one way", "seven"]);
    expect(messages[2]?.role).toBe("branchSummary");
  });

  it("is affected by a compaction on its own branch only", () => {
    expect(textsOf(contextAt(entries, "8").messages)).toEqual(["summary", "three", "four"]);
    expect(textsOf(contextAt(entries, "7").messages)).not.toContain("summary");
  });

  it("says where it is truncated if a parent is missing", () => {
    const orphans = [user("1", null, "one"), user("2", "lost", "two"), user("3", "2", "three")];
    const context = contextAt(orphans, "3");
    expect(textsOf(context.messages)).toEqual(["two", "three"]);
    expect(context.truncatedAt).toBe("lost");
    expect(contextAt(orphans, "1")).not.toHaveProperty("truncatedAt");
  });
});

describe("the cost of a context", () => {
  it("is that of the bodies that speak to a model, and of those that hold the settings", () => {
    const entries = [
      stored("thinking_level_change", "0", null, { thinkingLevel: "low" }),
      ...[1, 2, 3, 4, 5].map((n) => user(`${n}`, `${n - 1}`, "summarised")),
      compaction("6", "5", "older summary", "5"),
      assistant("7", "6", "kept"),
      stored("custom", "8", "7", { customType: "state", data: {} }),
      compaction("9", "8", "summary", "6"),
      stored("label", "10", "9", { targetId: "7", label: "here" }),
      contextEdit("11", "10", "7", { content: "edited" }),
    ];
    const { view, loaded } = countingView(pathToLast(entries));
    expect(textsOf(buildContext(view).messages)).toEqual(["summary", "edited"]);
    const [level, kept, last, edit] = [0, 7, 9, 11];
    expect(new Set(loaded)).toEqual(new Set([level, kept, last, edit]));
  });

  const count = runs(200_000, 1_000_000);

  it(`stays linear on a path of ${count} entries`, () => {
    const entries = Array.from({ length: count }, (_, i) =>
      i === 0.9 * count
        ? compaction(`${i}`, null, "summary", `${count / 2}`)
        : user(`${i}`, null, "text"),
    );
    const { messages, truncatedAt } = buildContext(arrayPathView(entries, "lost"));
    expect(messages).toHaveLength(count / 2);
    expect(messages[0]).toMatchObject({ role: "compactionSummary", summary: "summary" });
    expect(truncatedAt).toBe("lost");
  });
});
