/** The same questions asked of logs of other shapes than the usual one, and of several sizes. */
import { deepStrictEqual } from "node:assert";
import { openSession, type Session } from "@branchlog/core";
import { SessionManager } from "@branchlog/agents/pi";
import { type BenchCase, defineCase, ours, type Prepare, type ScaledInput } from "../bench-case.ts";
import {
  copiedLog,
  directoryOf,
  messagesOf,
  middleSession,
  ownDirectory,
  ownLog,
  sessionOf,
} from "../inputs.ts";
import { appendMessage, checkReopened, leaveCheckpoint, openCold, reopen } from "../our-session.ts";
import { countNodes } from "../plain-session.ts";

type Inputs = Readonly<Record<string, ScaledInput>>;

/** The usual shape first, which the others are compared with. */
const shapes: Inputs = {
  "the usual shape": middleSession,
  "ids of 21 characters": (scale) => ({ ...middleSession(scale), idStyle: "nanoid" }),
  "ids of 72 characters": (scale) => ({ ...middleSession(scale), idStyle: "long" }),
  "100,000 branches of one entry": messagesOf("fan-out", 100_001, 5_001),
  "a chain of 1,000,000": messagesOf("chain", 1_000_000, 20_000),
};

const sizes: Inputs = {
  "4 MB": sessionOf(4_000_000, 300_000),
  "16 MB": sessionOf(16_000_000, 1_200_000),
  "64 MB": sessionOf(64_000_000, 4_800_000),
  "256 MB": sessionOf(256_000_000, 19_200_000),
};

const directories: Inputs = {
  "50 sessions": directoryOf(50, 50),
  "200 sessions": directoryOf(200, 200),
  "800 sessions": directoryOf(800, 800),
};

interface Operation {
  readonly name: string;
  readonly of: string;
  readonly prepare: Prepare<number>;
  readonly wanted?: "entries" | "contextMessages" | "files";
  /** Per run; default 1. */
  readonly times?: number;
}

function shapeCase(operation: Operation): BenchCase {
  return inputsCase(shapes, operation, {
    name: `shape-${operation.name}`,
    question: `What does ${operation.of} cost, whatever the shape of the log?`,
    goal: "twice the usual shape at most; a context of two messages costs what any first does.",
    comparedBy: "ns/item",
  });
}

function growthCase(operation: Operation, inputs = sizes): BenchCase {
  return inputsCase(inputs, operation, {
    name: `growth-${operation.name}`,
    question: `How does the time of ${operation.of} grow?`,
    goal: "an append and the next context do not grow.",
    comparedBy: "ms each",
    needs: "growth",
  });
}

function inputsCase(
  inputs: Inputs,
  { prepare, wanted = "entries", times = 1 }: Operation,
  facts: Pick<BenchCase, "name" | "question" | "goal" | "comparedBy" | "needs">,
): BenchCase {
  return defineCase<number>({
    ...facts,
    subjects: Object.entries(inputs).map(([name, input]) => ours(name, prepare, { input })),
    check: (found, input) => deepStrictEqual(found, input.facts[wanted]),
    figures: (found, wallMs) => ({
      "ms each": wallMs / times,
      "ns/item": (wallMs * 1e6) / found,
      items: found,
    }),
  });
}

const times = 300;

function repeated(step: (session: Session, i: number) => Promise<unknown>): Prepare<number> {
  return async (input) => {
    const session = await openSession(copiedLog(input));
    await step(session, 0);
    return async () => {
      for (let i = 1; i <= times; i++) await step(session, i);
      return session.revision - times - 1;
    };
  };
}

const prepareOpen: Prepare<number> =
  ({ path }) =>
  async () =>
    (await openCold(path)).revision;

const firstContext: Omit<Operation, "name"> = {
  of: "the first context",
  wanted: "contextMessages",
  prepare: async ({ path }) => {
    const session = await openCold(path);
    return async () => (await session.context()).messages.length;
  },
};

const prepareList: Prepare<number> = (input) => {
  const path = ownDirectory(input);
  return async () => (await SessionManager.list("/home/dev/projects/atlas", path)).length;
};

export const cases: readonly BenchCase[] = [
  shapeCase({ name: "open", of: "opening", prepare: prepareOpen }),
  shapeCase({ name: "context", ...firstContext }),
  shapeCase({
    name: "tree",
    of: "getTree()",
    prepare: (input) => {
      const manager = SessionManager.open(ownLog(input));
      return () => countNodes(manager.getTree());
    },
  }),
  growthCase({ name: "open", of: "an open", prepare: prepareOpen }),
  growthCase({
    name: "reopen",
    of: "an open with a checkpoint",
    prepare: (input) => {
      const path = copiedLog(input);
      leaveCheckpoint(path);
      return async () => {
        const { session, logBytesRead } = await reopen(path);
        checkReopened(logBytesRead, input.facts.bytes);
        return session.revision;
      };
    },
  }),
  growthCase({ name: "first-context", ...firstContext }),
  growthCase({ name: "append", of: "an append", times, prepare: repeated(appendMessage) }),
  growthCase({
    name: "next-context",
    of: "an append and the next context",
    times,
    prepare: repeated(async (session, i) => {
      await appendMessage(session, i);
      await session.context();
    }),
  }),
  growthCase(
    { name: "list", of: "the first list of a directory", wanted: "files", prepare: prepareList },
    directories,
  ),
];
