/** The first context after opening a large session. */
import { deepStrictEqual } from "node:assert";
import { openSession } from "@branchlog/core";
import { type BenchCase, defineCase } from "../bench-case.ts";
import { largeSession } from "../inputs.ts";

/** See the file comment. */
export const benchCase: BenchCase = defineCase<number>({
  name: "first-context",
  question: "How long does the first context take after opening 1 GB?",
  goal: "20 times faster than the fastest peer.",
  nodeFlags: ["--max-old-space-size=256"],
  input: largeSession,
  subjects: [
    {
      name: "session.context()",
      role: "ours",
      prepare: async ({ path }) => {
        const session = await openSession(path, { access: "read", checkpoint: "off" });
        return async () => (await session.context()).messages.length;
      },
    },
  ],
  check: (messages, { facts }) => {
    deepStrictEqual(messages, facts.contextMessages);
  },
  figures: (messages, wallMs) => ({ "µs/message": (wallMs * 1000) / messages }),
});
