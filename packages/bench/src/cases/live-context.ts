/**
 * A subscriber to the context of a session, and how long each append takes until it is told, beside
 * histories of different lengths. Timed from when the session begins to tell of the change.
 */
import { deepStrictEqual } from "node:assert";
import { performance } from "node:perf_hooks";
import type { Session } from "@branchlog/core";
import type { LiveContext } from "@branchlog/core/live";
import { noInput, smallMessage } from "../append-check.ts";
import { type BenchCase, defineCase, type Scale, type TimedWork } from "../bench-case.ts";
import { timesFigures } from "../statistics.ts";
import { appendMessage, sessionWithHistory, timeOfChanges } from "../watched-session.ts";

type Message = ReturnType<typeof smallMessage>;

/** A context that was told, and how long that took. */
interface ToldContext {
  readonly context: LiveContext;
  readonly ms: number;
}

interface ChainEntry {
  readonly parentId: string | null;
  readonly message: Message;
}

interface Updates {
  readonly timesMs: readonly number[];
  /** Messages in the context of each update. */
  readonly toldLengths: readonly number[];
  readonly lastMessages: readonly unknown[];
  /** Messages before the first update. */
  readonly history: number;
}

/** Messages of the shortest history. */
const lengths: Readonly<Record<Scale, number>> = { full: 1_000, quick: 200 };
const updates: Readonly<Record<Scale, number>> = { full: 2_000, quick: 200 };
/** Every one of the baseline costs what the history is long. */
const walks: Readonly<Record<Scale, number>> = { full: 100, quick: 20 };
/** In a session of its own, so that the code is warm and the history as long as it should be. */
const warmUps: Readonly<Record<Scale, number>> = { full: 4_000, quick: 400 };

/** See the file comment. */
export const benchCase: BenchCase = defineCase<Updates>({
  name: "live-context",
  question: "How long does a subscriber to the context wait for it after one more message?",
  goal: "50 µs, whatever the length of the history.",
  nodeFlags: [],
  comparedBy: "µs/update",
  input: noInput,
  subjects: [
    {
      name: "session.context$, short history",
      role: "ours",
      prepare: ({ scale }) => prepareOurs(scale, lengths[scale]),
    },
    {
      name: "session.context$, 10 times as long",
      role: "ours",
      prepare: ({ scale }) => prepareOurs(scale, lengths[scale] * 10),
    },
    {
      name: "session.context$, 100 times as long",
      role: "ours",
      prepare: ({ scale }) => prepareOurs(scale, lengths[scale] * 100),
    },
    {
      name: "walk a Map from the leaf, 100 times as long",
      role: "baseline",
      prepare: ({ scale }) => prepareWalks(scale, lengths[scale] * 100),
    },
  ],
  check: ({ toldLengths, lastMessages, history }) => {
    const expectedLengths = toldLengths.map((_, turn) => history + turn + 1);
    deepStrictEqual(toldLengths, expectedLengths);
    const length = history + toldLengths.length;
    const expectedMessages = Array.from({ length }, (_, i) => smallMessage(i));
    deepStrictEqual(lastMessages, expectedMessages);
  },
  figures: ({ timesMs, history }) => ({ ...timesFigures(timesMs, "update"), messages: history }),
});

async function prepareOurs(scale: Scale, history: number): Promise<TimedWork<Updates>> {
  const warmUp = await prepareUpdates(0, warmUps[scale]);
  await warmUp();
  return prepareUpdates(history, updates[scale]);
}

async function prepareUpdates(history: number, count: number): Promise<() => Promise<Updates>> {
  const session = await sessionWithHistory(history);
  const next = watchContext(session);
  await next();
  return async () => {
    const told: ToldContext[] = [];
    for (let turn = 0; turn < count; turn += 1) {
      const update = next();
      await appendMessage(session, history + turn);
      told.push(await update);
    }
    await session.close();
    // Read only now, so that a context is found that changed after it was told.
    const toldLengths = told.map(({ context }) => context.messages.length);
    const lastMessages = told.at(-1)?.context.messages.slice() ?? [];
    return { timesMs: told.map(({ ms }) => ms), toldLengths, lastMessages, history };
  };
}

/** Subscribes; what it returns waits for the context that is told next. */
function watchContext(session: Session): () => Promise<ToldContext> {
  const changed = timeOfChanges(session);
  let tell = (_told: ToldContext): void => undefined;
  const next = (): Promise<ToldContext> =>
    new Promise((resolve) => {
      tell = resolve;
    });
  session.context$.subscribe(({ value: context }) => {
    tell({ context, ms: performance.now() - changed.ms });
  });
  return next;
}

/** What an agent does without an engine: each time the path, from the last entry to the root. */
function prepareWalks(scale: Scale, history: number): () => Updates {
  const chain = new Map<string, ChainEntry>();
  for (let i = 0; i < history; i += 1) chain.set(idOf(i), chainEntry(i));
  return () => {
    const timesMs: number[] = [];
    const toldLengths: number[] = [];
    let lastMessages: readonly Message[] = [];
    for (let i = history; i < history + walks[scale]; i += 1) {
      chain.set(idOf(i), chainEntry(i));
      const startMs = performance.now();
      lastMessages = walk(chain, idOf(i));
      timesMs.push(performance.now() - startMs);
      toldLengths.push(lastMessages.length);
    }
    return { timesMs, toldLengths, lastMessages, history };
  };
}

function walk(chain: ReadonlyMap<string, ChainEntry>, leafId: string): readonly Message[] {
  const messages: Message[] = [];
  let entry = chain.get(leafId);
  while (entry !== undefined) {
    messages.push(entry.message);
    entry = entry.parentId === null ? undefined : chain.get(entry.parentId);
  }
  return messages.reverse();
}

function chainEntry(i: number): ChainEntry {
  return { parentId: i === 0 ? null : idOf(i - 1), message: smallMessage(i) };
}

function idOf(i: number): string {
  return i.toString(16).padStart(8, "0");
}
