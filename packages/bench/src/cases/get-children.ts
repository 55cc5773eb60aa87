/** The children of one entry, in a session of about a million. */
import { ok } from "node:assert";
import { openSession } from "@branchlog/core";
import { SessionManager } from "@branchlog/core/pi";
import { type BenchCase, defineCase, type Subject } from "../bench-case.ts";
import { largeSession } from "../inputs.ts";
import { ownLog } from "../own-input.ts";
import { onNode24, openPeer, type PeerManager, peerSubjects } from "../session-peers.ts";

/** What was found below each entry of a path. */
interface FoundChildren {
  /** Ids on the way from the leaf to the root, the leaf first. */
  readonly ancestry: readonly string[];
  /** Of every entry of the path but the leaf. */
  readonly children: readonly (readonly string[])[];
}

const generations = 20;

const ours: Subject<FoundChildren> = {
  name: "SessionManager.getChildren()",
  role: "ours",
  prepare: (input) => prepareManager(SessionManager.open(ownLog(input))),
};

/** See the file comment. */
export const benchCase: BenchCase = defineCase<FoundChildren>({
  name: "get-children",
  question: "How long does it take to find the children of one entry among about 1,000,000?",
  goal: "the time of the children, not of the entries.",
  nodeFlags: [],
  input: largeSession,
  subjects: [
    {
      name: "session.tree().children()",
      role: "ours",
      prepare: async ({ path }) => {
        const session = await openSession(path, { access: "read", checkpoint: "off" });
        const ancestry: string[] = [];
        for (let id = session.leaf; id !== null && ancestry.length <= generations;) {
          ancestry.push(id);
          id = (await session.entry(id))?.parentId ?? null;
        }
        return () => {
          const tree = session.tree();
          return { ancestry, children: ancestry.slice(1).map((id) => tree.children(id)) };
        };
      },
    },
    ours,
    onNode24(ours),
    ...peerSubjects("getChildren()", async (peer, input) =>
      prepareManager(await openPeer(peer, input)),
    ),
  ],
  // Each entry of a path is a child of the next.
  check: ({ ancestry, children }) => {
    ok(children.length === generations, `${children.length} generations`);
    children.forEach((ids, place) => ok(ids.includes(ancestry[place] ?? ""), `at ${place}`));
  },
  figures: ({ children }, wallMs) => ({ "µs/call": (wallMs * 1000) / children.length }),
});

function prepareManager(
  manager: Pick<PeerManager, "getLeafId" | "getEntry" | "getChildren">,
): () => FoundChildren {
  const ancestry: string[] = [];
  for (let id = manager.getLeafId(); id !== null && ancestry.length <= generations;) {
    ancestry.push(id);
    id = manager.getEntry(id)?.parentId ?? null;
  }
  return () => ({
    ancestry,
    children: ancestry.slice(1).map((id) => manager.getChildren(id).map((child) => child.id)),
  });
}
