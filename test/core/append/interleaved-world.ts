/**
 * Appenders as actors whose steps can be taken in any order, on one memory file system: processes
 * of their own, or sessions of one process, which give way to each other only where they wait.
 */
import { inspect } from "node:util";
import { isBranchlogError } from "@branchlog/core";
import type { AppendResult } from "@branchlog/core";
import {
  ManualClock,
  MemoryFileSystem,
  MemoryLock,
  createMemoryPorts,
  createSeededIds,
} from "@branchlog/core/testing";
import type { FileLock, HeldLock, Ports } from "@branchlog/core/testing";
import { Engine } from "@branchlog/core/engine";
import { encodeDraft } from "@branchlog/core/rows";
import { portStep } from "@branchlog/streaming";
import type { Steps } from "@branchlog/streaming";
import { appendItem } from "../../../packages/core/src/append/request.ts";
import { LeafCursor } from "../../../packages/core/src/append/leaf-cursor.ts";
import type { AppendRequest } from "../../../packages/core/src/append/request.ts";
import type { AppendOutcome } from "../../../packages/core/src/append/append-result.ts";
import { sharingOf } from "../../../packages/core/src/platform/lock.ts";
import { retentionAfterAwaited } from "../../../packages/core/src/limits.ts";
import type { Schedule } from "../../support/schedules.ts";

export const path = "/s.jsonl";
const timestamp = "2026-01-01T00:00:00.000Z";
const header = { type: "session", version: 3, id: "s", timestamp, cwd: "/w" } as const;

/** A process: it shares files and locks with others, and nothing else. */
export class Process {
  readonly ports: Ports;
  readonly clock: ManualClock = new ManualClock(0);
  #held: HeldLock | null = null;

  constructor(fs: MemoryFileSystem, lock: MemoryLock, seed: number) {
    const own: FileLock = {
      tryAcquireSync: (of) => {
        const held = lock.tryAcquireSync(of);
        if (held !== null) this.#held = held;
        return held;
      },
    };
    const ids = createSeededIds(seed, this.clock);
    this.ports = createMemoryPorts({ fs, lock: own, clock: this.clock, ids });
  }

  /** It runs no more; what it held is taken over. */
  die(): void {
    this.#held?.releaseSync();
  }
}

/** The actors. */
export interface World {
  readonly fs: MemoryFileSystem;
  readonly lock: MemoryLock;
  readonly processes: readonly Process[];
  readonly writers: readonly Writer[];
  /** Whose process does not survive the step that is being taken. */
  isFatal: boolean;
}

/** A writer that appends, step by step. */
export interface Writer {
  readonly name: string;
  readonly process: Process;
  readonly steps: Steps<void>;
  /** Nothing else of the same process runs while it is in a call, unless it waits. */
  readonly isAlone: boolean;
  /** What was acknowledged so far, and what errors named as written. */
  readonly results: AppendResult[];
  readonly written: string[];
  state: "ready" | "waiting" | "done";
  error: unknown;
}

/** Makes the steps of a writer; it notes what it was told in the writer. */
export type Role = (engine: Engine, name: string) => (writer: Notes) => Steps<void>;
type Notes = Pick<Writer, "results" | "written">;

const item = (name: string, n: number, id?: string): ReturnType<typeof appendItem> =>
  appendItem(encodeDraft({ type: "custom", customType: name, data: n }, timestamp), undefined, id);
const request = (items: AppendRequest["items"], expectedTail?: string | null): AppendRequest => ({
  items,
  onDiverged: "branch",
  expectedTail,
});

/** One append of two entries. */
export const appendsOnce: Role = (engine, name) =>
  function* once({ results }): Steps<void> {
    const leaf = new LeafCursor(true, engine.tailId);
    results.push(...(yield* engine.appender.append(request([item(name, 1), item(name, 2)]), leaf)));
  };

/** Five appends as one group: one with an expectation that fails, one a retry of another. */
export const appendsGroup: Role = (engine, name) =>
  function* group({ results, written }): Steps<void> {
    const leaf = new LeafCursor(true, engine.tailId);
    const calls = [
      request([item(name, 1)]),
      request([item(name, 2)], "nobody"),
      request([item(name, 3, `${name}-3`), item(name, 4)]),
      request([item(name, 3, `${name}-3`)]),
      request([item(name, 5)]),
    ].map((one) => ({ request: one }));
    const { outcomes } = yield* engine.appender.appendQueued(leaf, () => calls);
    for (const outcome of outcomes) note(outcome, results, written);
  };

function note(outcome: AppendOutcome, results: AppendResult[], written: string[]): void {
  if (outcome.results !== undefined) results.push(...outcome.results);
  else if (isBranchlogError(outcome.error)) written.push(...outcome.error.written);
  else throw outcome.error;
}

/** Four groups in a row, which keep the lock from the second on; then the caller has no more. */
export const appendsGroupsInARow: Role = (engine, name) =>
  function* groups({ results, written }): Steps<void> {
    const leaf = new LeafCursor(true, engine.tailId);
    for (let n = 1; n <= 4; n += 1) {
      const calls = [
        { request: request([item(name, n)]) },
        { request: request([item(name, n, `${name}-${n}`), item(name, -n)]) },
      ];
      const { outcomes } = yield* engine.appender.appendQueued(leaf, () => calls);
      for (const outcome of outcomes) note(outcome, results, written);
      yield betweenCalls;
    }
  };

