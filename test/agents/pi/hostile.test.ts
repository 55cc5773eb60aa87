/** Trees that no agent should write: every question about them has an end and an answer. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SessionEntry, SessionTreeNode } from "@branchlog/agents/pi";
import { textsOf, user } from "../../core/projections/sample-entries.ts";
import { idsOf, inMemory, say } from "./managers.ts";
import { runs } from "../../support/fault-seed.ts";

/** The ids of all nodes, parents first. Iterative: trees may be deep. */
function idsOfNodes(roots: readonly SessionTreeNode[]): string[] {
  const ids: string[] = [];
  const open = [...roots].reverse();
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    ids.push(node.entry.id);
    for (const child of [...node.children].reverse()) open.push(child);
  }
  return ids;
}

const roots = (nodes: readonly SessionTreeNode[]): string[] => nodes.map(({ entry }) => entry.id);
const at = (entry: SessionEntry, timestamp: string): SessionEntry => ({ ...entry, timestamp });

describe("cycles", () => {
  const entries = [
    user("x", "c", "hangs from the cycle"),
    user("b", "a", "b"),
    user("c", "b", "c"),
    user("a", "c", "a"),
    user("self", "self", "self"),
    user("root", null, "root"),
  ];

  it("lose no node of the tree: the first in the file is a root (Verifies: P18)", () => {
    const manager = inMemory(entries);
    const tree = manager.getTree();
    // In pi the members of a cycle vanish.
    expect(roots(tree)).toEqual(["b", "self", "root"]);
    expect(idsOfNodes(tree)).toEqual(["b", "c", "x", "a", "self", "root"]);
    expect(manager.getDiagnostics()).toMatchObject([{ kind: "cycle", id: "b" }]);
  });

  it("end branches and contexts before they repeat (Verifies: P18)", () => {
    const manager = inMemory(entries);
    expect(idsOf(manager.getBranch("x"))).toEqual(["a", "b", "c", "x"]);
    expect(idsOf(manager.getBranch("self"))).toEqual(["self"]);
    manager.branch("self");
    expect(textsOf(manager.buildSessionContext().messages)).toEqual(["self"]);
    expect(idsOf(manager.getChildren("c"))).toEqual(["x", "a"]);
  });
});

it("with repeated ids the last entry counts; the earlier one is still among the entries", () => {
  const manager = inMemory([
    user("a", null, "first"),
    user("b", "a", "child"),
    user("a", null, "second"),
  ]);
  expect(
    textsOf(
      manager.getEntries().map((entry) => ("message" in entry ? entry.message : (null as never))),
    ),
  ).toEqual(["first", "child", "second"]);
  expect(manager.getEntryCount()).toBe(2);
  expect(manager.getEntry("a")).toHaveProperty("message.content", "second");
  expect(idsOfNodes(manager.getTree())).toEqual(["a", "b"]);
  manager.branch("b");
  expect(textsOf(manager.buildSessionContext().messages)).toEqual(["second", "child"]);
  expect(manager.getDiagnostics()).toMatchObject([{ kind: "duplicate-id", id: "a" }]);
});

it("orphans of missing parents are roots, and children of the missing id", () => {
  const manager = inMemory([user("a", "gone", "a"), user("b", null, "b"), user("c", "a", "c")]);
  expect(roots(manager.getTree())).toEqual(["a", "b"]);
  expect(idsOf(manager.getChildren(null))).toEqual(["b"]);
  expect(idsOf(manager.getChildren("gone"))).toEqual(["a"]);
  expect(manager.getDiagnostics()).toMatchObject([{ kind: "missing-parent", id: "a" }]);
});

it("children are ordered by time, those with equal or unreadable times by file order", () => {
  const manager = inMemory([
    user("root", null, "root"),
    at(user("late", "root", ""), "2025-06-03T09:00:02.000Z"),
    at(user("early", "root", ""), "2025-06-03T09:00:01.000Z"),
    at(user("same", "root", ""), "2025-06-03T11:00:01.000+02:00"),
  ]);
  const [root] = manager.getTree();
  expect(roots(root?.children ?? [])).toEqual(["early", "same", "late"]);
  expect(idsOf(manager.getChildren("root"))).toEqual(["late", "early", "same"]);
  const unreadable = inMemory([
    user("root", null, "root"),
    at(user("b", "root", ""), "yesterday"),
    at(user("a", "root", ""), "tomorrow"),
  ]);
  expect(roots(unreadable.getTree()[0]?.children ?? [])).toEqual(["b", "a"]);
});

it("records that are not entries are omitted and reported", () => {
  const junk = [5, true, [], {}, { type: "note" }, { id: "x" }] as unknown as SessionEntry[];
  const manager = inMemory([...junk, user("a", null, "a")]);
  // In pi they become entries without an id.
  expect(idsOf(manager.getEntries())).toEqual(["a"]);
  expect(roots(manager.getTree())).toEqual(["a"]);
  expect(manager.getDiagnostics()).toHaveLength(6);
});

const count = runs(20_000, 100_000);

describe(`a chain of ${count} entries`, () => {
  it("is walked, drawn, built and branched without recursion (Verifies: P18)", () => {
    const chain = Array.from({ length: count }, (_, i) =>
      user(`e${i}`, i === 0 ? null : `e${i - 1}`, `${i}`),
    );
    const manager = inMemory(chain);
    expect(manager.getBranch()).toHaveLength(count);
    expect(idsOfNodes(manager.getTree())).toHaveLength(count);
    expect(manager.buildSessionContext().messages).toHaveLength(count);
    expect(manager.getEntry(say(manager, "next"))?.parentId).toBe(`e${count - 1}`);
    manager.createBranchedSession(`e${count - 2}`);
    expect(manager.getBranch()).toHaveLength(count - 1);
  });
});

it("any tree has each reachable entry exactly once, below its parent", () => {
  const id = fc.constantFrom("a", "b", "c", "d", "e", "f");
  const links = fc.array(
    fc.record({ id, parentId: fc.option(fc.oneof(id, fc.constant("gone"))) }),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(links, (records) => {
      const manager = inMemory(records.map((one) => user(one.id, one.parentId, one.id)));
      const tree = manager.getTree();
      const ids = idsOfNodes(tree);
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids.toSorted()).toEqual([...new Set(records.map((one) => one.id))].toSorted());
      const open = [...tree];
      for (let node = open.pop(); node !== undefined; node = open.pop()) {
        for (const child of node.children) {
          expect(child.entry.parentId).toBe(node.entry.id);
          open.push(child);
        }
      }
      for (const one of ids) {
        const branch = manager.getBranch(one);
        expect(branch.at(-1)?.id).toBe(one);
        expect(new Set(idsOf(branch)).size).toBe(branch.length);
      }
    }),
  );
});
