/** The context after one more append, again and again in a session that has a long history. */
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { openSession } from "@branchlog/core";
import { type BenchCase, defineCase, type Subject } from "../bench-case.ts";
import { middleSession } from "../inputs.ts";
import {
  checkContext,
  onNode24,
  openPeerCopy,
  ourContext,
  peerContext,
  type PeerManager,
  peerSubjects,
  type WantedMessages,
} from "../session-peers.ts";
import { timesFigures } from "../statistics.ts";

interface Turns {
  /** Of each context alone, without the append. */
  readonly timesMs: readonly number[];
  /** Messages in the last context. */
  readonly messages: number;
  readonly turns: number;
  /** And those that this reader should find in the first one. */
  readonly wanted: WantedMessages;
}

/** So many that the code is warm for most of them. */
const turns = 2_000;
/** Of peers, of which one turn takes up to a second. */
const peerTurns = 20;

const ours: Subject<Turns> = {
  name: "session.context()",
  role: "ours",
  prepare: async ({ path, scratch, facts }) => {
    const copy = join(scratch, "session.jsonl");
    copyFileSync(path, copy);
    const session = await openSession(copy);
    await session.context();
    return async () => {
      const timesMs: number[] = [];
      let messages = 0;
      for (let turn = 0; turn < turns; turn++) {
        await session.append({ type: "message", message: turnMessage(turn) });
        const startMs = performance.now();
        const context = await session.context();
        timesMs.push(performance.now() - startMs);
        messages = context.messages.length;
      }
      return { timesMs, messages, turns, wanted: ourContext(facts) };
    };
  },
};

/** See the file comment. */
export const benchCase: BenchCase = defineCase<Turns>({
  name: "next-context",
  question: "How long does the context take after one more append, in a session of 100 MB?",
  goal: "50 µs, whatever the length of the history.",
  nodeFlags: [],
  input: middleSession,
  comparedBy: "µs/context",
  subjects: [
    ours,
    onNode24(ours),
    ...peerSubjects("buildSessionContext()", async (peer, input) => {
      const manager = await openPeerCopy(peer, input);
      manager.buildSessionContext();
      const wanted = peerContext(peer, input.facts);
      return () => ({ ...takeTurns(manager), wanted });
    }),
  ],
  check: ({ messages, wanted, turns: taken }) => {
    checkContext(messages, wanted, taken);
  },
  figures: ({ timesMs }) => timesFigures(timesMs, "context"),
});

function takeTurns(manager: PeerManager): Omit<Turns, "wanted"> {
  const timesMs: number[] = [];
  let messages = 0;
  for (let turn = 0; turn < peerTurns; turn++) {
    manager.appendMessage(turnMessage(turn));
    const startMs = performance.now();
    const context = manager.buildSessionContext();
    timesMs.push(performance.now() - startMs);
    messages = context.messages.length;
  }
  return { timesMs, messages, turns: peerTurns };
}

function turnMessage(turn: number): {
  readonly role: "user";
  readonly content: string;
  readonly timestamp: number;
} {
  return { role: "user", content: `turn ${turn}`, timestamp: turn };
}
