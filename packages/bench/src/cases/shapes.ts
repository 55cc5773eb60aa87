/** The same questions asked of logs of other shapes than the usual one, and of several sizes. */
import { deepStrictEqual } from "node:assert";
import { openSession, type Session } from "@branchlog/core";
import { SessionManager } from "@branchlog/core/pi";
import {
  type BenchCase,
  defineCase,
  ours,
  type Prepare,
  type ScaledInput,
  type TimedWork,
} from "../bench-case.ts";
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

interface InputsCase {
  readonly name: string;
  readonly question: string;
  readonly goal: string;
  readonly comparedBy: string;
  readonly needs?: "growth";
  /** Default `entries`. */
  readonly wanted?: "entries" | "contextMessages" | "files";
  /** How often the work does what is asked; default 1. */
  readonly times?: number;
}

/** `prepare` returns the number of items. */
function inputsCase(
  inputs: Inputs,
  { wanted = "entries", times = 1, ...facts }: InputsCase,
  prepare: Prepare<number>,
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

function shapeCase(
  name: string,
  of: string,
  wanted: "entries" | "contextMessages",
  prepare: Prepare<number>,
): BenchCase {
  const question = `What does ${of} cost, whatever the shape of the log?`;
  const goal =
    "twice the usual shape at most; a context of two messages costs what any first does.";
  const facts = { name: `shape-${name}`, question, goal, comparedBy: "ns/item", wanted };
  return inputsCase(shapes, facts, prepare);
}

function growthCase(
  name: string,
  of: string,
  prepare: Prepare<number>,
  more: Pick<InputsCase, "wanted" | "times"> = {},
): BenchCase {
  const question = `How does the time of ${of} grow?`;
  const goal = "an append and the next context do not grow.";
  const facts = { name: `growth-${name}`, question, goal, comparedBy: "ms each", ...more };
  const inputs = more.wanted === "files" ? directories : sizes;
  return inputsCase(inputs, { ...facts, needs: "growth" }, prepare);
}

const times = 300;

/** Repeats a step, after once that warms up. */
async function repeated(
  session: Session,
  step: (i: number) => Promise<unknown>,
): Promise<TimedWork<number>> {
  await step(0);
  return async () => {
    for (let i = 1; i <= times; i++) await step(i);
    return session.revision - times - 1;
  };
}

const prepareOpen: Prepare<number> =
  ({ path }) =>
  async () =>
    (await openCold(path)).revision;

export const cases: readonly BenchCase[] = [
  shapeCase("open", "opening", "entries", prepareOpen),
  shapeCase("context", "the first context", "contextMessages", async ({ path }) => {
    const session = await openCold(path);
    return async () => (await session.context()).messages.length;
  }),
  shapeCase("tree", "getTree()", "entries", (input) => {
    const manager = SessionManager.open(ownLog(input));
    return () => countNodes(manager.getTree());
  }),
  growthCase("open", "an open", prepareOpen),
  growthCase("reopen", "an open with a checkpoint", (input) => {
    const path = copiedLog(input);
    leaveCheckpoint(path);
    return async () => {
      const { session, logBytesRead } = await reopen(path, "read");
      checkReopened(logBytesRead, input.facts.bytes, true);
      return session.revision;
    };
  }),
  growthCase(
    "first-context",
    "the first context",
    async ({ path }) => {
      const session = await openCold(path);
      return async () => (await session.context()).messages.length;
    },
    { wanted: "contextMessages" },
  ),
  growthCase(
    "append",
    "an append",
    async (input) => {
      const session = await openSession(copiedLog(input));
      return repeated(session, (i) => appendMessage(session, i));
    },
    { times },
  ),
  growthCase(
    "next-context",
    "an append and the next context",
    async (input) => {
      const session = await openSession(copiedLog(input));
      return repeated(session, async (i) => {
        await appendMessage(session, i);
        await session.context();
      });
    },
    { times },
  ),
  growthCase(
    "list",
    "the first list of a directory",
    (input) => {
      const path = ownDirectory(input);
      return async () => (await SessionManager.list("/home/dev/projects/atlas", path)).length;
    },
    { wanted: "files" },
  ),
];
