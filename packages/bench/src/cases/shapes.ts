/** The same questions asked of logs of other shapes than the usual one, and of the usual one. */
import { deepStrictEqual } from "node:assert";
import { SessionManager } from "@branchlog/core/pi";
import {
  type BenchCase,
  type CaseDefinition,
  defineCase,
  ours,
  type Subject,
} from "../bench-case.ts";
import { messagesOf, middleSession, openCold, ownLog, type ScaledInput } from "../inputs.ts";
import { countNodes } from "../plain-session.ts";

/** The usual shape first, which the others are compared with. */
const shapes: Readonly<Record<string, ScaledInput>> = {
  "the usual shape": middleSession,
  "ids of 21 characters": (scale) => ({ ...middleSession(scale), idStyle: "nanoid" }),
  "ids of 72 characters": (scale) => ({ ...middleSession(scale), idStyle: "long" }),
  "100,000 branches of one entry": messagesOf("fan-out", 100_001, 5_001),
  "a chain of 1,000,000": messagesOf("chain", 1_000_000, 20_000),
};

/** One subject for each shape, all of them answered by `prepare`. */
function shapeCase<Result>({
  prepare,
  ...rest
}: Omit<CaseDefinition<Result>, "subjects" | "input"> &
  Pick<Subject<Result>, "prepare">): BenchCase {
  const subjects = Object.entries(shapes).map(([name, input]) => ours(name, prepare, { input }));
  return defineCase<Result>({ ...rest, input: middleSession, subjects });
}

/** In the order in which they run. */
export const cases: readonly BenchCase[] = [
  shapeCase<{ readonly entries: number; readonly leafId: string | null }>({
    name: "shape-open",
    question: "What does opening cost for each entry, whatever the shape of the log?",
    goal: "twice the usual shape at most.",
    comparedBy: "ns/entry",
    prepare:
      ({ path }) =>
      async () => {
        const session = await openCold(path);
        return { entries: session.revision, leafId: session.leaf };
      },
    check: (opened, { facts: { entries, leafId } }) => deepStrictEqual(opened, { entries, leafId }),
    figures: ({ entries }, wallMs, { facts }) => ({
      "ns/entry": (wallMs * 1e6) / entries,
      "ns/byte": (wallMs * 1e6) / facts.bytes,
    }),
  }),
  shapeCase<number>({
    name: "shape-context",
    question: "What does the first context cost, whatever the shape of the log?",
    goal:
      "twice the usual shape at most, for each message; " +
      "a context of two messages costs what any first one does.",
    comparedBy: "µs/message",
    prepare: async ({ path }) => {
      const session = await openCold(path);
      return async () => (await session.context()).messages.length;
    },
    check: (messages, { facts }) => deepStrictEqual(messages, facts.contextMessages),
    figures: (messages, wallMs) => ({ "µs/message": (wallMs * 1000) / messages, messages }),
  }),
  shapeCase<number>({
    name: "shape-tree",
    question: "What does getTree() cost for each entry, whatever the shape of the log?",
    goal: "twice the usual shape at most.",
    comparedBy: "ns/entry",
    prepare: (input) => {
      const manager = SessionManager.open(ownLog(input));
      return () => countNodes(manager.getTree());
    },
    check: (nodes, { facts }) => deepStrictEqual(nodes, facts.entries),
    figures: (nodes, wallMs) => ({ "ns/entry": (wallMs * 1e6) / nodes }),
  }),
];
