/** What a session's tree says of its nodes, where it begins, and that it stays as it was made. */
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { memorySession, openSession } from "@branchlog/core";
import type { Session, TreeView } from "@branchlog/core";
import {
  jsonLines,
  sampleHeader,
  sampleTimeMs,
  storedEntry,
  userEntry,
} from "@branchlog/core/testing";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { arbitraryTree } from "./arbitrary-tree.ts";

async function sessionOf(entries: readonly object[]): Promise<Session> {
  const path = join(temporaryDirectory(), "s.jsonl");
  writeFileSync(path, jsonLines(sampleHeader(), ...entries));
  return openSession(path);
}

function reached(tree: TreeView): string[] {
  const ids: string[] = [];
  for (const waiting = [...tree.roots]; waiting.length > 0;) {
    const id = waiting.pop() ?? "";
    ids.push(id);
    waiting.push(...tree.children(id));
  }
  return ids;
}

describe("a tree", () => {
  it("has for each node the fields of its line outside its body", async () => {
    const tree = (
      await sessionOf([
        userEntry("a", null, "x"),
        storedEntry("custom", "b", "a", { customType: "x:note", data: {} }),
        { type: "message", id: "c", parentId: "gone", timestamp: "?", message: { role: "user" } },
        // Only messages have a role.
        storedEntry("label", "d", "b", { targetId: "a", label: "x", message: { role: "user" } }),
      ])
    ).tree();
    expect(tree.node("a")).toEqual({
      id: "a",
      parentId: null,
      type: "message",
      role: "user",
      time: sampleTimeMs,
      revision: 1,
    });
    expect(tree.node("b")).toEqual({
      id: "b",
      parentId: "a",
      type: "custom",
      customType: "x:note",
      time: sampleTimeMs,
      revision: 2,
    });
    expect(tree.node("c")).toMatchObject({ parentId: "gone", role: "user", time: Number.NaN });
    expect(tree.node("d")).not.toHaveProperty("role");
    expect(tree.node("gone")).toBeUndefined();
    expect(tree.children("gone")).toEqual([]);
  });

  it("begins at roots, orphans and one member of each cycle, in the order of the file", async () => {
    const session = await sessionOf([
      userEntry("orphan", "gone", "x"),
      userEntry("one", "other", "x"),
      userEntry("other", "one", "x"),
      userEntry("root", null, "x"),
      userEntry("own parent", "own parent", "x"),
      userEntry("leaf", "root", "x"),
    ]);
    const tree = session.tree();
    expect(tree.roots).toEqual(["orphan", "one", "root", "own parent"]);
    expect(tree.children("root")).toEqual(["leaf"]);
    expect(tree.children("one")).toEqual(["other"]);
    expect(tree.size).toBe(6);
  });

  it("does not change when the log grows", async () => {
    const session = await sessionOf([userEntry("a", null, "x"), userEntry("b", "a", "x")]);
    const before = session.tree();
    const entry = userEntry("c", "a", "x");
    appendFileSync(session.path, jsonLines(entry, userEntry("d", null, "x")));
    await session.refresh();
    expect(before.node("c")).toBeUndefined();
    expect([before.roots, before.children("a"), before.children("c"), before.size]).toEqual([
      ["a"],
      ["b"],
      [],
      2,
    ]);
    expect(before.kinds()).toEqual([{ type: "message", role: "user", count: 2 }]);
    const after = session.tree();
    expect([after.roots, after.children("a"), after.size]).toEqual([["a", "d"], ["b", "c"], 4]);
  });

  it("counts a repeated entry once, and a line that is not an entry not at all", async () => {
    const session = await sessionOf([userEntry("a", null, "x"), userEntry("b", "a", "x")]);
    appendFileSync(session.path, `${jsonLines(userEntry("b", null, "again"))}{"id":"torn"\n`);
    await session.refresh();
    for await (const _ of session.entries()) continue;
    const tree = session.tree();
    expect([tree.size, tree.roots, tree.children("a")]).toEqual([2, ["a", "b"], []]);
    expect(tree.kinds()).toEqual([{ type: "message", role: "user", count: 2 }]);
  });

  it("is empty where the log is", async () => {
    const tree = (await memorySession()).tree();
    expect([tree.roots, tree.size, tree.kinds()]).toEqual([[], 0, []]);
    expect([tree.node(""), tree.children("")]).toEqual([undefined, []]);
  });

  it("is fully reachable from its roots, and equals a list of all entries", async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryTree, async (entries) => {
        const tree = (await sessionOf(entries)).tree();
        const ids = entries.map(({ id }) => id);
        expect(reached(tree).toSorted()).toEqual(ids.toSorted());
        expect(tree.size).toBe(entries.length);
        for (const [i, { id, parentId, type }] of entries.entries()) {
          expect(tree.node(id)).toMatchObject({ id, parentId, type, revision: i + 1 });
          const below = entries.filter((entry) => entry.parentId === id);
          expect(tree.children(id)).toEqual(below.map((entry) => entry.id));
        }
        const roots = entries.filter((entry) => entry.parentId === null);
        expect(tree.roots).toEqual(roots.map(({ id }) => id));
        const counted = new Map(tree.kinds().map(({ type }) => [type, 0]));
        for (const { type, count } of tree.kinds()) {
          counted.set(type, (counted.get(type) ?? 0) + count);
        }
        for (const [type, count] of counted) {
          expect(count).toBe(entries.filter((entry) => entry.type === type).length);
        }
      }),
      { numRuns: 50 },
    );
  });
});
