/**
 * The question how much memory a process needs that uses a log in the usual ways. The answer is the
 * peak of each process, which every report has; here it is a figure, too, and compared by.
 */
import { deepStrictEqual } from "node:assert";
import { resourceUsage } from "node:process";
import { openSession, type SessionEntry } from "@branchlog/core";
import { isKnownEntry } from "@branchlog/core/entries";
import { SessionManager } from "@branchlog/core/pi";
import {
  type BenchCase,
  type CaseDefinition,
  type CaseInput,
  defineCase,
  type InputFacts,
  type Subject,
} from "./bench-case.ts";
import { ownLog } from "./own-input.ts";

/** What a use of the log came to, and what it should. */
interface Used {
  readonly found: number;
  readonly wanted: (facts: InputFacts) => number;
  readonly peakBytes: number;
}

/** Makes the case for logs of one kind. */
export function memoryQuestion(
  definition: Pick<CaseDefinition<Used>, "name" | "question" | "goal" | "input" | "needs">,
): BenchCase {
  return defineCase<Used>({
    ...definition,
    nodeFlags: [],
    comparedBy: "MB at most",
    subjects,
    check: ({ found, wanted }, { facts }) => deepStrictEqual(found, wanted(facts)),
    figures: ({ peakBytes }, _wallMs, { facts }) => ({
      "MB at most": peakBytes / 1e6,
      "bytes/entry": peakBytes / facts.entries,
    }),
  });
}

const entriesOf = ({ entries }: InputFacts): number => entries;

const subjects: readonly Subject<Used>[] = [
  subject("openSession", entriesOf, async ({ path }) => {
    const session = await openSession(path, { access: "read", checkpoint: "off" });
    return session.revision;
  }),
  subject(
    "openSession and context()",
    ({ contextMessages }) => contextMessages,
    async ({ path }) => {
      const session = await openSession(path, { access: "read", checkpoint: "off" });
      return (await session.context()).messages.length;
    },
  ),
  subject("openSession and every entry once", entriesOf, async ({ path }) => {
    const session = await openSession(path, { access: "read", checkpoint: "off" });
    let count = 0;
    for await (const { id } of session.entries()) if (id !== "") count += 1;
    return count;
  }),
  subject("SessionManager.getEntries(), every id read", entriesOf, ({ path }) =>
    countOf(SessionManager.open(path).getEntries(), ({ id }) => id !== ""),
  ),
  subject("SessionManager.getEntries(), every body read", entriesOf, ({ path }) =>
    countOf(SessionManager.open(path).getEntries(), hasBody),
  ),
  subject(
    "SessionManager.getBranch(), every body read",
    ({ leafDepth }) => leafDepth,
    ({ path }) => countOf(SessionManager.open(path).getBranch(), hasBody),
  ),
];

function countOf(
  entries: readonly SessionEntry[],
  isCounted: (entry: SessionEntry) => boolean,
): number {
  let count = 0;
  for (const entry of entries) if (isCounted(entry)) count += 1;
  return count;
}

/** Looks into the message, as an agent does that shows the session. */
function hasBody(entry: SessionEntry): boolean {
  return isKnownEntry(entry) && entry.type === "message"
    ? entry.message.role.length > 0
    : Object.keys(entry).length > 3;
}

function subject(
  name: string,
  wanted: Used["wanted"],
  use: (input: CaseInput) => number | Promise<number>,
): Subject<Used> {
  return {
    name,
    role: "ours",
    prepare: (input) => {
      const own = { ...input, path: ownLog(input) };
      return async () => {
        const found = await use(own);
        return { found, wanted, peakBytes: resourceUsage().maxRSS * 1024 };
      };
    },
  };
}
