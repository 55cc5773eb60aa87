/** The context of a model: the first after opening, and the next after one more append. */
import { deepStrictEqual } from "node:assert";
import { performance } from "node:perf_hooks";
import { openSession } from "@branchlog/core";
import { SessionManager } from "@branchlog/agents/pi";
import { baseline, type BenchCase, defineCase, ours } from "../bench-case.ts";
import { copiedLog, largeSession, messagesOf, middleSession } from "../inputs.ts";
import { appendMessage, openCold } from "../our-session.ts";
import {
  checkContext,
  onBothNodes,
  openPeer,
  peerSubjects,
  wantedContext,
  type WantedMessages,
} from "../peers.ts";
import { smallMessage } from "../plain-session.ts";
import { timesFigures } from "../statistics.ts";

interface FoundMessages {
  readonly messages: number;
  readonly wanted: WantedMessages;
}

const firstContext = defineCase<FoundMessages>({
  name: "first-context",
  question: "How long does the first context take after opening 1 GB?",
  goal: "20 times faster than the fastest peer.",
  nodeFlags: ["--max-old-space-size=256"],
  input: largeSession,
  subjects: [
    ...onBothNodes(
      ours<FoundMessages>("session.context()", async ({ path, facts }) => {
        const session = await openCold(path);
        return async () => {
          const { messages } = await session.context();
          return { messages: messages.length, wanted: wantedContext(facts) };
        };
      }),
    ),
    ...peerSubjects<FoundMessages>("buildSessionContext()", async (peer, input) => {
      const manager = await openPeer(peer, input);
      return () => ({
        messages: manager.buildSessionContext().messages.length,
        wanted: wantedContext(input.facts, peer),
      });
    }),
  ],
  check: ({ messages, wanted }) => checkContext(messages, wanted),
  figures: ({ messages }, wallMs) => ({ "µs/message": (wallMs * 1000) / messages }),
});

interface Turns {
  readonly timesMs: readonly number[];
  readonly messages: number;
}

const turns = 2_000;
const peerTurns = 20;

const nextContext = defineCase<Turns & FoundMessages>({
  name: "next-context",
  question: "How long does the context take after one more append, in a session of 100 MB?",
  goal: "50 µs, whatever the length of the history.",
  input: middleSession,
  comparedBy: "µs/context",
  subjects: [
    ...onBothNodes(
      ours<Turns & FoundMessages>("session.context()", async (input) => {
        const session = await openSession(copiedLog(input));
        await session.context();
        return async () => {
          const timesMs: number[] = [];
          let messages = 0;
          for (let turn = 0; turn < turns; turn++) {
            await appendMessage(session, turn);
            const startMs = performance.now();
            const context = await session.context();
            timesMs.push(performance.now() - startMs);
            messages = context.messages.length;
          }
          return { timesMs, messages, wanted: wantedContext(input.facts) };
        };
      }),
    ),
    ...peerSubjects<Turns & FoundMessages>("buildSessionContext()", async (peer, input) => {
      const manager = await openPeer(peer, { ...input, path: copiedLog(input) });
      manager.buildSessionContext();
      const wanted = wantedContext(input.facts, peer);
      return () => ({
        ...timedTurns(peerTurns, (turn) => {
          manager.appendMessage(smallMessage(turn));
          return () => manager.buildSessionContext().messages;
        }),
        wanted,
      });
    }),
  ],
  check: ({ messages, wanted, timesMs }) => checkContext(messages, wanted, timesMs.length),
  figures: ({ timesMs }) => timesFigures(timesMs, "context"),
});

/** pi's array is the caller's, so it is copied each time; next to it, what such a copy costs. */
const nextContext20k = defineCase<Turns>({
  name: "next-context-20k",
  question: "How long does buildSessionContext() take after one more append to 20,000 messages?",
  goal: "0.16 ms.",
  comparedBy: "µs/context",
  input: messagesOf("chain", 20_000, 2_000),
  subjects: [
    ours("SessionManager", (input) => {
      const manager = SessionManager.open(copiedLog(input));
      manager.buildSessionContext();
      return () =>
        timedTurns(turns, (turn) => {
          manager.appendMessage(smallMessage(turn));
          return () => manager.buildSessionContext().messages;
        });
    }),
    baseline("a copy of the array", ({ path }) => {
      const { messages } = SessionManager.open(path).buildSessionContext();
      return () =>
        timedTurns(turns, (turn) => {
          messages.push(smallMessage(turn));
          return () => [...messages];
        });
    }),
  ],
  check: ({ messages }, { facts }) => deepStrictEqual(messages, facts.contextMessages + turns),
  figures: ({ timesMs }) => timesFigures(timesMs, "context"),
});

function timedTurns(count: number, begin: (turn: number) => () => readonly unknown[]): Turns {
  const timesMs: number[] = [];
  let messages = 0;
  for (let turn = 0; turn < count; turn++) {
    const build = begin(turn);
    const startMs = performance.now();
    const built = build();
    timesMs.push(performance.now() - startMs);
    messages = built.length;
  }
  return { timesMs, messages };
}

export const cases: readonly BenchCase[] = [firstContext, nextContext, nextContext20k];
