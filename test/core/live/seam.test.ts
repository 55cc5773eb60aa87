/**
 * The seam from past to future entries, with an action at every point where reading, or the
 * consumer of the entries, waits. Seams that are made naively must fail, or this test could not.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { EntryEvent } from "@branchlog/core/live";
import { live } from "@branchlog/core/live";
import { sampleOf } from "../../support/sampled.ts";
import { Schedules } from "../../support/schedules.ts";
import type { Schedule } from "../../support/schedules.ts";
import { acts, SeamWorld, violation } from "./seam-world.ts";
import type { ReadTime, Sink, Source, Start } from "./seam-world.ts";
import { turns } from "./support.ts";

async function take(events: AsyncIterable<EntryEvent>, sink: Sink, pause: () => Promise<void>) {
  try {
    for await (const event of events) {
      sink.events.push(event);
      await pause();
    }
    sink.ends.push("complete");
  } catch (error) {
    sink.ends.push(error);
  }
}

/** A source that pulls, and waits at the gate after each event if it is slow. */
function pulling(
  eventsOf: (world: SeamWorld, end: AbortSignal) => AsyncGenerator<EntryEvent, void, undefined>,
  isSlow = false,
): Source {
  return (world, sink) => {
    const end = new AbortController();
    const events = eventsOf(world, end.signal);
    const ending = take(events, sink, async () => {
      if (isSlow) await world.gate.pass();
    });
    return () => {
      end.abort();
      return Promise.all([events.return(), ending]);
    };
  };
}

const sources: Readonly<Record<string, Source>> = {
  pulled: pulling(({ own, from }) => live(own).events({ from })),
  "pulled slowly": pulling(({ own, from }) => live(own).events({ from }), true),
  pushed: ({ own, from }, { events, ends }) => {
    const subscription = live(own)
      .entries$({ from })
      .subscribe({
        next: (event) => events.push(event),
        complete: () => ends.push("complete"),
        error: (error) => ends.push(error),
      });
    return async () => subscription.unsubscribe();
  },
};

/** Replays to an end, then gives what comes after another: the past ends when it was read. */
function naive(isEndLate: boolean): Source {
  return pulling(async function* events({ own, from }, signal) {
    const early = own.revision;
    for await (const event of live(own).events({ from, live: false })) yield event;
    // What came during the replay is in neither part, or in both.
    if (isEndLate)
      for await (const event of live(own).events({ from: early + 1, live: false })) yield event;
    yield* live(own).events({ from: 1 + (isEndLate ? early : own.revision), signal });
  });
}

/** Where acts happen: where all that waits waits at the gate, or between any two microtasks. */
type Pace = "gate by gate" | "hop by hop";

interface Run {
  readonly start: Start;
  readonly readTime: ReadTime;
  readonly source: Source;
  readonly pace: Pace;
  readonly actsMax: number;
  readonly names: readonly string[];
}

/** Points of a run at most. The replay of a small log takes fewer: about 50 microtasks. */
const pointsMax = 64;

/** One run: at each point either an actor acts, or one of those that wait continues. */
async function play(run: Run, schedule: Schedule): Promise<string | undefined> {
  const { start, readTime, source, names } = run;
  const world = await SeamWorld.start(start, readTime);
  const sink: Sink = { events: [], ends: [] };
  const isByHop = run.pace === "hop by hop";
  if (isByHop) world.gate.open();
  const stop = source(world, sink);
  const done: string[] = [];
  for (let point = 0; point < pointsMax; point += 1) {
    if (!isByHop) await turns(3);
    const { waiting } = world.gate;
    const able = done.length < run.actsMax ? names.length : 0;
    // The answer 0, with which all runs begin, is to go on.
    const chosen = schedule.choose(Math.max(1, waiting) + able);
    const name = names[chosen - Math.max(1, waiting)];
    if (name !== undefined) {
      done.push(`${name} at ${point}`);
      acts[name]?.(world);
    } else if (isByHop) await Promise.resolve();
    else if (waiting > 0) world.gate.letOn(chosen);
    else break;
  }
  await world.settle(sink);
  const found = violation(world, sink) ?? (await leftBehind(world, stop));
  return found === undefined ? undefined : `${found} (${done.join(", ")}; ${schedule.trace})`;
}

async function leftBehind(
  world: SeamWorld,
  stop: () => Promise<unknown>,
): Promise<string | undefined> {
  await stop();
  await turns();
  return world.hints.watcherCount === 0 ? undefined : "still watching";
}

