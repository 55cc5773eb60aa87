/** All sessions of a directory, with what a user picks by: name, messages, last activity. */
import { deepStrictEqual } from "node:assert";
import { execFileSync } from "node:child_process";
import { execPath } from "node:process";
import { fileURLToPath } from "node:url";
import { sessions$ } from "@branchlog/core/live";
import type { LiveSessions } from "@branchlog/core/live";
import { SessionManager } from "@branchlog/core/pi";
import { type BenchCase, type CaseInput, defineCase, type Subject } from "../bench-case.ts";
import { sessionDirectory } from "../inputs.ts";
import { ownDirectory } from "../own-input.ts";
import { onNode24, peerSubjects } from "../session-peers.ts";

/** What a list says. */
interface Listed {
  readonly sessions: number;
  /** Null where only the beginnings of files are read. */
  readonly messages: number | null;
}

/** The working directory of every generated session. */
const cwd = "/home/dev/projects/atlas";

const ours: Subject<Listed> = {
  name: "SessionManager.list(), for the first time",
  role: "ours",
  prepare: (input) => {
    const path = ownDirectory(input);
    return () => listOnce(path);
  },
};

const again: Subject<Listed> = {
  name: "SessionManager.list(), after another process",
  role: "ours",
  prepare: (input) => {
    const path = ownDirectory(input);
    const script = fileURLToPath(new URL("../listing-child.js", import.meta.url));
    execFileSync(execPath, [script, cwd, path]);
    return () => listOnce(path);
  },
};

/** See the file comment. */
export const benchCase: BenchCase = defineCase<Listed>({
  name: "list-sessions",
  question: "How long does it take to list 2,000 sessions of 870 MB in all?",
  goal: "5 times faster than pi, and 0.1 s where what was found is saved.",
  nodeFlags: [],
  input: sessionDirectory,
  subjects: [
    ours,
    onNode24(ours),
    again,
    {
      name: "sessions$(), its first whole list",
      role: "ours",
      prepare: (input) => {
        const path = ownDirectory(input);
        return async () => liveTotal(await wholeList(path));
      },
    },
    {
      name: "sessions$(), asked for again",
      role: "ours",
      prepare: prepareKeptList,
    },
    ...peerSubjects<Listed>("SessionManager.list()", async (peer, input) => {
      const path = ownDirectory(input);
      const manager = await peer.load();
      return async () => {
        const listed = await manager.list(cwd, path);
        if (!peer.listsExactly) return { sessions: listed.length, messages: null };
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

function liveTotal({ sessions }: LiveSessions): Listed {
  return total(sessions.map(({ summary }) => summary.messageCount));
}

function wholeList(path: string): Promise<LiveSessions> {
  return new Promise((resolve, reject) => {
    const subscription = sessions$(path).subscribe((list) => {
      if (list.status.kind === "catching-up") return;
      // What is told at once comes before there is a subscription to end.
      queueMicrotask(() => subscription.unsubscribe());
      if (list.status.kind === "live") resolve(list);
      else reject(new Error(`the list is ${list.status.kind}`));
    });
  });
}

/** A list that somebody keeps up to date is asked for by another. */
async function prepareKeptList(input: CaseInput): Promise<() => Promise<Listed>> {
  const list$ = sessions$(ownDirectory(input));
  const first = await new Promise<() => void>((resolve) => {
    const subscription = list$.subscribe(({ status }) => {
      if (status.kind === "live") resolve(() => subscription.unsubscribe());
    });
  });
  return () =>
    new Promise((resolve) => {
      const subscription = list$.subscribe((list) => {
        resolve(liveTotal(list));
        first();
        queueMicrotask(() => subscription.unsubscribe());
      });
    });
}
