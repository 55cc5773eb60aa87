/**
 * Sessions in PostgreSQL: the cost of appends and reads, compared with statements and an event
 * store.
 */
import { deepStrictEqual } from "node:assert";
import { fork } from "node:child_process";
import { once } from "node:events";
import { performance } from "node:perf_hooks";
import { hrtime } from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { SessionManager } from "@branchlog/agents/pi";
import { type BenchCase, type Counts, defineCase, type Subject } from "../bench-case.ts";
import { inFlight, jobChild, runChild } from "../our-session.ts";
import { smallMessage } from "../plain-session.ts";
import { quantile, timesFigures } from "../statistics.ts";
import { openWay, storeUrl, wayFacts, type WayName, wayNames } from "../store-ways.ts";

interface StoreWork {
  readonly timesMs: readonly number[];
  readonly ms: number;
  readonly appended: number;
  readonly stored: number;
  /** Of several processes, the appends of each in a second. */
  readonly rates?: readonly number[];
}

interface AppendShape {
  readonly counts: Counts;
  /** Entries of one append. Default 1. */
  readonly batch?: number;
  /** Appends in flight. Default 1. */
  readonly width?: number;
  readonly sessions?: number;
  readonly connections?: number;
}

let logs = 0;

function newLog(): string {
  logs += 1;
  return `bench-${process.pid}-${logs}`;
}

function subject(
  name: WayName,
  shape: AppendShape,
  isFar: boolean,
  label = "",
): Subject<StoreWork> {
  const { counts, batch = 1, width = 1, sessions = 1, connections } = shape;
  const facts = wayFacts[name];
  return {
    ...facts,
    name: `${facts.name}${label}`,
    prepare: async ({ scale }) => {
      const way = await openWay(name, { isFar, connections });
      const used = Array.from({ length: sessions }, newLog);
      for (const log of used) await way.create(log);
      const appends = counts[scale];
      // In a log of its own, so that connections are open and the code is warm.
      const warm = newLog();
      await way.create(warm);
      await inFlight(64, width, (n) => way.append(warm, n, 1));
      return async () => {
        const timesMs: number[] = [];
        const startMs = performance.now();
        await inFlight(appends, width, async (n) => {
          const log = used[n % sessions] ?? "";
          const beganMs = performance.now();
          await way.append(log, Math.floor(n / sessions) * batch, batch);
          timesMs.push(performance.now() - beganMs);
        });
        const ms = performance.now() - startMs;
        let stored = 0;
        for (const log of used) stored += await way.read(log);
        await way.close();
        return { timesMs, ms, appended: appends * batch, stored };
      };
    },
  };
}

function check({ appended, stored }: StoreWork): void {
  deepStrictEqual(stored, appended);
}

function rates({ appended, ms, timesMs }: StoreWork): Readonly<Record<string, number>> {
  return { "entries/s": (appended * 1000) / ms, ...timesFigures(timesMs, "append") };
}

function bothPlaces(
  make: (isFar: boolean, suffix: string, where: string) => BenchCase,
): BenchCase[] {
  return [make(false, "", ""), make(true, "-far", ", 5 ms away")];
}

const one: AppendShape = { counts: { full: 2_000, quick: 100 } };
const oneFar: AppendShape = { counts: { full: 400, quick: 40 } };

const appendOne = bothPlaces((isFar, suffix, where) =>
  defineCase<StoreWork>({
    name: `store-append${suffix}`,
    needs: "stores",
    question: `How long does one append to a store take${where}?`,
    goal: "1.2 times an INSERT at the median, 1.5 times at p99; 0.7 times emmett.",
    comparedBy: "µs median",
    subjects: wayNames.map((name) => subject(name, isFar ? oneFar : one, isFar)),
    check,
    figures: ({ timesMs }) => timesFigures(timesMs, "append"),
  }),
);

const batches: AppendShape = { counts: { full: 100, quick: 5 }, batch: 500 };

const appendBatch = bothPlaces((isFar, suffix, where) =>
  defineCase<StoreWork>({
    name: `store-batch${suffix}`,
    needs: "stores",
    question: `How many entries a second go into a store in batches of 500${where}?`,
    goal: "0.6 times an INSERT of 500 rows; twice emmett.",
    subjects: wayNames.map((name) => subject(name, batches, isFar)),
    check,
    figures: rates,
  }),
);

const many: AppendShape = { counts: { full: 20_000, quick: 500 }, width: 64 };

