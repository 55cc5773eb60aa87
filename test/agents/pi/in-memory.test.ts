/** Sessions that never touch a disk: new ones, and those of records that a caller kept. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SessionManager } from "@branchlog/agents/pi";
import type { FileEntry } from "@branchlog/agents/pi";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import {
  compaction,
  stored,
  textsOf,
  usageOf,
  user,
} from "../../core/projections/sample-entries.ts";
import { answer, idsOf, inMemory, inMemoryFiles, say } from "./managers.ts";

const entries = [
  user("1", null, "a"),
  user("2", "1", "b"),
  compaction("3", "2", "summary", "2"),
  stored("label", "4", "3", { targetId: "1", label: "start" }),
  user("5", "2", "on another branch"),
];
const header: FileEntry = {
  type: "session",
  version: 3,
  id: "kept",
  timestamp: "2025-01-01T00:00:00.000Z",
  cwd: "/kept",
};

it("a manager has no members that a program could silently replace", () => {
  const manager = SessionManager.inMemory("/w");
  const own = ["position", "state", "append"].filter((name) => name in manager);
  expect(own).toEqual([]);
});

describe("a session in memory", () => {
  it("has no file and no directory, and is not persisted", () => {
    const manager = SessionManager.inMemory("/work");
    say(manager, "1");
    answer(manager, "2");
    expect([manager.getSessionFile(), manager.getSessionDir()]).toEqual([undefined, ""]);
    expect([manager.isPersisted(), manager.usesDefaultSessionDir()]).toEqual([false, false]);
    expect(manager.getCwd()).toBe("/work");
    expect(manager.newSession()).toBeUndefined();
    expect(manager.getEntryCount()).toBe(0);
    expect(SessionManager.inMemory().getCwd()).toBe(process.cwd());
    expect(SessionManager.inMemory("/w", { id: "mine" }).getHeader()?.id).toBe("mine");
  });

  it("uses only its own file system", () => {
    const { managers, fs } = inMemoryFiles();
    const manager = managers.inMemory("/work", undefined, entries);
    fs.onCall = () => {
      throw new Error("touched");
    };
    const id = say(manager, "x");
    manager.createBranchedSession(id);
    manager.newSession();
    say(manager, "y");
    expect(manager.getEntryCount()).toBe(1);
  });

  it("adopts records with their branches, labels and boundaries; the leaf is the last", () => {
    const manager = inMemory(entries);
    expect(manager.getEntries()).toEqual(entries);
    expect(manager.getLeafId()).toBe("5");
    expect(manager.getLabel("1")).toBe("start");
    expect(idsOf(manager.getChildren("2"))).toEqual(["3", "5"]);
    manager.branch("4");
    expect(textsOf(manager.buildSessionContext().messages)).toEqual(["summary", "b"]);
    expect(manager.getHeader()).toMatchObject({ version: 3, cwd: "/work" });
  });

  it("does not share records with the caller", () => {
    const records = [...entries];
    const manager = inMemory(records);
    const id = say(manager, "new");
    expect(idsOf(entries)).not.toContain(id);
    // In pi the caller's array grows.
    expect(records).toHaveLength(entries.length);
    expect(manager.getEntry(id)?.parentId).toBe("5");
  });

  it("takes the header from the records; its id wins over that of the options", () => {
    const manager = SessionManager.inMemory("/work", { id: "other" }, [header, ...entries]);
    expect(manager.getHeader()).toEqual(header);
    expect([manager.getSessionId(), manager.getCwd()]).toEqual(["kept", "/work"]);
    expect(manager.getEntryCount()).toBe(5);
  });

  it("converts records of an older version to the current one", () => {
    const old = [
      { type: "session", id: "old", timestamp: header.timestamp, cwd: "/w" },
      { type: "message", timestamp: header.timestamp, message: { role: "user", content: "a" } },
      { type: "message", timestamp: header.timestamp, message: { role: "hookMessage" } },
    ] as unknown as FileEntry[];
    const manager = inMemory(old);
    expect(manager.getHeader()?.version).toBe(3);
    const [first, second] = manager.getEntries();
    expect(first?.id).toMatch(/^[0-9a-f]{8}$/u);
    expect([first?.parentId, second?.parentId]).toEqual([null, first?.id]);
    expect(second).toHaveProperty("message.role", "custom");
    expect(manager.getEntry(say(manager, "x"))?.parentId).toBe(second?.id);
    expect(manager.getEntries().slice(0, 2)).toEqual([first, second]);
  });

  it("copies a file that it opens, and does not change it", () => {
    const path = join(temporaryDirectory(), "s.jsonl");
    const text = [header, ...entries].map((record) => `${JSON.stringify(record)}\n`).join("");
    writeFileSync(path, text);
    const manager = SessionManager.inMemory("/work");
    manager.setSessionFile(path);
    expect([manager.getSessionFile(), manager.getSessionId()]).toEqual([path, "kept"]);
    answer(manager, "in memory");
    expect(readFileSync(path, "utf8")).toBe(text);
    expect(manager.getEntryCount()).toBe(6);
  });
});

it("appending returns the whole entry for a usage", () => {
  const manager = inMemory();
  const keys = "type id parentId timestamp kind provider model usage".split(" ");
  for (const note of [undefined, "", "why"]) {
    const entry = manager.appendUsage("cache_warming", "p", "m", usageOf(1, 2), note);
    expect(entry).toEqual(manager.getEntries().at(-1));
    expect(Object.keys(entry)).toEqual(note === "why" ? [...keys, "note"] : keys);
  }
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

  it("is a new root after the summary of the root", () => {
    const manager = inMemory();
    say(manager, "1");
    manager.resetLeaf();
    const id = manager.branchWithSummary(null, "from nothing");
    expect(manager.getEntry(id)).toMatchObject({ parentId: null, fromId: "root" });
  });
});

it("labels are on the nodes of the tree, with the time at which they were set", () => {
  const manager = inMemory();
  const ids = [say(manager, "1"), answer(manager, "2")];
  manager.appendLabelChange(ids[0] ?? "", "start");
  const [root] = manager.getTree();
  expect(Object.keys(root ?? {})).toEqual(["entry", "children", "label", "labelTimestamp"]);
  expect(root).toMatchObject({ label: "start", labelTimestamp: "2026-01-01T00:00:00.000Z" });
  expect(root?.children[0]?.label).toBeUndefined();
});
