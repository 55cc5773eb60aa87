/** What the model gets: what pi's own tests assert of managers and of the functions over arrays. */
import { describe, expect, it } from "vitest";
import {
  buildContextEntries,
  buildSessionContext,
  buildSessionProjection,
  getLatestCompactionEntry,
  sessionEntryToContextMessages,
} from "@branchlog/agents/pi";
import type { SessionEntry } from "@branchlog/agents/pi";
import {
  assistant,
  assistantMessage,
  compaction,
  contextEdit,
  stored,
  textsOf,
  user,
} from "../../core/projections/sample-entries.ts";
import { answer, inMemory, say } from "./managers.ts";

const empty = { messages: [], thinkingLevel: "off", model: null };
const fourTurns = [user("1", null, "a"), assistant("2", "1", "b"), user("3", "2", "c")];
const texts = (entries: readonly SessionEntry[], leafId?: string | null): string[] =>
  textsOf(buildSessionContext(entries, leafId).messages);

/** The same entries through a manager: the two ways must agree everywhere. */
function bothWays(entries: readonly SessionEntry[], leafId?: string): string[] {
  const manager = inMemory(entries);
  if (leafId !== undefined) manager.branch(leafId);
  const viaManager = textsOf(manager.buildSessionContext().messages);
  expect(texts(entries, leafId)).toEqual(viaManager);
  expect(buildContextEntries(entries, leafId)).toEqual(manager.buildContextEntries());
  expect(buildSessionProjection(entries, leafId)).toEqual(manager.buildSessionProjection());
  return viaManager;
}

describe("the context", () => {
  it("is empty without entries, and before the first one", () => {
    expect(buildSessionContext([])).toEqual(empty);
    expect(buildSessionContext(fourTurns, null)).toEqual(empty);
    expect(inMemory().buildSessionContext()).toEqual(empty);
  });

  it("holds the messages of the path in order", () => {
    expect(bothWays([user("1", null, "hello")])).toEqual(["hello"]);
    expect(bothWays(fourTurns)).toEqual(["a", "b", "c"]);
  });

  it("tracks the thinking level without a message", () => {
    const entries = [
      user("1", null, "a"),
      stored("thinking_level_change", "2", "1", { thinkingLevel: "high" }),
      assistant("3", "2", "b"),
    ];
    expect(bothWays(entries)).toHaveLength(2);
    expect(inMemory(entries).buildSessionContext().thinkingLevel).toBe("high");
  });

  it("takes the model from whichever is later, an answer or a change", () => {
    const change = stored("model_change", "2", "1", { provider: "openai", modelId: "gpt" });
    const changed = [user("1", null, "a"), change];
    expect(buildSessionContext(changed).model).toEqual({ provider: "openai", modelId: "gpt" });
    const answered = [...changed, assistant("3", "2", "b")];
    expect(buildSessionContext(answered).model).toEqual({
      provider: "anthropic",
      modelId: "claude-test",
    });
  });

  it("of an unknown or empty leaf is that of the last entry", () => {
    expect(texts(fourTurns, "unknown")).toEqual(["a", "b", "c"]);
    expect(texts(fourTurns, "")).toEqual(["a", "b", "c"]);
    expect(texts(fourTurns, "2")).toEqual(["a", "b"]);
  });

  it("of an orphan holds only what is left of its path", () => {
    expect(bothWays([user("1", null, "a"), user("2", "missing", "orphan")])).toEqual(["orphan"]);
  });

  it("has pi's three fields only", () => {
    const manager = inMemory([user("1", null, "a"), user("2", "missing", "orphan")]);
    expect(Object.keys(manager.buildSessionContext())).toEqual([
      "messages",
      "thinkingLevel",
      "model",
    ]);
  });
});

describe("a compaction", () => {
  const compacted = [
    ...fourTurns,
    assistant("4", "3", "d"),
    compaction("5", "4", "summary", "3"),
    user("6", "5", "e"),
    assistant("7", "6", "f"),
  ];

  it("puts its summary first, then what it keeps, then what came after", () => {
    expect(bothWays(compacted)).toEqual(["summary", "c", "d", "e", "f"]);
  });

  it("may keep everything", () => {
    const all = compacted.map((entry) =>
      entry.type === "compaction" ? { ...entry, firstKeptEntryId: "1" } : entry,
    );
    expect(bothWays(all)).toEqual(["summary", "a", "b", "c", "d", "e", "f"]);
  });

  it("counts only if it is the last one on the path", () => {
    const twice = [...compacted, compaction("8", "7", "second", "6"), user("9", "8", "g")];
    expect(bothWays(twice)).toEqual(["second", "e", "f", "g"]);
    expect(getLatestCompactionEntry(twice)?.id).toBe("8");
    expect(getLatestCompactionEntry(fourTurns)).toBeNull();
  });

  it("affects its own branch only", () => {
    const other = [
      ...compacted,
      stored("branch_summary", "8", "3", { fromId: "7", summary: "left behind" }),
      user("9", "8", "other"),
    ];
    expect(bothWays(other, "9")).toEqual(["a", "b", "c", "left behind", "other"]);
    expect(bothWays(other, "7")).toEqual(["summary", "c", "d", "e", "f"]);
  });

  it("stores the system messages in force, folded into one", () => {
    const manager = inMemory();
    manager.appendMessage({ role: "system", content: "be brief", timestamp: 1 });
    const kept = say(manager, "a");
    manager.appendMessage({ role: "system", content: "be kind", timestamp: 2 });
    const id = manager.appendCompaction("summary", kept, 10);
    const entry = manager.getEntry(id);
    expect(entry).toMatchObject({
      systemMessage: {
        role: "system",
        content: "be brief\n\nbe kind",
        timestamp: Date.parse(entry?.timestamp ?? ""),
      },
    });
    expect(textsOf(manager.buildSessionContext().messages)).toEqual([
      "be brief\n\nbe kind",
      "summary",
      "a",
    ]);
  });

  it("has no system message where there is none", () => {
    const manager = inMemory();
    const kept = say(manager, "a");
    const entry = manager.getEntry(manager.appendCompaction("summary", kept, 10));
    expect(Object.keys(entry ?? {})).not.toContain("systemMessage");
  });
});

