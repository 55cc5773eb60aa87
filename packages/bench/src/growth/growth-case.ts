/** What is measured at several sizes of a log: opening, appending and the context, each alone. */
import { deepStrictEqual } from "node:assert";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { openSession, type Session } from "@branchlog/core";
import { smallMessage } from "../append-check.ts";
import { type BenchCase, type CaseInput, defineCase } from "../bench-case.ts";
import { middleSession } from "../inputs.ts";
import { checkReopened, leaveCheckpoint, reopen } from "../kept-checkpoint.ts";

/** What was done so many times, and left so many entries. */
interface Done {
  readonly times: number;
  readonly entries: number;
  /** Entries that were added. */
  readonly added: number;
  /** Of the log, where it was opened with a checkpoint. */
  readonly reopenedBytes?: number;
}

const repeats = 300;

/** See the file comment. Its input is given by whoever runs it. */
export const benchCase: BenchCase = defineCase<Done>({
  name: "growth",
  question: "How does the cost of each operation grow with the length of the log?",
  goal: "an append and the next context do not grow.",
  nodeFlags: [],
  input: middleSession,
  subjects: [
    {
      name: "open",
      role: "ours",
      prepare: (input) => async () => doneOnce(await openSession(input.path, withoutCheckpoint)),
    },
    {
      name: "reopen",
      role: "ours",
      prepare: (input) => {
        const path = copyOf(input);
        leaveCheckpoint(path);
        return async () => {
          const { session, logBytesRead } = await reopen(path, "read");
          return { ...doneOnce(session), reopenedBytes: logBytesRead };
        };
      },
    },
    {
      name: "first context",
      role: "ours",
      prepare: async (input) => {
        const session = await openSession(input.path, withoutCheckpoint);
        return async () => {
          await session.context();
          return doneOnce(session);
        };
      },
    },
    {
      name: "append",
      role: "ours",
      prepare: async (input) => {
        const session = await openSession(copyOf(input));
        await appendOne(session, 0);
        return () => repeat(session, (i) => appendOne(session, i));
      },
    },
    {
      name: "append and next context",
      role: "ours",
      prepare: async (input) => {
        const session = await openSession(copyOf(input));
        await appendOne(session, 0);
        await session.context();
        return () =>
          repeat(session, async (i) => {
            await appendOne(session, i);
            await session.context();
          });
      },
    },
  ],
  check: ({ entries, added, reopenedBytes }, { facts }) => {
    deepStrictEqual(entries, facts.entries + added);
    if (reopenedBytes !== undefined) checkReopened(reopenedBytes, facts.bytes, true);
  },
  figures: ({ times }, wallMs) => ({ "ms each": wallMs / times }),
});

const withoutCheckpoint = { access: "read", checkpoint: "off" } as const;

function doneOnce(session: Session): Done {
  return { times: 1, entries: session.revision, added: 0 };
}

async function repeat(session: Session, step: (i: number) => Promise<void>): Promise<Done> {
  for (let i = 1; i <= repeats; i++) await step(i);
  return { times: repeats, entries: session.revision, added: repeats + 1 };
}

async function appendOne(session: Session, i: number): Promise<void> {
  await session.append({ type: "message", message: smallMessage(i) });
}

function copyOf({ path, scratch }: CaseInput): string {
  const copy = join(scratch, "session.jsonl");
  copyFileSync(path, copy);
  return copy;
}
