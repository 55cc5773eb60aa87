/**
 * pi's own array of 20,000 messages, asked for again after one more append. It is the caller's, so
 * it is copied each time; beside it, what copying such an array costs.
 */
import { deepStrictEqual } from "node:assert";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { SessionManager } from "@branchlog/core/pi";
import { smallMessage } from "../append-check.ts";
import { type BenchCase, type CaseInput, defineCase } from "../bench-case.ts";
import { longContext } from "../inputs.ts";
import { timesFigures } from "../statistics.ts";

interface Turns {
  /** Of each context alone, without the append. */
  readonly timesMs: readonly number[];
  /** Messages in the last context. */
  readonly messages: number;
}

/** So many that the code is warm for most of them. */
const turns = 2_000;

/** See the file comment. */
export const benchCase: BenchCase = defineCase<Turns>({
  name: "next-context-20k",
  question: "How long does buildSessionContext() take after one more append to 20,000 messages?",
  goal: "0.16 ms.",
  nodeFlags: [],
  comparedBy: "µs/context",
  input: longContext,
  subjects: [
    { name: "SessionManager", role: "ours", prepare: prepareManager },
    { name: "a copy of the array", role: "baseline", prepare: prepareCopies },
  ],
  check: ({ messages }, { facts }) => {
    deepStrictEqual(messages, facts.contextMessages + turns);
  },
  figures: ({ timesMs }) => timesFigures(timesMs, "context"),
});

function prepareManager({ path, scratch }: CaseInput): () => Turns {
  const copy = join(scratch, "session.jsonl");
  copyFileSync(path, copy);
  const manager = SessionManager.open(copy);
  manager.buildSessionContext();
  return () => {
    return timedTurns((turn) => {
      manager.appendMessage(smallMessage(turn));
      return () => manager.buildSessionContext().messages;
    });
  };
}

function prepareCopies({ path }: CaseInput): () => Turns {
  const { messages } = SessionManager.open(path).buildSessionContext();
  return () => {
    return timedTurns((turn) => {
      messages.push(smallMessage(turn));
      return () => [...messages];
    });
  };
}

/** @param begin What is not timed of a turn; it returns what is. */
function timedTurns(begin: (turn: number) => () => readonly unknown[]): Turns {
  const timesMs: number[] = [];
  let messages = 0;
  for (let turn = 0; turn < turns; turn++) {
    const build = begin(turn);
    const startMs = performance.now();
    const built = build();
    timesMs.push(performance.now() - startMs);
    messages = built.length;
  }
  return { timesMs, messages };
}
