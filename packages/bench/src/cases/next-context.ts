/** The context after one more append, again and again in a session that has a long history. */
import { deepStrictEqual } from "node:assert";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { openSession } from "@branchlog/core";
import { type BenchCase, defineCase } from "../bench-case.ts";
import { middleSession } from "../inputs.ts";

interface Turns {
  /** Time of the contexts alone, without the appends. */
  readonly contextMs: number;
  /** Messages in the last context. */
  readonly messages: number;
}

const turns = 500;

/** See the file comment. */
export const benchCase: BenchCase = defineCase<Turns>({
  name: "next-context",
  question: "How long does the context take after one more append, in a session of 100 MB?",
  goal: "50 µs, whatever the length of the history.",
  nodeFlags: [],
  input: middleSession,
  subjects: [
    {
      name: "session.context()",
      role: "ours",
      prepare: async ({ path, scratch }) => {
        const copy = join(scratch, "session.jsonl");
        copyFileSync(path, copy);
        const session = await openSession(copy);
        await session.context();
        return async () => {
          let contextMs = 0;
          let messages = 0;
          for (let turn = 0; turn < turns; turn++) {
            const message = { role: "user" as const, content: `turn ${turn}`, timestamp: turn };
            await session.append({ type: "message", message });
            const startMs = performance.now();
            const context = await session.context();
            contextMs += performance.now() - startMs;
            messages = context.messages.length;
          }
          return { contextMs, messages };
        };
      },
    },
  ],
  check: ({ messages }, { facts }) => {
    deepStrictEqual(messages, facts.contextMessages + turns);
  },
  figures: ({ contextMs }) => ({ "µs/context": (contextMs * 1000) / turns }),
});
