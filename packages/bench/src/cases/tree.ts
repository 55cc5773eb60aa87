/** The tree of a session of about a million entries: all of it, or the children of one entry. */
import { deepStrictEqual, ok } from "node:assert";
import { SessionManager } from "@branchlog/agents/pi";
import { type BenchCase, defineCase, ours } from "../bench-case.ts";
import { largeSession, ownLog } from "../inputs.ts";
import { openCold } from "../our-session.ts";
import { onBothNodes, openPeer, type PeerManager, peerSubjects } from "../peers.ts";
import { countFrom, countNodes, type PlainEntry } from "../plain-session.ts";

const getTree = defineCase<number>({
  name: "get-tree",
  question: "How long does the tree of about 1,000,000 entries take, every node visited?",
  goal: "twice as fast as pi.",
  input: largeSession,
  subjects: [
    ours("session.tree()", async ({ path }) => {
      const session = await openCold(path);
      return () => {
        const tree = session.tree();
        return countFrom(tree.roots, (id) => tree.children(id));
      };
    }),
    ...onBothNodes(
      ours<number>("SessionManager.getTree()", (input) => {
        const manager = SessionManager.open(ownLog(input));
        return () => countNodes(manager.getTree());
      }),
    ),
    ...peerSubjects<number>("getTree()", async (peer, input) => {
      const manager = await openPeer(peer, input);
      return () => countNodes(manager.getTree());
    }),
  ],
  check: (nodes, { facts }) => deepStrictEqual(nodes, facts.entries),
  figures: (nodes, wallMs) => ({ "nodes/ms": nodes / wallMs }),
});

interface FoundChildren {
  readonly ancestry: readonly string[];
  readonly children: readonly (readonly string[])[];
}

const generations = 20;

const getChildren = defineCase<FoundChildren>({
  name: "get-children",
  question: "How long does it take to find the children of one entry among about 1,000,000?",
  goal: "the time of the children, not of the entries.",
  input: largeSession,
  subjects: [
    ours("session.tree().children()", async ({ path }) => {
      const session = await openCold(path);
      const ancestry = await ancestryOf(session.leaf, (id) => session.entry(id));
      return () => {
        const tree = session.tree();
        return { ancestry, children: ancestry.slice(1).map((id) => tree.children(id)) };
      };
    }),
    ...onBothNodes(
      ours<FoundChildren>("SessionManager.getChildren()", (input) =>
        prepareChildren(SessionManager.open(ownLog(input))),
      ),
    ),
    ...peerSubjects<FoundChildren>("getChildren()", async (peer, input) =>
      prepareChildren(await openPeer(peer, input)),
    ),
  ],
  // Each entry of a path is a child of the next.
  check: ({ ancestry, children }) => {
    ok(children.length === generations, `${children.length} generations`);
    children.forEach((ids, place) => ok(ids.includes(ancestry[place] ?? ""), `at ${place}`));
  },
  figures: ({ children }, wallMs) => ({ "µs/call": (wallMs * 1000) / children.length }),
});

async function prepareChildren(
  manager: Pick<PeerManager, "getLeafId" | "getEntry" | "getChildren">,
): Promise<() => FoundChildren> {
  const ancestry = await ancestryOf(manager.getLeafId(), (id) => manager.getEntry(id));
  return () => ({
    ancestry,
    children: ancestry.slice(1).map((id) => manager.getChildren(id).map((child) => child.id)),
  });
}

type Linked = Pick<PlainEntry, "parentId"> | undefined;

async function ancestryOf(
  leafId: string | null,
  entryOf: (id: string) => Linked | Promise<Linked>,
): Promise<readonly string[]> {
  const ancestry: string[] = [];
  for (let id = leafId; id !== null && ancestry.length <= generations;) {
    ancestry.push(id);
    id = (await entryOf(id))?.parentId ?? null;
  }
  return ancestry;
}

export const cases: readonly BenchCase[] = [getTree, getChildren];
