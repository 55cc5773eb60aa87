/**
 * Many subscribers to one session: what it costs to tell each of them of an append. Timed from when
 * the session begins to tell of the change until the last one was told.
 */
import { deepStrictEqual } from "node:assert";
import { EventEmitter } from "node:events";
import { performance } from "node:perf_hooks";
import { memorySession } from "@branchlog/core";
import type { Session } from "@branchlog/core";
import { noInput } from "../append-check.ts";
import {
  type BenchCase,
  type CaseInput,
  defineCase,
  type Scale,
  type Subject,
  type SubjectRole,
  type TimedWork,
} from "../bench-case.ts";
import { appendMessage, type ChangeTime, timeOfChanges } from "../watched-session.ts";

interface Deliveries {
  /** Ids of the entries appended. */
  readonly appended: readonly string[];
  /** What each subscriber was told. */
  readonly told: readonly (readonly string[])[];
  /** From the beginning of each delivery to its end, summed. */
  readonly deliveryMs: number;
  /** Deliveries that were timed; those before made the code warm. */
  readonly timed: number;
}

interface Audience {
  readonly subscribers: number;
  /** As many again before, so that the code is warm. */
  readonly appends: Readonly<Record<Scale, number>>;
}

/** Takes the id of an entry. */
type Listener = (id: string) => void;

/** How listeners hear of what is appended. */
interface Telling {
  /** When the last one began. */
  readonly began: ChangeTime;
  /** Called after each append, for sources that do not hear of it themselves. */
  readonly tell?: Listener;
}

/** Makes listeners hear of what is appended to a session. */
type Source = (session: Session, listeners: readonly Listener[]) => Telling;

/** How many subscribe, and to how many appends: the fewer, the longer it takes to be warm. */
const audiences: readonly Audience[] = [
  { subscribers: 1, appends: { full: 4_000, quick: 400 } },
  { subscribers: 100, appends: { full: 1_000, quick: 100 } },
  { subscribers: 1_000, appends: { full: 200, quick: 20 } },
];

/** See the file comment. */
export const benchCase: BenchCase = defineCase<Deliveries>({
  name: "live-fan-out",
  question: "What does it cost to tell each of many subscribers of one more entry?",
  goal: "0.2 µs for each of 1,000 subscribers to a value, 10 µs for each of 1,000 to all entries.",
  nodeFlags: [],
  comparedBy: "µs/delivery",
  input: noInput,
  subjects: [
    ...subjectsOf("session.leaf$", "ours", leafSource),
    ...subjectsOf("session.entries$()", "ours", entriesSource),
    ...subjectsOf("EventEmitter", "baseline", emitterSource),
  ],
  check: ({ appended, told }) => {
    for (const ids of told) deepStrictEqual(ids, appended);
  },
  figures: ({ deliveryMs, timed }, wallMs) => ({
    "µs/delivery": (deliveryMs * 1000) / timed,
    "deliveries/s, with the append": (timed * 1000) / wallMs,
  }),
});

function subjectsOf(name: string, role: SubjectRole, source: Source): Subject<Deliveries>[] {
  return audiences.map((audience) => ({
    name: `${name}, subscribers: ${audience.subscribers.toLocaleString("en-US")}`,
    role,
    prepare: (input) => prepare(input, source, audience),
  }));
}

/** All subscribers get each leaf: nothing comes before they have got the one before. */
function leafSource(session: Session, listeners: readonly Listener[]): Telling {
  const began = timeOfChanges(session);
  for (const listener of listeners) {
    session.leaf$.subscribe(({ value }) => {
      if (value !== null) listener(value);
    });
  }
  return { began };
}

function entriesSource(session: Session, listeners: readonly Listener[]): Telling {
  const began = timeOfChanges(session);
  for (const listener of listeners) {
    session.entries$().subscribe((event) => {
      if (event.kind === "entry") listener(event.entry.id);
    });
  }
  return { began };
}

/** Told by whoever appends: what it costs at least. */
function emitterSource(_session: Session, listeners: readonly Listener[]): Telling {
  const emitter = new EventEmitter().setMaxListeners(0);
  for (const listener of listeners) emitter.on("entry", listener);
  const began = { ms: 0 };
  const tell = (id: string): void => {
    began.ms = performance.now();
    emitter.emit("entry", id);
  };
  return { began, tell };
}

async function prepare(
  { scale }: CaseInput,
  source: Source,
  { subscribers, appends }: Audience,
): Promise<TimedWork<Deliveries>> {
  const session = await memorySession();
  const round = new Round(subscribers);
  const { began, tell } = source(session, round.listeners);
  const appended: string[] = [];
  const tellAll = async (count: number): Promise<number> => {
    let deliveryMs = 0;
    for (let n = 0; n < count; n += 1) {
      const end = round.begin();
      const { id } = await appendMessage(session, appended.length);
      appended.push(id);
      tell?.(id);
      deliveryMs += (await end) - began.ms;
    }
    return deliveryMs;
  };
  const count = appends[scale];
  await tellAll(count);
  return async () => {
    const deliveryMs = await tellAll(count);
    await session.close();
    return { appended, told: round.told, deliveryMs, timed: count * subscribers };
  };
}

/** One entry after the other, on its way to all subscribers. */
class Round {
  /** What each was told. */
  readonly told: readonly string[][];
  readonly listeners: readonly Listener[];
  #left = 0;
  #end: (ms: number) => void = () => undefined;

  constructor(subscribers: number) {
    this.told = Array.from({ length: subscribers }, () => []);
    this.listeners = this.told.map((ids) => (id) => {
      ids.push(id);
      this.#left -= 1;
      if (this.#left === 0) this.#end(performance.now());
    });
  }

  /** Resolves with the time at which the last one was told. */
  begin(): Promise<number> {
    this.#left = this.told.length;
    return new Promise((resolve) => {
      this.#end = resolve;
    });
  }
}
