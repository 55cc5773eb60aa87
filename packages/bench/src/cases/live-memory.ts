/**
 * What watching holds in memory: per subscriber of one session, and per session that is open and
 * idle. Heap and buffers are compared before, while all are there, and after all were released.
 */
import { deepStrictEqual, ok } from "node:assert";
import { EventEmitter } from "node:events";
import { memoryUsage } from "node:process";
import { setImmediate as turn } from "node:timers/promises";
import { createSession, openSession, type Session } from "@branchlog/core";
import { live } from "@branchlog/core/live";
import {
  baseline,
  type BenchCase,
  type CaseInput,
  type Counts,
  defineCase,
  ours,
  type Prepare,
} from "../bench-case.ts";
import { scratchLog } from "../inputs.ts";
import { appendMessages } from "../our-session.ts";
import { readPlainly } from "../plain-session.ts";
import { summarize } from "../statistics.ts";

/** Holds so many of something; tells how many of them are as they should be, and releases them. */
type Hold = (count: number) => Holding | Promise<Holding>;
interface Holding {
  readonly sound: number;
  readonly release: () => void | Promise<void>;
}

/** The median of several rounds; `sound` is that of the worst one. */
interface HeldMemory {
  readonly count: number;
  readonly sound: number;
  readonly heldBytes: number;
  readonly leftBytes: number;
}

interface Subscription {
  unsubscribe(): void;
}

const messages = 100;
const subscribers: Counts = { full: 10_000, quick: 1_000 };
const sessions: Counts = { full: 1_000, quick: 100 };
/** What may be left, in the median round: 20 bytes of each of 10,000 subscribers. */
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
    ours(
      "a subscriber to session.leaf$",
      prepareSubscribers((session, tell) =>
        live(session).leaf$.subscribe(({ value }) => tell(value === session.tail)),
      ),
    ),
    ours(
      "a subscriber to session.context$",
      prepareSubscribers((session, tell) =>
        live(session).context$.subscribe(({ value }) => tell(value.messages.length === messages)),
      ),
    ),
    // From the last entry on: each gets one event, as each of the others gets one value.
    ours(
      "a subscriber to session.entries$()",
      prepareSubscribers((session, tell) =>
        live(session)
          .entries$({ from: messages })
          .subscribe((event) => tell(event.kind === "entry" && event.entry.id === session.tail)),
      ),
    ),
    baseline(
      "a listener of an EventEmitter",
      prepareHeld(subscribers, () => holdListeners),
    ),
    ours("a session of 100 messages, opened", prepareHeld(sessions, holdSessions)),
    baseline("a session of 100 messages, every line parsed", prepareHeld(sessions, holdEntries)),
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
function prepareHeld(
  counts: Counts,
  holdOf: (path: string) => Hold | Promise<Hold>,
): Prepare<HeldMemory> {
  return async (input) => {
    const count = counts[input.scale];
    const hold = await holdOf(await createLog(input));
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

async function createLog(input: CaseInput): Promise<string> {
  const path = scratchLog(input);
  const session = await createSession(path);
  await appendMessages(session, messages);
  await session.close();
  return path;
}

function prepareSubscribers(
  subscribe: (session: Session, tell: (isSound: boolean) => void) => Subscription,
): Prepare<HeldMemory> {
  return prepareHeld(subscribers, async (path) => {
    const session = await openSession(path, { access: "read" });
    return async (count) => {
      const subscriptions: Subscription[] = [];
      let [told, sound] = [0, 0];
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
  });
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

export const cases: readonly BenchCase[] = [liveMemory];
