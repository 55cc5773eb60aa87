/** The whole tree of a session of about a million entries. */
import { deepStrictEqual } from "node:assert";
import { openSession } from "@branchlog/core";
import { SessionManager } from "@branchlog/core/pi";
import { type BenchCase, defineCase, type Subject } from "../bench-case.ts";
import { largeSession } from "../inputs.ts";
import { countNodes } from "../node-count.ts";
import { ownLog } from "../own-input.ts";
import { readPlainly } from "../plain-reader.ts";
import { onNode24, openPeer, peerSubjects } from "../session-peers.ts";

/** Entries reached from the roots. */
type NodeCount = number;

const ourTree: Subject<NodeCount> = {
  name: "SessionManager.getTree()",
  role: "ours",
  prepare: (input) => {
    const manager = SessionManager.open(ownLog(input));
    return () => countNodes(manager.getTree());
  },
};

/** See the file comment. */
export const benchCase: BenchCase = defineCase<NodeCount>({
  name: "get-tree",
  question: "How long does the tree of about 1,000,000 entries take, every node visited?",
  goal: "twice as fast as pi.",
  nodeFlags: [],
  input: largeSession,
  subjects: [
    {
      name: "session.tree()",
      role: "ours",
      prepare: async ({ path }) => {
        const session = await openSession(path, { access: "read", checkpoint: "off" });
        return () => {
          const tree = session.tree();
          return countFrom(tree.roots, (id) => tree.children(id));
        };
      },
    },
    ourTree,
    onNode24(ourTree),
    {
      name: "child lists in a Map",
      role: "baseline",
      prepare: ({ path }) => {
        const { entries } = readPlainly(path);
        return () => {
          const children = new Map<string | null, string[]>();
          for (const { id, parentId } of entries) {
            const siblings = children.get(parentId);
            if (siblings === undefined) children.set(parentId, [id]);
            else siblings.push(id);
          }
          return countFrom(children.get(null) ?? [], (id) => children.get(id) ?? []);
        };
      },
    },
    ...peerSubjects("getTree()", async (peer, input) => {
      const manager = await openPeer(peer, input);
      return () => countNodes(manager.getTree());
    }),
  ],
  check: (nodes, { facts }) => {
    deepStrictEqual(nodes, facts.entries);
  },
  figures: (nodes, wallMs) => ({ "nodes/ms": nodes / wallMs }),
});

function countFrom(
  roots: readonly string[],
  children: (id: string) => readonly string[],
): NodeCount {
  const pending = [...roots];
  let count = 0;
  for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
    count += 1;
    for (const child of children(id)) pending.push(child);
  }
  return count;
}
