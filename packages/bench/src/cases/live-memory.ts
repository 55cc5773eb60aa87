/**
 * What watching holds in memory: per subscriber of one session, and per session that is open and
 * idle. Heap and buffers are compared before, while all are there, and after all have gone.
 */
import { deepStrictEqual, ok } from "node:assert";
import { EventEmitter } from "node:events";
import { memoryUsage } from "node:process";
import { setImmediate as turn } from "node:timers/promises";
import { createSession, openSession, type Session } from "@branchlog/core";
import { live } from "@branchlog/core/live";
import { appendMessages } from "../appending.ts";
import {
  baseline,
  type BenchCase,
  type CaseInput,
  defineCase,
  ours,
  type Scale,
  type Subject,
  type TimedWork,
} from "../bench-case.ts";
import { scratchLog } from "../inputs.ts";
import { readPlainly } from "../plain-session.ts";
import { summarize } from "../statistics.ts";

/** What is held, and what lets go of it. */
interface Holding {
  /** How many of those held showed that they are what they should be. */
  readonly sound: number;
  readonly release: () => void | Promise<void>;
}

/** Holds so many of something. */
type Hold = (count: number) => Holding | Promise<Holding>;

/** What so many of something held: of several rounds, the middle. */
interface HeldMemory {
  readonly count: number;
  /** How many were sound, in the round with the fewest. */
  readonly sound: number;
  readonly heldBytes: number;
  /** What was still there after all were gone. */
  readonly leftBytes: number;
}

/** Subscribes to a session; tells whether what comes is what it should be. */
type Subscribe = (session: Session, tell: (isSound: boolean) => void) => Subscription;

interface Subscription {
  unsubscribe(): void;
}

type Counts = Readonly<Record<Scale, number>>;

/** Of each session: a small one. */
const messages = 100;
const subscribers: Counts = { full: 10_000, quick: 1_000 };
const sessions: Counts = { full: 1_000, quick: 100 };
/** What may be left, in the middle round: 20 bytes of each of 10,000 subscribers. */
const leftBytesMax = 200_000;
/** Rounds before those that count: tables grow, and code becomes warm, only once. */
const warmUps = 2;
/** What the runtime does meanwhile is in one round or another; what leaks is in each. */
const rounds = 5;

const liveMemory = defineCase<HeldMemory>({
  name: "live-memory",
  question: "How much memory does a subscriber hold, and a session that is open and idle?",
  goal: "1 kB for a subscriber to a value, 10 kB to all entries, 40 kB for a session.",
  nodeFlags: ["--expose-gc"],
  comparedBy: "bytes each",
  subjects: [
    subscriberSubject("leaf$", (session, tell) =>
      live(session).leaf$.subscribe(({ value }) => tell(value === session.tail)),
    ),
    subscriberSubject("context$", (session, tell) =>
      live(session).context$.subscribe(({ value }) => tell(value.messages.length === messages)),
    ),
    // From the last entry on: each gets one event, as each of the others gets one value.
    subscriberSubject("entries$()", (session, tell) =>
      live(session)
        .entries$({ from: messages })
        .subscribe((event) => tell(event.kind === "entry" && event.entry.id === session.tail)),
    ),
    baseline("a listener of an EventEmitter", ({ scale }) =>
      prepareHeld(holdListeners, subscribers[scale]),
    ),
    ours("a session of 100 messages, opened", async (input) =>
      prepareHeld(holdSessions(await createLog(input)), sessions[input.scale]),
    ),
    baseline("a session of 100 messages, every line parsed", async (input) =>
      prepareHeld(holdEntries(await createLog(input)), sessions[input.scale]),
    ),
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

/** Holds and releases in rounds: first those that warm up, then, timed, those that count. */
async function prepareHeld(hold: Hold, count: number): Promise<TimedWork<HeldMemory>> {
  for (let n = 0; n < warmUps; n += 1) await measure(hold, count);
  return async () => {
    const measured: HeldMemory[] = [];
    for (let n = 0; n < rounds; n += 1) measured.push(await measure(hold, count));
    return {
      count,
      sound: summarize(measured.map(({ sound }) => sound)).min,
      heldBytes: summarize(measured.map(({ heldBytes }) => heldBytes)).median,
      leftBytes: summarize(measured.map(({ leftBytes }) => leftBytes)).median,
    };
  };
}

async function measure(hold: Hold, count: number): Promise<HeldMemory> {
  const beforeBytes = await settledBytes();
  const { sound, release } = await hold(count);
  const heldBytes = (await settledBytes()) - beforeBytes;
  await release();
  const leftBytes = (await settledBytes()) - beforeBytes;
  return { count, sound, heldBytes, leftBytes };
}

/** Heap and buffers in use, once all that is under way has ended. */
async function settledBytes(): Promise<number> {
  const { gc } = globalThis;
  if (gc === undefined) throw new Error("node was started without --expose-gc");
  for (let pass = 0; pass < 3; pass += 1) {
    await turn();
    gc();
  }
  const { heapUsed, external } = memoryUsage();
  return heapUsed + external;
}

function subscriberSubject(name: string, subscribe: Subscribe): Subject<HeldMemory> {
  return ours(`a subscriber to session.${name}`, async (input) => {
    const session = await openSession(await createLog(input), { access: "read" });
    return prepareHeld(holdSubscribers(session, subscribe), subscribers[input.scale]);
  });
}

async function createLog(input: CaseInput): Promise<string> {
  const path = scratchLog(input);
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

/** In the order in which they run. */
export const cases: readonly BenchCase[] = [liveMemory];