/** Between two calls of a writer: another session of its process may be called here. */
const betweenCalls = portStep("between calls");

/** Four appends in a row, which keep the lock from the third on; then the caller's code ends. */
export const appendsInARow: Role = (engine, name) =>
  function* row({ results }): Steps<void> {
    const leaf = new LeafCursor(true, engine.tailId);
    for (let n = 1; n <= 4; n += 1) {
      results.push(...(yield* engine.appender.append(request([item(name, n)]), leaf)));
      yield betweenCalls;
    }
  };

/** The roles, by process. */
export type Cast = readonly (readonly Role[])[];

/** What else happens once, between any two steps. */
export type Intrusion = (world: World) => void;

/** A new log, and the actors before their first step. A canary does not look after its write. */
export function newWorld(cast: Cast, isCanary: boolean): World {
  const fs = new MemoryFileSystem();
  const lock = new MemoryLock();
  Engine.createSync(path, header, { ports: createMemoryPorts({ fs, lock }) });
  const processes = cast.map((_, seed) => new Process(fs, lock, seed + 1));
  for (const { ports } of processes) hasAppended(ports, retentionAfterAwaited - 2);
  const writers = cast.flatMap((roles, at) =>
    roles.map((role, n) => {
      const process = processes[at];
      if (process === undefined) throw new Error("no process");
      const engine = Engine.openSync(path, { ports: process.ports });
      if (isCanary) Object.defineProperty(engine.log, "grewBy", { value: () => true });
      const name = `p${at}w${n}`;
      const notes: Notes = { results: [], written: [] };
      const steps = role(engine, name)(notes);
      const isAlone = roles.length === 1;
      return { name, process, steps, isAlone, ...notes, state: "ready", error: undefined } as const;
    }),
  );
  return { fs, lock, processes, writers: writers.map((one) => ({ ...one })), isFatal: false };
}

/** As if the process had appended so often just now: after enough of that it keeps the lock. */
function hasAppended({ lock }: Ports, count: number): void {
  const held: HeldLock = { isOursSync: () => true, releaseSync: () => undefined };
  const use = { startMs: 0, nowMs: 0, keeper: held, releasePolicy: "caller" } as const;
  for (let n = 0; n < count; n += 1) sharingOf(lock).retention.retainOrRelease(path, held, use);
}

/** One run: writers and the intrusion take turns as chosen, until all writers are done. */
export function play(schedule: Schedule, world: World, intrude: Intrusion): void {
  let hasIntruded = false;
  for (;;) {
    // A waiter for the lock continues once another is done; if all wait, they try again.
    const ready = world.writers.filter(({ state }) => state === "ready");
    const able =
      ready.length > 0 ? ready : world.writers.filter(({ state }) => state === "waiting");
    if (able.length === 0) return;
    const chosen = able[schedule.choose(able.length + (hasIntruded ? 0 : 1))];
    if (chosen === undefined) {
      hasIntruded = true;
      intrude(world);
      continue;
    }
    let mayGiveWay = true;
    do mayGiveWay = advance(chosen) || chosen.isAlone;
    while (!mayGiveWay && !world.isFatal);
    if (world.isFatal) kill(world, chosen.process);
    if (chosen.state !== "done") continue;
    for (const other of world.writers) if (other.state === "waiting") other.state = "ready";
  }
}

/** One step; true if others of its process may run after it. */
function advance(one: Writer): boolean {
  try {
    const next = one.steps.next(0);
    if (next.done === true) end(one);
    else one.state = next.value.kind === "wait" ? "waiting" : "ready";
    return one.state !== "ready" || next.value === betweenCalls;
  } catch (error) {
    end(one);
    one.error = error;
    return true;
  }
}

/** The code of its caller ends, and with it the time for which a lock is kept. */
function end(one: Writer): void {
  one.state = "done";
  sharingOf(one.process.ports.lock).retention.release();
}

/** Its writers take no step more; what it held is taken over. */
export function kill(world: World, process: Process): void {
  world.isFatal = false;
  for (const writer of world.writers) if (writer.process === process) writer.state = "done";
  process.die();
}

/** What is wrong with the end of a run; undefined if nothing. */
export function violation({ fs, lock, writers }: World): string | undefined {
  const log = fs.readFileSync(path).toString().split("\n");
  const reader = Engine.openSync(path, { ports: createMemoryPorts({ fs, lock }) });
  const { index } = reader;
  for (const { name, results, written, error } of writers) {
    if (error !== undefined && !isBranchlogError(error)) return `${name} threw ${inspect(error)}`;
    const named = isBranchlogError(error) ? error.written : [];
    const ids = new Set([...results.map(({ id }) => id), ...written, ...named]);
    for (const id of ids) {
      const lines = log.filter((line) => line.includes(`"id":"${id}"`) && isJson(line));
      if (lines.length !== 1) return `${name}: ${id} is on ${lines.length} lines`;
      const row = index.rowOfId(id);
      if (row < 0 || reader.bodies.entrySync(row) === undefined) return `${name}: ${id} is lost`;
    }
    for (const { id, parentId, position } of results) {
      if (parentId !== null && index.rowOfId(parentId) < 0) return `${id} has no parent`;
      if (index.rows.offset(index.rowOfId(id)) !== position.offset) return `${id} is elsewhere`;
    }
  }
  return undefined;
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}
