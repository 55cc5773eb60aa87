/** How cases append messages of ours: one, very many at a time, or some in flight. */
import { performance } from "node:perf_hooks";
import { type AppendResult, memorySession, type Session } from "@branchlog/core";
import { live } from "@branchlog/core/live";
import { smallMessage } from "./plain-session.ts";

/** Entries of one append while a history is made. */
const batchEntries = 10_000;

/** Appends the message of one number. */
export function appendMessage(session: Session, i: number): Promise<AppendResult> {
  return session.append({ type: "message", message: smallMessage(i) });
}

/** Appends the messages of the numbers `[from, to)`, many at a time. */
export async function appendMessages(session: Session, from: number, to: number): Promise<void> {
  for (let first = from; first < to; first += batchEntries) {
    const length = Math.min(batchEntries, to - first);
    const messages = Array.from({ length }, (_, place) => smallMessage(first + place));
    await session.appendAll(messages.map((message) => ({ type: "message", message }) as const));
  }
}

/** A session in memory that holds so many messages in one chain, numbered from 0. */
export async function sessionWithHistory(messages: number): Promise<Session> {
  const session = await memorySession();
  await appendMessages(session, 0, messages);
  return session;
}

/** Does `work` for each number below `count`, so many at a time. */
export async function inFlight(
  count: number,
  width: number,
  work: (i: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const workSome = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: width }, workSome));
}

/** When a session last began to tell of a change, on the clock of `performance.now()`. */
export interface ChangeTime {
  readonly ms: number;
}

/**
 * Measures it as the first subscriber: subscribers of a session are called in the order
 * in which they subscribed. What a change costs before, in the append, is not of the watching.
 */
export function timeOfChanges(session: Session): ChangeTime {
  const time = { ms: 0 };
  live(session)
    .select(() => session.revision)
    .subscribe(() => {
      time.ms = performance.now();
    });
  return time;
}