const appendInFlight = bothPlaces((isFar, suffix, where) =>
  defineCase<StoreWork>({
    name: `store-in-flight${suffix}`,
    needs: "stores",
    question: `How many entries a second go into one session of a store, 64 in flight${where}?`,
    goal: "20 times as many as one after the other.",
    subjects: [
      subject("ours", many, isFar),
      subject("ours", isFar ? oneFar : one, isFar, ", one after the other"),
      subject("statements", many, isFar),
    ],
    check,
    figures: rates,
  }),
);

const spread: AppendShape = {
  counts: { full: 10_000, quick: 200 },
  width: 32,
  sessions: 1_000,
  connections: 32,
};

const appendSessions = defineCase<StoreWork>({
  name: "store-sessions",
  needs: "stores",
  question: "How many entries a second go into 1,000 sessions of a store, over 32 connections?",
  goal: "0.8 times INSERTs, 1.3 times emmett.",
  subjects: wayNames.map((name) => subject(name, spread, false)),
  check,
  figures: rates,
});

const processes = 8;

function processesSubject(
  name: WayName,
  count: number,
  width: number,
  each: Counts,
): Subject<StoreWork> {
  const facts = wayFacts[name];
  const what = count === 1 ? "one process" : `${count} processes`;
  return {
    ...facts,
    name: `${facts.name}, ${what}, ${width} in flight each`,
    prepare: async ({ scale }) => {
      const way = await openWay(name);
      const log = newLog();
      await way.create(log);
      const appends = each[scale];
      const args = ["store-append", log, name, String(appends), String(width)];
      const children = Array.from({ length: count }, () => fork(jobChild, args));
      await Promise.all(children.map((child) => once(child, "message")));
      return async () => {
        const startMs = performance.now();
        const times = await Promise.all(children.map((child) => runChild(child)));
        const ms = performance.now() - startMs;
        const stored = await way.read(log);
        await way.close();
        const perSecond = times.map((took) => (appends * 1000) / took);
        return { timesMs: [], ms, appended: appends * count, stored, rates: perSecond };
      };
    },
  };
}

const appendProcesses = defineCase<StoreWork>({
  name: "store-processes",
  needs: "stores",
  question: "How many entries a second can eight processes append to one session of a store?",
  goal: "0.7 times one process with the same load, the slowest 25 % of the mean; 5 times emmett.",
  subjects: [
    processesSubject("ours", processes, 16, { full: 4_000, quick: 50 }),
    processesSubject("ours", 1, processes * 16, { full: 32_000, quick: 400 }),
    processesSubject("ours", 1, 16, { full: 32_000, quick: 400 }),
    processesSubject("ours", processes, 1, { full: 300, quick: 20 }),
    processesSubject("emmett", processes, 1, { full: 300, quick: 10 }),
  ],
  check,
  figures: ({ appended, ms, rates: perSecond = [] }) => ({
    "entries/s": (appended * 1000) / ms,
    "slowest / mean":
      (Math.min(...perSecond) * perSecond.length) / perSecond.reduce((sum, rate) => sum + rate, 0),
  }),
});

interface ReadWork {
  readonly timesMs: readonly number[];
  readonly read: number;
  readonly entries: number;
}

function readSubject(
  name: WayName,
  entries: number,
  times: Counts,
  isFar: boolean,
  label = "",
): Subject<ReadWork> {
  const facts = wayFacts[name];
  return {
    ...facts,
    name: `${facts.name}${label}`,
    prepare: async ({ scale }) => {
      const way = await openWay(name, { isFar });
      const log = newLog();
      await way.create(log);
      for (let from = 0; from < entries; from += 500) {
        await way.append(log, from, Math.min(500, entries - from));
      }
      await way.read(log);
      return async () => {
        const timesMs: number[] = [];
        let read = 0;
        for (let n = 0; n < times[scale]; n += 1) {
          const beganMs = performance.now();
          read = await way.read(log);
          timesMs.push(performance.now() - beganMs);
        }
        await way.close();
        return { timesMs, read, entries };
      };
    },
  };
}

const openSmall = bothPlaces((isFar, suffix, where) =>
  defineCase<ReadWork>({
    name: `store-open${suffix}`,
    needs: "stores",
    question: `How long does it take to open a session of 250 entries in a store${where}?`,
    goal: "1.3 times a SELECT of its lines; as long as emmett reads them.",
    comparedBy: "ms median",
    subjects: wayNames.map((name) => readSubject(name, 250, { full: 300, quick: 10 }, isFar)),
    check: ({ read, entries }) => deepStrictEqual(read, entries),
    figures: ({ timesMs }) => ({ "ms median": quantile(timesMs, 0.5) }),
  }),
);