describe("a context edit", () => {
  it("changes what the model sees, and leaves the entry as it is", () => {
    const manager = inMemory();
    const target = say(manager, "original");
    const entry = structuredClone(manager.getEntry(target));
    manager.appendContextEdit(target, { content: "edited" });
    expect(textsOf(manager.buildSessionContext().messages)).toEqual(["edited"]);
    expect(manager.getEntry(target)).toEqual(entry);
  });

  it("of null hides the entry from the context", () => {
    const manager = inMemory();
    const target = say(manager, "a");
    answer(manager, "b");
    manager.appendContextEdit(target, null);
    expect(textsOf(manager.buildSessionContext().messages)).toEqual(["b"]);
    const { entries } = manager.buildSessionProjection();
    expect(entries[0]).toMatchObject({ sourceEntry: { id: target }, messages: [] });
  });

  it("is gone on a branch that leaves before it", () => {
    const manager = inMemory();
    const target = say(manager, "original");
    manager.appendContextEdit(target, { content: "edited" });
    manager.branch(target);
    expect(textsOf(manager.buildSessionContext().messages)).toEqual(["original"]);
  });

  it("turns text into a block where content is a list, in the entry too", () => {
    const manager = inMemory();
    const target = answer(manager, "b");
    const edit = manager.appendContextEdit(target, { content: "edited" });
    const replacement = { content: [{ type: "text", text: "edited" }] };
    expect(manager.getEntry(edit)).toMatchObject({ replacement });
    const [message] = manager.buildSessionContext().messages;
    expect(message).toEqual({
      ...assistantMessage("b"),
      content: [{ type: "text", text: "edited" }],
    });
  });

  it.each([
    ["something else", { content: 5 }, "must be null or contain string/array content"],
    ["an unknown target", null, "Entry unknown not found"],
  ])("refuses %s", (_what, replacement, message) => {
    const manager = inMemory();
    say(manager, "a");
    // Past the types, as JavaScript callers may.
    const edit = (): string => manager.appendContextEdit("unknown", replacement as never);
    expect(edit).toThrow(message);
    expect(manager.getEntryCount()).toBe(1);
  });

  it("refuses targets on other branches, and targets without content", () => {
    const manager = inMemory();
    const first = say(manager, "a");
    const other = answer(manager, "b");
    manager.branch(first);
    const custom = manager.appendCustomEntry("x");
    expect(() => manager.appendContextEdit(other, null)).toThrow(
      `Entry ${other} is not on the active branch`,
    );
    expect(() => manager.appendContextEdit(custom, null)).toThrow(
      `Entry ${custom} does not contribute editable model content`,
    );
  });
});

describe("functions over arrays", () => {
  it("take the entries by id where a caller has them", () => {
    const byId = new Map(fourTurns.map((entry) => [entry.id, entry]));
    expect(textsOf(buildSessionContext(fourTurns, "2", byId).messages)).toEqual(["a", "b"]);
  });

  it("end on cycles and self-parents (Verifies: P18)", () => {
    const cycle = [user("1", "2", "a"), user("2", "1", "b"), user("3", "3", "c")];
    expect(texts(cycle)).toEqual(["c"]);
    expect(texts(cycle, "2")).toEqual(["a", "b"]);
  });

  it("build a path of 100,000 entries (Verifies: P18)", () => {
    const chain = Array.from({ length: 100_000 }, (_, i) =>
      user(`${i}`, i === 0 ? null : `${i - 1}`, `${i}`),
    );
    expect(buildSessionContext(chain).messages).toHaveLength(100_000);
  });

  it("hide a malformed body instead of failing, as pi does not", () => {
    const entries = [user("1", null, "a"), stored("message", "2", "1", { message: null })];
    expect(texts(entries)).toEqual(["a"]);
    expect(entries.flatMap((entry) => sessionEntryToContextMessages(entry))).toHaveLength(1);
    const manager = inMemory(entries);
    manager.buildSessionContext();
    expect(manager.getDiagnostics()).toMatchObject([{ kind: "malformed-body", id: "2" }]);
  });

  it("edits apply in projections as in contexts", () => {
    const edited = [...fourTurns, contextEdit("4", "3", "1", { content: "edited" })];
    expect(bothWays(edited)).toEqual(["edited", "b", "c"]);
  });
});
