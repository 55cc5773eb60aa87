/** The first context in logs of unusual shapes. */
import { deepStrictEqual } from "node:assert";
import { openSession } from "@branchlog/core";
import type { BenchCase } from "../bench-case.ts";
import { shapeQuestion } from "../shape-question.ts";

/** See the file comment. */
export const benchCase: BenchCase = shapeQuestion<number>({
  name: "shape-context",
  question: "What does the first context cost, whatever the shape of the log?",
  goal:
    "twice the usual shape at most, for each message; " +
    "a context of two messages costs what any first one does.",
  comparedBy: "µs/message",
  prepare: async ({ path }) => {
    const session = await openSession(path, { access: "read", checkpoint: "off" });
    return async () => (await session.context()).messages.length;
  },
  check: (messages, { facts }) => deepStrictEqual(messages, facts.contextMessages),
  figures: (messages, wallMs) => ({ "µs/message": (wallMs * 1000) / messages, messages }),
});