const sizes = [1_000, 10_000, 100_000, 1_000_000];

const openGrowth = defineCase<ReadWork>({
  name: "store-growth",
  needs: "stores",
  question: "How does opening a session in a store grow with its entries?",
  goal: "a million entries 20 times as fast as emmett, in 150 MB.",
  comparedBy: "ms median",
  subjects: (["ours", "statements", "emmett"] as const).flatMap((name) =>
    sizes
      .filter((size) => name === "ours" || size <= 100_000)
      .map((size) =>
        readSubject(name, size, { full: 3, quick: 1 }, false, `, ${size.toLocaleString("en")}`),
      ),
  ),
  check: ({ read, entries }) => deepStrictEqual(read, entries),
  figures: ({ timesMs, entries }, _wallMs, _input, peakRssBytes) => ({
    "ms median": quantile(timesMs, 0.5),
    "µs/entry": (quantile(timesMs, 0.5) * 1000) / entries,
    "MB peak": peakRssBytes / 1e6,
  }),
});

const told: Counts = { full: 500, quick: 30 };

function watchSubject(name: "ours" | "statements"): Subject<readonly number[]> {
  const names = { ours: "session.entries$()", statements: "NOTIFY, LISTEN and SELECT, with pg" };
  return {
    ...wayFacts[name],
    name: names[name],
    prepare: async ({ scale }) => {
      const way = await openWay(name);
      const log = newLog();
      await way.create(log);
      const count = told[scale];
      const watcher = fork(jobChild, ["store-watch", log, name, String(count)]);
      await once(watcher, "message");
      return async () => {
        const latencies = once(watcher, "message");
        for (let n = 0; n < count; n += 1) {
          // An agent at work is slower.
          await pause(10);
          await way.append(log, n, 1);
          const acknowledged = String(hrtime.bigint());
          await way.notify?.(log);
          watcher.send(acknowledged);
        }
        const [latenciesMs] = (await latencies) as [number[]];
        await way.close();
        return latenciesMs;
      };
    },
  };
}

const watchLatency = defineCase<readonly number[]>({
  name: "store-watch",
  needs: "stores",
  question: "How long after an append was acknowledged does a subscriber elsewhere get the entry?",
  goal: "1.5 times a NOTIFY and a SELECT at the median, 3 times at p99.",
  comparedBy: "ms median",
  subjects: [watchSubject("ours"), watchSubject("statements")],
  check: (latenciesMs, { scale }) => deepStrictEqual(latenciesMs.length, told[scale]),
  figures: (latenciesMs) => ({
    "ms median": quantile(latenciesMs, 0.5),
    "ms p99": quantile(latenciesMs, 0.99),
  }),
});

const blocking: Subject<StoreWork> = {
  ...wayFacts.ours,
  name: "SessionManager.appendMessage()",
  prepare: async ({ scale }) => {
    await import("@branchlog/postgres/blocking");
    const manager = SessionManager.create("/", storeUrl(false));
    for (let n = 0; n < 64; n += 1) manager.appendMessage(smallMessage(n));
    const count = one.counts[scale];
    return async () => {
      const timesMs: number[] = [];
      const startMs = performance.now();
      for (let n = 0; n < count; n += 1) {
        const beganMs = performance.now();
        manager.appendMessage(smallMessage(n));
        timesMs.push(performance.now() - beganMs);
      }
      const ms = performance.now() - startMs;
      const way = await openWay("ours");
      const stored = await way.read(manager.getSessionId());
      await way.close();
      return { timesMs, ms, appended: count, stored: stored - 64 };
    };
  },
};

const appendBlocking = defineCase<StoreWork>({
  name: "store-append-sync",
  needs: "stores",
  question: "How long does a blocking append to a store take, through its worker?",
  goal: "0.15 ms more than one that is awaited.",
  comparedBy: "µs median",
  subjects: [subject("ours", one, false), blocking],
  check,
  figures: ({ timesMs }) => timesFigures(timesMs, "append"),
});

export const cases: readonly BenchCase[] = [
  ...appendOne,
  ...appendBatch,
  ...appendInFlight,
  appendProcesses,
  appendSessions,
  ...openSmall,
  openGrowth,
  watchLatency,
  appendBlocking,
];
