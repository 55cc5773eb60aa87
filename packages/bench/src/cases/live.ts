/** Watching a session: how soon a change arrives in another process, and in the same one. */
import { deepStrictEqual, ok } from "node:assert";
import { fork } from "node:child_process";
import { once } from "node:events";
import { performance } from "node:perf_hooks";
import { hrtime } from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { createSession, memorySession, type Session } from "@branchlog/core";
import { live, type LiveContext } from "@branchlog/core/live";
import {
  baseline,
  type BenchCase,
  type Counts,
  defineCase,
  ours,
  type Prepare,
} from "../bench-case.ts";
import { scratchLog } from "../inputs.ts";
import { appendMessage, appendMessages, jobChild } from "../our-session.ts";
import { idOf, type SmallMessage, smallMessage } from "../plain-session.ts";
import { quantile, timesFigures } from "../statistics.ts";

const entries: Counts = { full: 1_000, quick: 100 };

const watchLatency = defineCase<readonly number[]>({
  name: "watch-latency",
  question: "How long after an append does a subscriber in another process get the entry?",
  goal: "0.5 ms for half of them, 3 ms p99.",
  comparedBy: "ms median",
  subjects: [
    ours("session.entries$()", prepareWatch("session")),
    baseline("fs.watch, read the file again", prepareWatch("plain")),
  ],
  check: (latenciesMs, { scale }) => {
    deepStrictEqual(latenciesMs.length, entries[scale]);
    ok(latenciesMs.every((ms) => ms > 0));
  },
  figures: (latenciesMs) => ({
    "ms median": quantile(latenciesMs, 0.5),
    "ms p99": quantile(latenciesMs, 0.99),
    "ms longest": Math.max(...latenciesMs),
  }),
});

function prepareWatch(way: "session" | "plain"): Prepare<readonly number[]> {
  return async (input) => {
    const path = scratchLog(input);
    const session = await createSession(path);
    const count = entries[input.scale];
    const watcher = fork(jobChild, ["watch", path, String(count), way]);
    await once(watcher, "message");
    return async () => {
      const told = once(watcher, "message");
      for (let n = 0; n < count; n += 1) {
        // An agent at work is slower.
        await pause(2);
        const data = String(hrtime.bigint());
        await session.append({ type: "custom", customType: "clock", data });
      }
      const [latenciesMs] = (await told) as [number[]];
      return latenciesMs;
    };
  };
}

/**
 * The time at which the session last began to deliver a change, without its append: subscribers are
 * called in the order of their subscription, and this is the first.
 */
function changeTime(session: Session): { readonly ms: number } {
  const time = { ms: 0 };
  live(session)
    .select(() => session.revision)
    .subscribe(() => {
      time.ms = performance.now();
    });
  return time;
}

interface Updates {
  readonly timesMs: readonly number[];
  readonly toldLengths: readonly number[];
  readonly lastMessages: readonly unknown[];
  readonly history: number;
}

const lengths: Counts = { full: 1_000, quick: 200 };
const updates: Counts = { full: 2_000, quick: 200 };
const walks: Counts = { full: 100, quick: 20 };
/** In a session of its own, so that the code is warm and the history as long as it should be. */
const warmUps: Counts = { full: 4_000, quick: 400 };

const liveContext = defineCase<Updates>({
  name: "live-context",
  question: "How long does a subscriber to the context wait for it after one more message?",
  goal: "50 µs, whatever the length of the history.",
  comparedBy: "µs/update",
  subjects: [
    ours("session.context$, short history", prepareContexts(1)),
    ours("session.context$, 10 times as long", prepareContexts(10)),
    ours("session.context$, 100 times as long", prepareContexts(100)),
    baseline("walk a Map from the leaf, 100 times as long", ({ scale }) =>
      prepareWalks(walks[scale], lengths[scale] * 100),
    ),
  ],
  check: ({ toldLengths, lastMessages, history }) => {
    const lengthsWanted = toldLengths.map((_, turn) => history + turn + 1);
    deepStrictEqual(toldLengths, lengthsWanted);
    const length = history + toldLengths.length;
    const messages = Array.from({ length }, (_, i) => smallMessage(i));
    deepStrictEqual(lastMessages, messages);
  },
  figures: ({ timesMs, history }) => ({ ...timesFigures(timesMs, "update"), messages: history }),
});

function prepareContexts(times: number): Prepare<Updates> {
  return async ({ scale }) => {
    const warmUp = await prepareUpdates(0, warmUps[scale]);
    await warmUp();
    return prepareUpdates(lengths[scale] * times, updates[scale]);
  };
}

async function prepareUpdates(history: number, count: number): Promise<() => Promise<Updates>> {
  const session = await memorySession();
  await appendMessages(session, history);
  const changed = changeTime(session);
  let tell = (_context: LiveContext): void => undefined;
  const next = (): Promise<LiveContext> =>
    new Promise((resolve) => {
      tell = resolve;
    });
  const timesMs: number[] = [];
  const first = next();
  live(session).context$.subscribe(({ value }) => {
    timesMs.push(performance.now() - changed.ms);
    tell(value);
  });
  await first;
  return async () => {
    timesMs.length = 0;
    const told: LiveContext[] = [];
    for (let turn = 0; turn < count; turn += 1) {
      const update = next();
      await appendMessage(session, history + turn);
      told.push(await update);
    }
    await session.close();
    // Read only now, to detect a context that changed after it was emitted.
    const toldLengths = told.map(({ messages }) => messages.length);
    return { timesMs, toldLengths, lastMessages: told.at(-1)?.messages.slice() ?? [], history };
  };
}

function prepareWalks(count: number, history: number): () => Updates {
  type ChainEntry = { readonly parentId: string | null; readonly message: SmallMessage };
  const chain = new Map<string, ChainEntry>();
  const add = (i: number): void => {
    chain.set(idOf(i), { parentId: i === 0 ? null : idOf(i - 1), message: smallMessage(i) });
  };
  for (let i = 0; i < history; i += 1) add(i);
  return () => {
    const timesMs: number[] = [];
    const toldLengths: number[] = [];
    let messages: SmallMessage[] = [];
    for (let i = history; i < history + count; i += 1) {
      add(i);
      const startMs = performance.now();
      messages = [];
      for (let id: string | null = idOf(i); id !== null;) {
        const entry: ChainEntry | undefined = chain.get(id);
        if (entry !== undefined) messages.push(entry.message);
        id = entry?.parentId ?? null;
      }
      messages.reverse();
      timesMs.push(performance.now() - startMs);
      toldLengths.push(messages.length);
    }
    return { timesMs, toldLengths, lastMessages: messages, history };
  };
}

export const cases: readonly BenchCase[] = [watchLatency, liveContext];
