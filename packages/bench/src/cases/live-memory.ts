/**
 * What watching holds in memory: per subscriber of one session, and per session that is open and
 * idle. The heap is compared before, while all are there, and after all have gone.
 */
import { deepStrictEqual, ok } from "node:assert";
import { EventEmitter } from "node:events";
import { join } from "node:path";
import { createSession, openSession } from "@branchlog/core";
import type { Session } from "@branchlog/core";
import type { Subscription } from "@branchlog/streaming";
import { noInput } from "../append-check.ts";
import {
  type BenchCase,
  type CaseInput,
  defineCase,
  type Scale,
  type Subject,
} from "../bench-case.ts";
import { type HeldMemory, type Hold, type Holding, prepareHeld } from "../held-memory.ts";
import { readPlainly } from "../plain-reader.ts";
import { appendMessages } from "../watched-session.ts";

/** Subscribes to a session; tells whether what comes is what it should be. */
type Subscribe = (session: Session, tell: (isSound: boolean) => void) => Subscription;

/** Of the session, which is the small one of somebody who has many. */
const messages = 100;
const subscribers: Readonly<Record<Scale, number>> = { full: 10_000, quick: 1_000 };
const sessions: Readonly<Record<Scale, number>> = { full: 1_000, quick: 100 };
/** What may be left, in the middle round: 20 bytes of each of 10,000 subscribers. */
const leftBytesMax = 200_000;

/** See the file comment. */
export const benchCase: BenchCase = defineCase<HeldMemory>({
  name: "live-memory",
  question: "How much memory does a subscriber hold, and a session that is open and idle?",
  goal: "1 kB for a subscriber to a value, 10 kB to all entries, 40 kB for a session.",
  nodeFlags: ["--expose-gc"],
  comparedBy: "bytes each",
  input: noInput,
  subjects: [
    subscriberSubject("leaf$", (session, tell) =>
      session.leaf$.subscribe(({ value }) => tell(value === session.tail)),
    ),
    subscriberSubject("context$", (session, tell) =>
      session.context$.subscribe(({ value }) => tell(value.messages.length === messages)),
    ),
    // From the last entry on: each gets one event, as each of the others gets one value.
    subscriberSubject("entries$()", (session, tell) =>
      session
        .entries$({ from: messages })
        .subscribe((event) => tell(event.kind === "entry" && event.entry.id === session.tail)),
    ),
    {
      name: "a listener of an EventEmitter",
      role: "baseline",
      prepare: ({ scale }) => prepareHeld(holdListeners, subscribers[scale]),
    },
    {
      name: "a session of 100 messages, opened",
      role: "ours",
      prepare: async (input) =>
        prepareHeld(holdSessions(await createLog(input)), sessions[input.scale]),
    },
    {
      name: "a session of 100 messages, every line parsed",
      role: "baseline",
      prepare: async (input) =>
        prepareHeld(holdEntries(await createLog(input)), sessions[input.scale]),
    },
  ],
  check: ({ count, sound, heldBytes, leftBytes }) => {
    deepStrictEqual(sound, count);
    const what = `${leftBytes} bytes are left of ${heldBytes}`;
    ok(leftBytes <= leftBytesMax, what);
    ok(heldBytes > count, what);
  },
  figures: ({ count, heldBytes, leftBytes }) => ({
    "bytes each": heldBytes / count,
    "bytes each left": leftBytes / count,
  }),
});

function subscriberSubject(name: string, subscribe: Subscribe): Subject<HeldMemory> {
  return {
    name: `a subscriber to session.${name}`,
    role: "ours",
    prepare: async (input) => {
      const session = await openSession(await createLog(input), { access: "read" });
      return prepareHeld(holdSubscribers(session, subscribe), subscribers[input.scale]);
    },
  };
}

async function createLog({ scratch }: CaseInput): Promise<string> {
  const path = join(scratch, "session.jsonl");
  const session = await createSession(path);
  await appendMessages(session, 0, messages);
  await session.close();
  return path;
}

/** Subscribers of one session, each of which has got what there is. */
function holdSubscribers(session: Session, subscribe: Subscribe): Hold {
  return async (count) => {
    const subscriptions: Subscription[] = [];
    let told = 0;
    let sound = 0;
    await new Promise<void>((resolve) => {
      const tell = (isSound: boolean): void => {
        told += 1;
        if (isSound) sound += 1;
        if (told === count) resolve();
      };
      for (let n = 0; n < count; n += 1) subscriptions.push(subscribe(session, tell));
    });
    const release = (): void => {
      for (const subscription of subscriptions.splice(0)) subscription.unsubscribe();
    };
    return { sound, release };
  };
}

function holdListeners(count: number): Holding {
  const emitter = new EventEmitter().setMaxListeners(0);
  let sound = 0;
  for (let n = 0; n < count; n += 1) {
    emitter.on("leaf", (value: unknown) => {
      if (value === "first") sound += 1;
    });
  }
  emitter.emit("leaf", "first");
  return { sound, release: () => void emitter.removeAllListeners() };
}

function holdSessions(path: string): Hold {
  return async (count) => {
    const opened: Session[] = [];
    for (let n = 0; n < count; n += 1) opened.push(await openSession(path, { access: "read" }));
    const sound = opened.filter(({ revision }) => revision === messages).length;
    const release = async (): Promise<void> => {
      for (const session of opened.splice(0)) await session.close();
    };
    return { sound, release };
  };
}

function holdEntries(path: string): Hold {
  return (count) => {
    const parsed = Array.from({ length: count }, () => readPlainly(path));
    const sound = parsed.filter(({ entries }) => entries.length === messages).length;
    return { sound, release: () => void parsed.splice(0) };
  };
}
