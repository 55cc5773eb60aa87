/** pi's own array of 20,000 messages, asked for again after one more append. */
import { deepStrictEqual } from "node:assert";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { SessionManager } from "@branchlog/core/pi";
import { smallMessage } from "../append-check.ts";
import { type BenchCase, type CaseInput, defineCase } from "../bench-case.ts";
import { longContext } from "../inputs.ts";

interface Turns {
  /** Time of the contexts alone, without the appends. */
  readonly contextMs: number;
  /** Messages in the last context. */
  readonly messages: number;
}

const turns = 500;

/** See the file comment. */
export const benchCase: BenchCase = defineCase<Turns>({
  name: "next-context-20k",
  question: "How long does buildSessionContext() take after one more append to 20,000 messages?",
  goal: "0.16 ms.",
  nodeFlags: [],
  comparedBy: "µs/context",
  input: longContext,
  subjects: [{ name: "SessionManager", role: "ours", prepare: prepareManager }],
  check: ({ messages }, { facts }) => {
    deepStrictEqual(messages, facts.contextMessages + turns);
  },
  figures: ({ contextMs }) => ({ "µs/context": (contextMs * 1000) / turns }),
});

function prepareManager({ path, scratch }: CaseInput): () => Turns {
  const copy = join(scratch, "session.jsonl");
  copyFileSync(path, copy);
  const manager = SessionManager.open(copy);
  manager.buildSessionContext();
  return () => {
    let contextMs = 0;
    let messages = 0;
    for (let turn = 0; turn < turns; turn++) {
      manager.appendMessage(smallMessage(turn));
      const startMs = performance.now();
      const context = manager.buildSessionContext();
      contextMs += performance.now() - startMs;
      messages = context.messages.length;
    }
    return { contextMs, messages };
  };
}
