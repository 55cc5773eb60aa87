/** Appending, walking and moving in the tree: what pi's own tests assert of it. */
import { describe, expect, it } from "vitest";
import { answer, idsOf, inMemory, say } from "./managers.ts";
import { usageOf } from "../../core/projections/sample-entries.ts";

describe("appending", () => {
  it("chains messages: parent null, then the entry before", () => {
    const manager = inMemory();
    const ids = [say(manager, "1"), answer(manager, "2"), say(manager, "3")];
    const entries = manager.getEntries();
    expect(idsOf(entries)).toEqual(ids);
    expect(entries.map(({ type }) => type)).toEqual(["message", "message", "message"]);
    expect(entries.map(({ parentId }) => parentId)).toEqual([null, ids[0], ids[1]]);
  });

  it("puts every type of entry into the chain and hands it out as it was given", () => {
    const manager = inMemory();
    const usage = usageOf(1, 2);
    const first = say(manager, "1");
    const ids = [
      first,
      manager.appendThinkingLevelChange("high"),
      manager.appendModelChange("openai", "gpt-4"),
      manager.appendCompaction("summary", first, 1000, { a: 1 }, true, usage),
      manager.appendCustomEntry("my-data", { key: "value" }),
      manager.appendCustomEntry("bare"),
      manager.appendCustomMessageEntry("note", "text", false, { b: 2 }),
      manager.appendSessionInfo(" a\r\nname "),
      manager.appendUsage("cache_warming", "anthropic", "claude", usage, "why").id,
      manager.appendContextEdit(first, { content: "edited" }),
      answer(manager, "2"),
    ];
    const entries = manager.getEntries();
    expect(idsOf(entries)).toEqual(ids);
    expect(entries.map(({ parentId }) => parentId)).toEqual([null, ...ids.slice(0, -1)]);
    expect(entries.slice(1, -1)).toMatchObject([
      { thinkingLevel: "high" },
      { provider: "openai", modelId: "gpt-4" },
      { summary: "summary", firstKeptEntryId: first, tokensBefore: 1000, details: { a: 1 }, usage },
      { type: "custom", customType: "my-data", data: { key: "value" } },
      { type: "custom", customType: "bare" },
      { customType: "note", content: "text", display: false, details: { b: 2 } },
      { type: "session_info", name: "a name" },
      { kind: "cache_warming", provider: "anthropic", model: "claude", usage, note: "why" },
      { targetId: first, replacement: { content: "edited" } },
    ]);
    expect(manager.getEntryCount()).toBe(ids.length);
  });

  it("returns the whole entry for a usage", () => {
    const manager = inMemory();
    const entry = manager.appendUsage("cache_warming", "p", "m", usageOf(1, 2));
    expect(entry).toEqual(manager.getEntries()[0]);
    expect(Object.keys(entry)).toEqual(
      "type id parentId timestamp kind provider model usage".split(" "),
    );
  });

  it("takes an empty note of a usage for none", () => {
    const manager = inMemory();
    const entry = manager.appendUsage("cache_warming", "p", "m", usageOf(1, 2), "");
    expect(Object.keys(entry)).not.toContain("note");
  });

  it("stores the compaction's own id if nothing is kept", () => {
    const manager = inMemory();
    say(manager, "1");
    const id = manager.appendCompaction("all of it", null, 10);
    expect(manager.getEntry(id)).toMatchObject({ firstKeptEntryId: id });
    expect(manager.buildContextEntries()).toHaveLength(1);
  });

  it("keeps a custom entry out of the context", () => {
    const manager = inMemory();
    const first = say(manager, "hello");
    const custom = manager.appendCustomEntry("my_data", { foo: "bar" });
    const last = answer(manager, "hi");
    expect(manager.getEntry(last)?.parentId).toBe(custom);
    expect(idsOf(manager.getBranch())).toEqual([first, custom, last]);
    expect(manager.buildSessionContext().messages).toHaveLength(2);
  });
});

