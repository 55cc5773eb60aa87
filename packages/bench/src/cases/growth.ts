/**
 * What is measured at several sizes of a log: opening, appending and the context, each alone. No
 * part of a usual run; the inputs come from what measures growth.
 */
import { deepStrictEqual } from "node:assert";
import { openSession, type Session } from "@branchlog/core";
import { appendMessage } from "../appending.ts";
import { type BenchCase, defineCase, ours } from "../bench-case.ts";
import { checkReopened, leaveCheckpoint, reopen } from "../checkpoints.ts";
import { copiedLog, middleSession, openCold } from "../inputs.ts";

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

const growth = defineCase<Done>({
  name: "growth",
  question: "How does the cost of each operation grow with the length of the log?",
  goal: "an append and the next context do not grow.",
  input: middleSession,
  subjects: [
    ours(
      "open",
      ({ path }) =>
        async () =>
          doneOnce(await openCold(path)),
    ),
    ours("reopen", (input) => {
      const path = copiedLog(input);
      leaveCheckpoint(path);
      return async () => {
        const { session, logBytesRead } = await reopen(path, "read");
        return { ...doneOnce(session), reopenedBytes: logBytesRead };
      };
    }),
    ours("first context", async ({ path }) => {
      const session = await openCold(path);
      return async () => {
        await session.context();
        return doneOnce(session);
      };
    }),
    ours("append", async (input) => {
      const session = await openSession(copiedLog(input));
      await appendMessage(session, 0);
      return () => repeat(session, (i) => appendMessage(session, i));
    }),
    ours("append and next context", async (input) => {
      const session = await openSession(copiedLog(input));
      await appendMessage(session, 0);
      await session.context();
      return () =>
        repeat(session, async (i) => {
          await appendMessage(session, i);
          await session.context();
        });
    }),
  ],
  check: ({ entries, added, reopenedBytes }, { facts }) => {
    deepStrictEqual(entries, facts.entries + added);
    if (reopenedBytes !== undefined) checkReopened(reopenedBytes, facts.bytes, true);
  },
  figures: ({ times }, wallMs) => ({ "ms each": wallMs / times }),
});

function doneOnce(session: Session): Done {
  return { times: 1, entries: session.revision, added: 0 };
}

async function repeat(session: Session, step: (i: number) => Promise<unknown>): Promise<Done> {
  for (let i = 1; i <= repeats; i++) await step(i);
  return { times: repeats, entries: session.revision, added: repeats + 1 };
}

/** The only one. */
export const cases: readonly BenchCase[] = [growth];
