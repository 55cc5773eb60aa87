/**
 * Sessions in memory, for cases about watching: so that neither the disk nor the lock is in their
 * times. And the moment from which such a session tells of a change.
 */
import { performance } from "node:perf_hooks";
import { memorySession } from "@branchlog/core";
import type { AppendResult, Session } from "@branchlog/core";
import { smallMessage } from "./append-check.ts";

/** Entries of one append while a history is made. */
const batchEntries = 10_000;

/** A session that holds so many messages in one chain, numbered from 0. */
export async function sessionWithHistory(messages: number): Promise<Session> {
  const session = await memorySession();
  await appendMessages(session, 0, messages);
  return session;
}

/** Appends the messages of the numbers `[from, to)`, many at a time. */
export async function appendMessages(session: Session, from: number, to: number): Promise<void> {
  for (let first = from; first < to; first += batchEntries) {
    const length = Math.min(batchEntries, to - first);
    const numbers = Array.from({ length }, (_, place) => first + place);
    await session.appendAll(
      numbers.map((i) => ({ type: "message", message: smallMessage(i) }) as const),
    );
  }
}

/** Appends the message of one number. */
export function appendMessage(session: Session, i: number): Promise<AppendResult> {
  return session.append({ type: "message", message: smallMessage(i) });
}

/** When a session last began to tell of a change, on the clock of `performance.now()`. */
export interface ChangeTime {
  readonly ms: number;
}

/**
 * Takes note of it by being the first to subscribe: all that watch a session are told in the order
 * in which they came. What a change costs before, in the append, is not of the watching.
 */
export function timeOfChanges(session: Session): ChangeTime {
  const time = { ms: 0 };
  session
    .select(({ revision }) => revision)
    .subscribe(() => {
      time.ms = performance.now();
    });
  return time;
}