describe("the leaf", () => {
  it("is null at first, then each appended entry", () => {
    const manager = inMemory();
    expect(manager.getLeafId()).toBeNull();
    expect(manager.getLeafEntry()).toBeUndefined();
    expect(manager.getLeafId()).toBe(null);
    expect(say(manager, "1")).toBe(manager.getLeafId());
    expect(manager.appendThinkingLevelChange("low")).toBe(manager.getLeafId());
    expect(manager.getLeafEntry()).toMatchObject({ thinkingLevel: "low" });
  });

  it("moves to the entry that is branched from, and the next entry is attached there", () => {
    const manager = inMemory();
    const first = say(manager, "1");
    const second = answer(manager, "2");
    say(manager, "3");
    manager.branch(second);
    expect(manager.getLeafId()).toBe(second);
    const other = say(manager, "3b");
    expect(manager.getEntry(other)?.parentId).toBe(second);
    expect(idsOf(manager.getBranch())).toEqual([first, second, other]);
  });

  it("goes before the first entry, and the next one is another root", () => {
    const manager = inMemory();
    say(manager, "1");
    manager.resetLeaf();
    expect(manager.getLeafId()).toBeNull();
    expect(manager.getBranch()).toEqual([]);
    expect(manager.buildSessionContext()).toEqual({
      messages: [],
      thinkingLevel: "off",
      model: null,
    });
    expect(manager.getEntry(say(manager, "2"))?.parentId).toBeNull();
    expect(manager.getTree()).toHaveLength(2);
  });

  it.each(["branch", "branchWithSummary", "appendLabelChange", "createBranchedSession"] as const)(
    "does not move when %s is given an unknown id",
    (method) => {
      const manager = inMemory();
      const leaf = say(manager, "1");
      const error = { code: "ERR_ENTRY_NOT_FOUND", message: "Entry nonexistent not found" };
      expect(() => manager[method]("nonexistent", "text")).toThrow(expect.objectContaining(error));
      expect([manager.getLeafId(), manager.getEntryCount()]).toEqual([leaf, 1]);
    },
  );
});

describe("a summary of the branch that is left", () => {
  it("is attached to the new leaf and names the leaf that was left", () => {
    const manager = inMemory();
    const first = say(manager, "1");
    const left = answer(manager, "2");
    const usage = usageOf(3, 4);
    const id = manager.branchWithSummary(first, "tried A", { files: [] }, true, usage);
    expect(manager.getLeafId()).toBe(id);
    // Since pi 0.84.3; before, fromId was the entry that was gone to.
    expect(manager.getEntry(id)).toMatchObject({
      type: "branch_summary",
      parentId: first,
      fromId: left,
      summary: "tried A",
      details: { files: [] },
      fromHook: true,
      usage,
    });
  });

  it("can be a new root, and says root where nothing was left", () => {
    const manager = inMemory();
    say(manager, "1");
    manager.resetLeaf();
    const id = manager.branchWithSummary(null, "from nothing");
    expect(manager.getEntry(id)).toMatchObject({ parentId: null, fromId: "root" });
  });
});

describe("branches", () => {
  it("are empty without entries, for unknown ids and for an empty id", () => {
    const manager = inMemory();
    expect(manager.getBranch()).toEqual([]);
    say(manager, "1");
    expect(manager.getBranch("unknown")).toEqual([]);
    expect(manager.getBranch("")).toEqual([]);
  });

  it("lead from the root to the leaf, or to a given entry", () => {
    const manager = inMemory();
    const ids = [say(manager, "1"), manager.appendThinkingLevelChange("high"), say(manager, "2")];
    expect(idsOf(manager.getBranch())).toEqual(ids);
    expect(idsOf(manager.getBranch(ids[1]))).toEqual(ids.slice(0, 2));
  });
});

