/** Entries that refer to others: a session rejects dangling references. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createSession, openSession } from "@branchlog/core";
import type { EntryDraft, Session } from "@branchlog/core";
import { SessionManager } from "@branchlog/agents/pi";
import { userDraft } from "@branchlog/core/testing";
import { verifySession } from "@branchlog/tools";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const label = (targetId: string): EntryDraft => ({ type: "label", targetId, label: "L" });
const edit = (targetId: string): EntryDraft => ({
  type: "context_edit",
  targetId,
  replacement: null,
});
const compaction = (firstKeptEntryId: string | null): EntryDraft => ({
  type: "compaction",
  summary: "S",
  firstKeptEntryId,
  tokensBefore: 1,
});

/** `root1` with the branches `left1` and `right1`; the leaf is `right1`. */
async function newSession(): Promise<Session> {
  const session = await createSession(join(temporaryDirectory(), "s.jsonl"), { cwd: "/w" });
  await session.append(userDraft("root"), { id: "root1" });
  await session.append(userDraft("left"), { id: "left1" });
  await session.append(userDraft("right"), { id: "right1", parent: { id: "root1" } });
  return session;
}

describe("a session rejects a dangling reference", () => {
  it.each([
    ["a label on an unknown id", label("left2"), "Did you mean left1?"],
    ["a label on an id that resembles none", label("0123456789"), "is not in the log"],
    ["a compaction that keeps from an unknown id", compaction("rihgt1"), "Did you mean right1?"],
    ["a compaction that keeps from another branch", compaction("left1"), "is not on its path"],
    ["an edit of an entry of another branch", edit("left1"), "is not on its path"],
  ])("when it is %s, and writes nothing", async (_, draft, text) => {
    const session = await newSession();
    const before = readFileSync(session.path);
    const { path } = session;
    const append = session.append(draft);
    await expect(append).rejects.toMatchObject({ code: "ERR_ENTRY_NOT_FOUND", path });
    await expect(append).rejects.toThrow(text);
    await expect(session.appendAll([userDraft("x"), draft])).rejects.toThrow(text);
    expect(readFileSync(session.path)).toEqual(before);
    expect(session.leaf).toBe("right1");
  });

  it("when the entry is attached to another branch than its target", async () => {
    const session = await newSession();
    const options = { parent: { id: "left1" } } as const;
    await expect(session.append(compaction("right1"), options)).rejects.toThrow("on its path");
    await session.append(compaction("left1"), options);
  });
});

describe("a session accepts a reference", () => {
  it("to an entry on the path, itself, another branch for a label, and what others appended", async () => {
    const session = await newSession();
    await session.append(label("left1"));
    await session.append(compaction("root1"));
    await session.append(compaction(null));
    await session.append(edit("right1"));
    const other = await openSession(session.path);
    const { id } = await other.append(userDraft("theirs"));
    await session.append(label(id));
    expect(await verifySession(session)).toMatchObject({ ok: true, danglingReferenceCount: 0 });
  });

  it("to itself, in a compaction that keeps no entries", async () => {
    const session = await newSession();
    await session.append(compaction("own1"), { id: "own1" });
    expect(await session.entry("own1")).toMatchObject({ firstKeptEntryId: "own1" });
  });

  it("to an entry of the same batch", async () => {
    const session = await newSession();
    const first = session.append(userDraft("new"), { id: "new1" });
    const second = session.append(compaction("new1"));
    const third = session.append(label("new1"));
    await Promise.all([first, second, third]);
    expect(session.labels.get("new1")?.label).toBe("L");
  });
});

it("the drop-in stores what pi stores, with a diagnostic, and verify lists it", async () => {
  const session = await newSession();
  await session.close();
  const manager = SessionManager.open(session.path);
  const id = manager.appendCompaction("S", "left1", 1);
  expect(manager.getDiagnostics()).toMatchObject([{ kind: "dangling-reference", id }]);
  const report = await verifySession(await openSession(session.path));
  expect(report).toMatchObject({
    ok: true,
    danglingReferenceCount: 1,
    danglingReferences: [{ id, field: "firstKeptEntryId", targetId: "left1", line: 5 }],
  });
});
