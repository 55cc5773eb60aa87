/** The question how long opening takes, for inputs of any size. */
import { deepStrictEqual } from "node:assert";
import { openSession } from "@branchlog/core";
import {
  type BenchCase,
  defineCase,
  type InputSpec,
  type Scale,
  type Subject,
} from "./bench-case.ts";
import { readPlainly } from "./plain-reader.ts";
import { onNode24, peerSubjects } from "./session-peers.ts";

/** What a reader knows once it has opened a session. */
export interface Opened {
  readonly entries: number;
  readonly leafId: string | null;
}

const openOurs: Subject<Opened> = {
  name: "openSession",
  role: "ours",
  prepare:
    ({ path }) =>
    async () => {
      const session = await openSession(path, { access: "read", checkpoint: "off" });
      return { entries: session.revision, leafId: session.leaf };
    },
};

/** Peers that open whole logs. */
export const openPeers: readonly Subject<Opened>[] = peerSubjects(
  "SessionManager.open()",
  async (peer, { path, scratch }) => {
    // Its modules are loaded before, as ours are.
    const managers = await peer.load();
    return async () => {
      const manager = await managers.open(path, scratch);
      return { entries: manager.getEntries().length, leafId: manager.getLeafId() };
    };
  },
);

/** Makes the case for one size. */
export function openQuestion(
  name: string,
  size: string,
  goal: string,
  input: (scale: Scale) => InputSpec,
): BenchCase {
  return defineCase<Opened>({
    name,
    question: `How long does it take to open ${size} with nothing cached?`,
    goal,
    nodeFlags: ["--max-old-space-size=256"],
    input,
    subjects: [
      openOurs,
      onNode24(openOurs),
      {
        name: "parse every line",
        role: "baseline",
        nodeFlags: [],
        prepare:
          ({ path }) =>
          () => {
            const { entries } = readPlainly(path);
            return { entries: entries.length, leafId: entries.at(-1)?.id ?? null };
          },
      },
      ...openPeers,
    ],
    check: (opened, { facts }) => {
      deepStrictEqual(opened, { entries: facts.entries, leafId: facts.leafId });
    },
    figures: (_opened, wallMs, { facts }) => ({ "MB/s": facts.bytes / 1000 / wallMs }),
  });
}
