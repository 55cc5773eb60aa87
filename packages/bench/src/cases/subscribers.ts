/** Many subscribers of one session: the time to deliver a change to all, and the memory of each. */
import { ok } from "node:assert";
import { EventEmitter } from "node:events";
import { performance } from "node:perf_hooks";
import { memoryUsage } from "node:process";
import { setImmediate as turn } from "node:timers/promises";
import { memorySession, type Session } from "@branchlog/core";
import { live } from "@branchlog/core/live";
import {
  baseline,
  type BenchCase,
  type Counts,
  defineCase,
  ours,
  type Prepare,
} from "../bench-case.ts";
import { appendMessage } from "../our-session.ts";
import { summarize } from "../statistics.ts";
import { changeTime } from "./live.ts";

type Listener = (id: string) => void;

interface Subscribers {
  /** Delivers to listeners that the session does not notify. */
  readonly tell?: Listener;
  readonly release: () => void;
}

/** Calls the listeners with the id of the last entry, and of each new one. */
type Source = (session: Session, listeners: readonly Listener[]) => Subscribers;

const subscribeToLeaf: Source = (session, listeners) =>
  subscribeEach(listeners, (listener) =>
    live(session).leaf$.subscribe(({ value }) => listener(value ?? "")),
  );

const subscribeToContext: Source = (session, listeners) =>
  subscribeEach(listeners, (listener) =>
    live(session).context$.subscribe(({ value: { messages }, revision }) =>
      listener(messages.length === revision ? (session.leaf ?? "") : ""),
    ),
  );

const subscribeToEntries: Source = (session, listeners) =>
  subscribeEach(listeners, (listener) =>
    live(session)
      .entries$({ from: session.revision })
      .subscribe((event) => listener(event.entry?.id ?? "")),
  );

/** What it costs at least. */
const emitEach: Source = (_session, listeners) => {
  const emitter = new EventEmitter().setMaxListeners(0);
  for (const listener of listeners) emitter.on("entry", listener);
  const tell = (id: string): void => void emitter.emit("entry", id);
  return { tell, release: () => void emitter.removeAllListeners() };
};

function subscribeEach(
  listeners: readonly Listener[],
  subscribe: (listener: Listener) => { unsubscribe(): void },
): Subscribers {
  const subscriptions = listeners.map((listener) => subscribe(listener));
  const release = (): void => {
    for (const subscription of subscriptions.splice(0)) subscription.unsubscribe();
  };
  return { release };
}

interface Costs {
  readonly timesTold: readonly number[];
  readonly timesWanted: number;
  readonly deliveryMs: number;
  /** Medians of the rounds, of all subscribers. */
  readonly heldBytes: number;
  readonly leftBytes: number;
}

const subscribers: Counts = { full: 10_000, quick: 1_000 };
const appends: Counts = { full: 100, quick: 20 };
/** What may be left, in the median round: 20 bytes of each of 10,000 subscribers. */
const leftBytesMax = 200_000;
/** Rounds before those that count: tables grow, and code becomes warm, only once. */
const warmUps = 2;
/** What the runtime does meanwhile is in one round or another; what leaks is in each. */
const rounds = 5;

const liveSubscribers = defineCase<Costs>({
  name: "live-subscribers",
  question: "What do 10,000 subscribers cost: for each, the delivery of one more entry and memory?",
  goal: "0.2 µs and 1 kB for a subscriber to a value, 10 µs and 10 kB to all entries.",
  nodeFlags: ["--expose-gc"],
  comparedBy: "µs/delivery",
  subjects: [
    ours("session.leaf$", prepareSubscribers(subscribeToLeaf)),
    ours("session.context$", prepareSubscribers(subscribeToContext)),
    ours("session.entries$()", prepareSubscribers(subscribeToEntries)),
    baseline("EventEmitter", prepareSubscribers(emitEach)),
  ],
  check: ({ timesTold, timesWanted, heldBytes, leftBytes }) => {
    ok(timesTold.every((times) => times === timesWanted));
    const what = `${leftBytes} bytes are left of ${heldBytes}`;
    ok(leftBytes <= leftBytesMax, what);
    ok(heldBytes > timesTold.length, what);
  },
  figures: ({ timesTold: { length }, deliveryMs, heldBytes, leftBytes }, _wallMs, { scale }) => ({
    "µs/delivery": (deliveryMs * 1000) / (length * appends[scale]),
    "bytes each": heldBytes / length,
    "bytes each left": leftBytes / length,
  }),
});

/** A delivery takes from when the session begins it until the last subscriber has the entry. */
function prepareSubscribers(source: Source): Prepare<Costs> {
  return async ({ scale }) => {
    const session = await memorySession();
    await appendMessage(session, 0);
    const timesTold = Array.from({ length: subscribers[scale] }, () => 0);
    let left = 0;
    let end = (_ms: number): void => undefined;
    const lastIds: string[] = [];
    const listeners = timesTold.map((_, place) => (id: string) => {
      lastIds[place] = id;
      timesTold[place] = (timesTold[place] ?? 0) + 1;
      left -= 1;
      if (left === 0) end(performance.now());
    });
    /** Resolves with the time at which the last listener was called. */
    const lastCall = async (): Promise<number> => {
      left = listeners.length;
      const endMs = await new Promise<number>((resolve) => {
        end = resolve;
      });
      ok(lastIds.every((id) => id === session.tail));
      return endMs;
    };
    const subscribe = async (): Promise<Subscribers> => {
      const last = lastCall();
      const subscribed = source(session, listeners);
      subscribed.tell?.(session.tail ?? "");
      await last;
      return subscribed;
    };
    const measure = async (): Promise<{ readonly held: number; readonly left: number }> => {
      const before = await settledBytes();
      const { release } = await subscribe();
      const held = (await settledBytes()) - before;
      release();
      return { held, left: (await settledBytes()) - before };
    };
    const began = changeTime(session);
    const deliver = async (): Promise<number> => {
      const { tell, release } = await subscribe();
      let deliveryMs = 0;
      for (let n = 0; n < appends[scale]; n += 1) {
        const last = lastCall();
        const { id } = await appendMessage(session, session.revision);
        const tellMs = performance.now();
        tell?.(id);
        deliveryMs += (await last) - (tell === undefined ? began.ms : tellMs);
      }
      release();
      return deliveryMs;
    };
    await deliver();
    for (let n = 0; n < warmUps; n += 1) await measure();
    return async () => {
      const measured = [];
      for (let n = 0; n < rounds; n += 1) measured.push(await measure());
      const deliveryMs = await deliver();
      await session.close();
      return {
        timesTold,
        deliveryMs,
        timesWanted: warmUps + rounds + 2 * (1 + appends[scale]),
        heldBytes: summarize(measured.map(({ held }) => held)).median,
        leftBytes: summarize(measured.map((round) => round.left)).median,
      };
    };
  };
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

export const cases: readonly BenchCase[] = [liveSubscribers];
