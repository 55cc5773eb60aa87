/** All sessions of a directory, with the facts for a choice: name, messages, last activity. */
import { deepStrictEqual } from "node:assert";
import { execFileSync } from "node:child_process";
import { execPath } from "node:process";
import { SessionManager } from "@branchlog/agents/pi";
import { type BenchCase, defineCase, ours } from "../bench-case.ts";
import { directoryOf, ownDirectory } from "../inputs.ts";
import { jobChild } from "../our-session.ts";
import { loadPeer, onBothNodes, peerSubjects } from "../peers.ts";

interface Listed {
  readonly sessions: number;
  /** Null where only the beginnings of files are read. */
  readonly messages: number | null;
}

const cwd = "/home/dev/projects/atlas";

const listSessions = defineCase<Listed>({
  name: "list-sessions",
  question: "How long does it take to list 2,000 sessions of 870 MB in all?",
  goal: "5 times faster than pi, and 0.1 s where what was found is saved.",
  input: directoryOf(2_000, 20),
  subjects: [
    ...onBothNodes(
      ours<Listed>("SessionManager.list(), for the first time", (input) => {
        const path = ownDirectory(input);
        return () => listOnce(path);
      }),
    ),
    ours("SessionManager.list(), after another process", (input) => {
      const path = ownDirectory(input);
      execFileSync(execPath, [jobChild, "list", path, cwd]);
      return () => listOnce(path);
    }),
    ...peerSubjects<Listed>("SessionManager.list()", async (peer, input) => {
      const path = ownDirectory(input);
      const manager = await loadPeer(peer);
      return async () => {
        const listed = await manager.list(cwd, path);
        if (peer.listsBeginnings === true) return { sessions: listed.length, messages: null };
        return total(listed.map(({ messageCount }) => messageCount));
      };
    }),
  ],
  check: ({ sessions, messages }, { facts }) => {
    deepStrictEqual(sessions, facts.files);
    if (messages !== null) deepStrictEqual(messages, facts.entriesByType["message"]);
  },
  figures: ({ sessions }, wallMs) => ({ "µs/session": (wallMs * 1000) / sessions }),
});

async function listOnce(path: string): Promise<Listed> {
  return total((await SessionManager.list(cwd, path)).map(({ messageCount }) => messageCount));
}

function total(messageCounts: readonly number[]): Listed {
  const messages = messageCounts.reduce((sum, count) => sum + count, 0);
  return { sessions: messageCounts.length, messages };
}

export const cases: readonly BenchCase[] = [listSessions];
