/** The same questions asked of logs of other shapes than the usual one, and of several sizes. */
import { deepStrictEqual } from "node:assert";
import { openSession, type Session } from "@branchlog/core";
import { SessionManager } from "@branchlog/core/pi";
import {
  type BenchCase,
  type CaseDefinition,
  defineCase,
  ours,
  type Prepare,
} from "../bench-case.ts";
import {
  copiedLog,
  messagesOf,
  middleSession,
  ownDirectory,
  ownLog,
  type ScaledInput,
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
  "50 sessions": (scale) => ({ ...sessionOf(437_000, 50_000)(scale), files: 50 }),
  "200 sessions": (scale) => ({ ...sessionOf(437_000, 50_000)(scale), files: 200 }),
  "800 sessions": (scale) => ({ ...sessionOf(437_000, 50_000)(scale), files: 800 }),
};

type InputCase<Result> = Omit<CaseDefinition<Result>, "subjects" | "input"> & {
  readonly prepare: Prepare<Result>;
};

/** One subject for each input, all of them answered by `prepare`. */
function inputsCase<Result>(inputs: Inputs, { prepare, ...rest }: InputCase<Result>): BenchCase {
  const subjects = Object.entries(inputs).map(([name, input]) => ours(name, prepare, { input }));
  return defineCase<Result>({ ...rest, subjects });
}

interface Opened {
  readonly entries: number;
  readonly leafId: string | null;
}

const shapeOpen = inputsCase<Opened>(shapes, {
  name: "shape-open",
  question: "What does opening cost for each entry, whatever the shape of the log?",
  goal: "twice the usual shape at most.",
  comparedBy: "ns/entry",
  prepare: (input) => async () => {
    const session = await openCold(input.path);
    return { entries: session.revision, leafId: session.leaf };
  },
  check: (opened, { facts: { entries, leafId } }) => deepStrictEqual(opened, { entries, leafId }),
  figures: ({ entries }, wallMs, { facts }) => ({
    "ns/entry": (wallMs * 1e6) / entries,
    "ns/byte": (wallMs * 1e6) / facts.bytes,
  }),
});

const shapeContext = inputsCase<number>(shapes, {
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
});

const shapeTree = inputsCase<number>(shapes, {
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
});

interface Done {
  readonly times: number;
  readonly found: number;
  readonly added: number;
}

function growthCase(name: string, of: string, inputs: Inputs, prepare: Prepare<Done>): BenchCase {
  return inputsCase<Done>(inputs, {
    name: `growth-${name}`,
    question: `How does the time of ${of} grow?`,
    goal: "an append and the next context do not grow.",
    needs: "growth",
    comparedBy: "ms each",
    prepare,
    check: ({ found, added }, { facts }) => {
      deepStrictEqual(found, added + (inputs === directories ? facts.files : facts.entries));
    },
    figures: ({ times, found }, wallMs) => ({ "ms each": wallMs / times, found }),
  });
}

async function prepareRepeated(
  session: Session,
  hasContext: boolean,
): Promise<() => Promise<Done>> {
  const times = 300;
  const step = async (i: number): Promise<void> => {
    await appendMessage(session, i);
    if (hasContext) await session.context();
  };
  await step(0);
  return async () => {
    for (let i = 1; i <= times; i++) await step(i);
    return { times, found: session.revision, added: times + 1 };
  };
}

const growthCases: readonly BenchCase[] = [
  growthCase("open", "an open", sizes, ({ path }) => async () => {
    const { revision } = await openCold(path);
    return { times: 1, found: revision, added: 0 };
  }),
  growthCase("reopen", "an open with a checkpoint", sizes, (input) => {
    const path = copiedLog(input);
    leaveCheckpoint(path);
    return async () => {
      const { session, logBytesRead } = await reopen(path, "read");
      checkReopened(logBytesRead, input.facts.bytes, true);
      return { times: 1, found: session.revision, added: 0 };
    };
  }),
  growthCase("first-context", "the first context", sizes, async ({ path }) => {
    const session = await openCold(path);
    return async () => {
      await session.context();
      return { times: 1, found: session.revision, added: 0 };
    };
  }),
  growthCase("append", "an append", sizes, async (input) =>
    prepareRepeated(await openSession(copiedLog(input)), false),
  ),
  growthCase("next-context", "an append and the next context", sizes, async (input) =>
    prepareRepeated(await openSession(copiedLog(input)), true),
  ),
  growthCase("list", "the first list of a directory", directories, (input) => {
    const path = ownDirectory(input);
    return async () => {
      const sessions = await SessionManager.list("/home/dev/projects/atlas", path);
      return { times: 1, found: sessions.length, added: 0 };
    };
  }),
];

export const cases: readonly BenchCase[] = [shapeOpen, shapeContext, shapeTree, ...growthCases];