/** Plays all runs until one goes wrong; what did. */
async function firstViolation(run: Run): Promise<{ found: string | undefined; runs: number }> {
  const schedule = new Schedules();
  while (schedule.next()) {
    const found = await play(run, schedule);
    if (found !== undefined) return { found, runs: schedule.runs };
  }
  return { found: undefined, runs: schedule.runs };
}

const every = Object.keys(acts);
const usual = {
  readTime: "after it waited",
  pace: "gate by gate",
  actsMax: 1,
  names: every,
} as const;
const log: Start = { version: 3, runs: [2, 1, 2], from: 1 };

describe("each action, at each waiting point", () => {
  const starts: Record<string, Start> = {
    "a log": log,
    "a log from its third entry": { ...log, from: 3 },
    "a log from what is not there yet": { ...log, from: 7 },
    "a log of version 1": { version: 1, runs: [1, 2], from: 1 },
    "an empty log": { version: 3, runs: [], from: 1 },
  };
  const cases = Object.entries(sources).flatMap(([name, source]) =>
    Object.entries(starts).map(([of, start], at) => {
      return [name, of, source, start, sampleOf(every, 3, at)] as const;
    }),
  );

  it.each(cases)("leaves no gap and no duplicate: %s, %s (Verifies: P14)", async (...of) => {
    const [, , source, start, names] = of;
    let runs = 0;
    for (const readTime of ["before it waits", "after it waited"] as const) {
      const result = await firstViolation({ ...usual, names, source, start, readTime });
      expect(result.found).toBeUndefined();
      runs += result.runs;
    }
    expect(runs).toBeGreaterThan(names.length);
  });
});

it("two actions, at any two points, leave no gap and no duplicate (Verifies: P14)", async () => {
  const names = sampleOf(every, 3);
  const run = { ...usual, names, start: { ...log, runs: [1, 2] }, actsMax: 2 };
  const result = await firstViolation({ ...run, source: sources["pushed"] ?? expect.fail() });
  expect(result.found).toBeUndefined();
  expect(result.runs).toBeGreaterThan(names.length ** 2);
});

it.each(["pulled", "pushed"])(
  "each action, after each microtask, leaves no gap and no duplicate: %s (Verifies: P14)",
  async (of) => {
    const source = sources[of] ?? expect.fail();
    const run = { ...usual, names: sampleOf(every, 3), source, start: log };
    const result = await firstViolation({ ...run, pace: "hop by hop" });
    expect(result.found).toBeUndefined();
    expect(result.runs).toBeGreaterThan(pointsMax);
  },
);

describe("any actions, at any points of any log", () => {
  const start = fc
    .record({
      version: fc.constantFrom<1 | 3>(1, 3),
      runs: fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 8 }),
      from: fc.integer({ min: 1, max: 20 }),
    })
    // Mostly from the first: there is more to lose.
    .map(({ from, ...rest }) => ({ ...rest, from: from > 10 ? 1 : from }));
  const run = fc.record({
    start,
    readTime: fc.constantFrom<ReadTime>("before it waits", "after it waited"),
    source: fc.constantFrom(...Object.keys(sources)),
    pace: fc.constantFrom<Pace>("gate by gate", "hop by hop"),
    actsMax: fc.nat(12),
    // Mostly to go on, so that acts are spread over the whole replay.
    answers: fc.array(fc.oneof({ arbitrary: fc.constant(0), weight: 4 }, fc.nat(1000)), {
      maxLength: pointsMax,
    }),
  });

  it("leave no gap and no duplicate (Verifies: P14)", async () => {
    await fc.assert(
      fc.asyncProperty(run, async ({ source: name, answers, ...of }) => {
        const source = sources[name] ?? expect.fail();
        const left = [...answers];
        const choose = (among: number): number => (left.shift() ?? 0) % among;
        const schedule = { runs: 1, trace: "", choose, next: () => false };
        expect(await play({ ...of, source, names: every }, schedule)).toBeUndefined();
      }),
      { numRuns: 200 },
    );
  });
});

describe("a naive seam", () => {
  const appends = every.filter((name) => name.includes("append"));

  it.each([
    ["loses what comes during the replay", false, /entries of no log|entries instead of/u],
    ["doubles what comes during the replay", true, /revisions/u],
  ])("%s, and the test detects it", async (_, isEndLate, says) => {
    for (const pace of ["gate by gate", "hop by hop"] as const) {
      const run = { ...usual, start: log, pace, names: appends };
      const { found } = await firstViolation({ ...run, source: naive(isEndLate) });
      expect(found).toMatch(says);
      // What nothing happens to is right.
      const quiet = { ...run, names: [], source: naive(isEndLate) };
      expect(await firstViolation(quiet)).toEqual({ found: undefined, runs: 1 });
    }
  });
});
