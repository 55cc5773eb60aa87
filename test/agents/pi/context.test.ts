/** What the model gets: as pi's own tests assert it, and kept between two questions. */
import { describe, expect, it } from "vitest";
import {
  buildContextEntries,
  buildSessionContext,
  buildSessionProjection,
  getLatestCompactionEntry,
  sessionEntryToContextMessages,
} from "@branchlog/agents/pi";
import type { SessionEntry, SessionManager } from "@branchlog/agents/pi";
import {
  assistant,
  assistantMessage,
  compaction,
  stored,
  textsOf,
  user,
} from "../../core/projections/sample-entries.ts";
import { answer, inMemory, say, directory, inMemoryFiles } from "./managers.ts";
import * as fc from "fast-check";
import { decodeCounter } from "@branchlog/streaming";
import { managersWith } from "../../../packages/agents/src/pi/session-manager.ts";

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

  it("of an unknown or empty leaf is that of the last entry", () => {
    expect(texts(fourTurns, "unknown")).toEqual(["a", "b", "c"]);
    expect(texts(fourTurns, "")).toEqual(["a", "b", "c"]);
    expect(texts(fourTurns, "2")).toEqual(["a", "b"]);
  });

  it("has only pi's three fields", () => {
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

  it("counts only if it is the last one on the path", () => {
    const twice = [...compacted, compaction("8", "7", "second", "6"), user("9", "8", "g")];
    expect(bothWays(twice)).toEqual(["second", "e", "f", "g"]);
    expect(getLatestCompactionEntry(twice)?.id).toBe("8");
    expect(getLatestCompactionEntry(fourTurns)).toBeNull();
  });

  it("stores the effective system messages, folded into one", () => {
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

  it("has no system message without one", () => {
    const manager = inMemory();
    const kept = say(manager, "a");
    const entry = manager.getEntry(manager.appendCompaction("summary", kept, 10));
    expect(Object.keys(entry ?? {})).not.toContain("systemMessage");
  });
});

describe("a context edit", () => {
  it("turns text into a block when content is an array, in the entry too", () => {
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
  ])("rejects %s", (_what, replacement, message) => {
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
  it("use the caller's map of entries by id", () => {
    const byId = new Map(fourTurns.map((entry) => [entry.id, entry]));
    expect(textsOf(buildSessionContext(fourTurns, "2", byId).messages)).toEqual(["a", "b"]);
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
});

const json = (value: unknown): string => JSON.stringify(value);

/** What the context builder makes of the same entries, without anything kept. */
function anew(manager: SessionManager): string {
  return json(buildSessionContext(manager.getEntries(), manager.getLeafId()));
}

type Move = (manager: SessionManager, ids: readonly string[]) => void;
const pick = (ids: readonly string[], n: number): string => ids[n % ids.length] ?? "";

const move: fc.Arbitrary<Move> = fc.nat().chain((n) =>
  fc.constantFrom<Move>(
    (manager) => say(manager, `${n}`),
    (manager) => answer(manager, `${n}`),
    (manager) => manager.appendMessage({ role: "system", content: `${n}`, timestamp: n }),
    (manager) => manager.appendModelChange("p", `m${n}`),
    (manager) => manager.appendThinkingLevelChange(`t${n}`),
    (manager) => manager.appendCustomEntry("x", n),
    (manager) => manager.appendCustomMessageEntry("x", `${n}`, true),
    (manager, ids) => ids.length > 0 && manager.appendLabelChange(pick(ids, n), "l"),
    (manager, ids) => manager.appendCompaction("s", n % 4 === 0 ? null : pick(ids, n), n),
    (manager, ids) => ids.length > 0 && manager.branch(pick(ids, n)),
    (manager, ids) => ids.length > 0 && manager.branchWithSummary(pick(ids, n), `${n}`),
    (manager) => manager.resetLeaf(),
    (manager) => {
      const { entries } = manager.buildSessionProjection();
      const target = entries.find(({ sourceEntry: { type } }) => type === "custom_message");
      if (target) manager.appendContextEdit(target.sourceEntry.id, n % 2 ? null : { content: "e" });
    },
  ),
);

describe("the kept context", () => {
  it("equals a rebuilt one after any appends and moves (Verifies: P15)", () => {
    fc.assert(
      fc.property(fc.array(move, { maxLength: 40 }), (moves) => {
        const manager = inMemory();
        for (const one of moves) {
          one(
            manager,
            manager.getEntries().map(({ id }) => id),
          );
          expect(json(manager.buildSessionContext())).toBe(anew(manager));
        }
      }),
      { numRuns: 100 },
    );
  });

  it("equals a rebuilt one when others append as well (Verifies: P15)", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), move), { maxLength: 30 }), (moves) => {
        const { managers } = inMemoryFiles();
        const one = managers.create("/work", directory);
        say(one, "first");
        const both = [one, managers.open(one.getSessionFile() ?? "")];
        for (const [isOther, act] of moves) {
          const manager = both[isOther ? 1 : 0] ?? one;
          act(
            manager,
            manager.getEntries().map(({ id }) => id),
          );
          for (const each of both) expect(json(each.buildSessionContext())).toBe(anew(each));
        }
      }),
      { numRuns: 50 },
    );
  });

  it("detects a parent that comes later, and an id that is reused", () => {
    const { managers, fs } = inMemoryFiles();
    const header = { type: "session", version: 3, id: "s", timestamp: "", cwd: "/w" };
    const write = (...records: readonly unknown[]): void =>
      fs.writeFileSync("/s.jsonl", Buffer.from(records.map((one) => `${json(one)}\n`).join("")));
    const records = [header, user("b", "a", "child"), user("c", "b", "leaf")];
    write(...records);
    const manager = managers.open("/s.jsonl");
    expect(manager.buildSessionContext().messages).toHaveLength(2);
    write(...records, user("a", null, "parent"));
    manager.appendCustomEntry("reads on");
    expect(manager.buildSessionContext().messages).toHaveLength(3);
    write(...records, user("a", null, "parent"), user("b", null, "again"));
    manager.branch("c");
    manager.appendCustomEntry("reads on");
    expect(json(manager.buildSessionContext())).toBe(anew(manager));
  });

  it("costs only the new entries, and parses none that were appended here (Verifies: P17)", () => {
    const manager = inMemory();
    for (let i = 0; i < 500; i += 1) say(manager, `${i}`);
    manager.buildSessionContext();
    const before = decodeCounter.parses;
    say(manager, "one more");
    expect(manager.buildSessionContext().messages).toHaveLength(501);
    expect(decodeCounter.parses).toBe(before);
  });

  it("is not kept when it is larger than the cache for bodies (Verifies: P16)", () => {
    const manager = managersWith({ bodyCacheBytesMax: 1_000 }).inMemory("/work");
    for (let i = 0; i < 20; i += 1) say(manager, "x".repeat(100));
    manager.buildSessionContext();
    const before = decodeCounter.parses;
    expect(manager.buildSessionContext().messages).toHaveLength(20);
    expect(decodeCounter.parses).toBeGreaterThan(before + 10);
    say(manager, "more");
    expect(json(manager.buildSessionContext())).toBe(anew(manager));
  });
});