describe("the tree", () => {
  it("is empty without entries", () => {
    expect(inMemory().getTree()).toEqual([]);
  });

  it("of a chain is one root with nested single children", () => {
    const manager = inMemory();
    const ids = [say(manager, "1"), answer(manager, "2"), say(manager, "3")];
    let nodes = manager.getTree();
    for (const id of ids) {
      expect(nodes).toHaveLength(1);
      expect(nodes[0]?.entry.id).toBe(id);
      nodes = nodes[0]?.children ?? [];
    }
    expect(nodes).toEqual([]);
  });

  it("has siblings where branches part, at every level", () => {
    const manager = inMemory();
    const first = say(manager, "1");
    const second = answer(manager, "2");
    const texts = ["3a", "3b", "3c"].map((text) => {
      manager.branch(second);
      return say(manager, text);
    });
    const nested = [answer(manager, "4")];
    manager.branch(texts[2] ?? "");
    nested.push(answer(manager, "4b"));
    const [root] = manager.getTree();
    const [below] = root?.children ?? [];
    expect([root?.entry.id, below?.entry.id]).toEqual([first, second]);
    expect(below?.children.map(({ entry }) => entry.id)).toEqual(texts);
    expect(below?.children.map(({ children }) => children.length)).toEqual([0, 0, 2]);
    expect(idsOf(manager.getChildren(second))).toEqual(texts);
    expect(idsOf(manager.getChildren(texts[2] ?? ""))).toEqual(nested);
    expect(idsOf(manager.getChildren(null))).toEqual([first]);
    expect(manager.getChildren("unknown")).toEqual([]);
  });

  it("finds entries by id, and nothing for an unknown one", () => {
    const manager = inMemory();
    const id = say(manager, "first");
    expect(manager.getEntry("nonexistent")).toBeUndefined();
    expect(manager.getEntry(id)).toMatchObject({ message: { role: "user", content: "first" } });
  });
});

describe("labels", () => {
  it("are set by entries of their own, and the last one wins", () => {
    const manager = inMemory();
    const target = say(manager, "1");
    expect(manager.getLabel(target)).toBeUndefined();
    const labelId = manager.appendLabelChange(target, "first");
    expect(manager.getLabel(target)).toBe("first");
    expect(manager.getLeafEntry()).toEqual({
      type: "label",
      id: labelId,
      parentId: target,
      timestamp: "2026-01-01T00:00:00.000Z",
      targetId: target,
      label: "first",
    });
    manager.appendLabelChange(target, "second");
    expect(manager.getLabel(target)).toBe("second");
  });

  it.each([undefined, ""])("are cleared by %j", (cleared) => {
    const manager = inMemory();
    const target = say(manager, "1");
    manager.appendLabelChange(target, "checkpoint");
    manager.appendLabelChange(target, cleared);
    expect(manager.getLabel(target)).toBeUndefined();
    expect(manager.getTree()[0]?.label).toBeUndefined();
  });

  it("are on the nodes of the tree, with the time at which they were set", () => {
    const manager = inMemory();
    const ids = [say(manager, "1"), answer(manager, "2")];
    manager.appendLabelChange(ids[0] ?? "", "start");
    const [root] = manager.getTree();
    expect(Object.keys(root ?? {})).toEqual(["entry", "children", "label", "labelTimestamp"]);
    expect(root).toMatchObject({ label: "start", labelTimestamp: "2026-01-01T00:00:00.000Z" });
    expect(root?.children[0]?.label).toBeUndefined();
  });

  it("add nothing to the context", () => {
    const manager = inMemory();
    const target = say(manager, "1");
    manager.appendLabelChange(target, "checkpoint");
    expect(manager.buildSessionContext().messages).toHaveLength(1);
  });
});

describe("the name", () => {
  it("is the one set last anywhere in the tree, and an empty one clears it", () => {
    const manager = inMemory();
    const first = say(manager, "1");
    expect(manager.getSessionName()).toBeUndefined();
    manager.appendSessionInfo("one");
    manager.branch(first);
    expect(manager.getSessionName()).toBe("one");
    manager.appendSessionInfo("two\nlines");
    expect(manager.getSessionName()).toBe("two lines");
    // Since pi 0.59; before, an empty name was ignored.
    manager.appendSessionInfo("  ");
    expect(manager.getSessionName()).toBeUndefined();
  });
});
