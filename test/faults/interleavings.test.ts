/**
 * Two appenders and an intruder on one memory file system, in every order of their steps: whatever
 * is acknowledged is in the log, once and whole. A variant without the look after the write must
 * fail, or this test could not.
 */
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { encodeDraft } from "../../packages/core/src/entries/encode-entry.ts";
import { isBranchlogError } from "../../packages/core/src/errors.ts";
import { appendItem } from "../../packages/core/src/session/append-entries.ts";
import type { AppendResult } from "../../packages/core/src/session/append-outcome.ts";
import { Engine } from "../../packages/core/src/session/engine.ts";
import { LeafCursor } from "../../packages/core/src/session/leaf-cursor.ts";
import type { Step } from "../../packages/core/src/session/steps.ts";
import { ManualClock } from "../../packages/core/src/store/manual-clock.ts";
import { MemoryFileSystem } from "../../packages/core/src/store/memory-file-system.ts";
import { MemoryLock } from "../../packages/core/src/store/memory-lock.ts";
import { createMemoryPorts } from "../../packages/core/src/store/memory-ports.ts";
import { createSeededIds } from "../../packages/core/src/store/seeded-ids.ts";
import { Schedules } from "./schedules.ts";

/** Orders tried per intrusion; all of them in a soak run. */
const runsMax = Number(process.env["BRANCHLOG_SCHEDULES_MAX"] ?? 1500);

const path = "/s.jsonl";
const header = {
  type: "session",
  version: 3,
  id: "s",
  timestamp: "2026-01-01T00:00:00.000Z",
  cwd: "/w",
} as const;

interface World {
  readonly fs: MemoryFileSystem;
  readonly lock: MemoryLock;
}

/** What an intruder does once, between any two steps; each is something that happens in the field. */
const intrusions: Record<string, (world: World) => void> = {
  nothing: () => undefined,
  "a thief takes the lock": ({ lock }) => lock.breakLock(path),
  "a peer without lock appends a record": ({ fs }) => appendRaw(fs, `${foreign}\n`),
  "a peer without lock is cut off": ({ fs }) => appendRaw(fs, foreign.slice(0, 20)),
  "the file is replaced by a copy": ({ fs }) => {
    fs.writeFileSync("/copy", fs.readFileSync(path));
    fs.renameSync("/copy", path);
  },
  "the file is rewritten in place": ({ fs }) => fs.writeFileSync(path, fs.readFileSync(path)),
  "the next write is short": ({ fs }) => {
    let isFirst = true;
    fs.onCall = ({ name }) => {
      if (name !== "writeSync" || !isFirst) return undefined;
      isFirst = false;
      return "short";
    };
  },
  "a thief, and the next write is short": (world) => {
    world.lock.breakLock(path);
    intrusions["the next write is short"]?.(world);
  },
};

const foreign =
  '{"type":"custom","customType":"peer","id":"ffffffff","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z"}';

function appendRaw(fs: MemoryFileSystem, text: string): void {
  const fd = fs.openSync(path, "append");
  const bytes = Buffer.from(text);
  fs.writeSync(fd, bytes, 0, bytes.length);
  fs.closeSync(fd);
}

interface Writer {
  readonly name: string;
  readonly steps: Generator<Step, readonly AppendResult[], void>;
  state: "ready" | "waiting" | "done";
  results: readonly AppendResult[];
  error: unknown;
}

function writer(name: string, seed: number, world: World, isCanary: boolean): Writer {
  const clock = new ManualClock(0);
  const ports = createMemoryPorts({ ...world, clock, ids: createSeededIds(seed, clock) });
  const engine = Engine.openSync(path, { ports });
  if (isCanary) Object.defineProperty(engine.log, "grewBy", { value: () => true });
  const draft = (n: number): ReturnType<typeof encodeDraft> =>
    encodeDraft({ type: "custom", customType: name, data: n }, "2026-01-01T00:00:00.000Z");
  const items = [appendItem(draft(1)), appendItem(draft(2))];
  const request = { items, onDiverged: "branch", expectedTail: undefined } as const;
  const steps = engine.append(request, new LeafCursor(true, engine.tailId));
  return { name, steps, state: "ready", results: [], error: undefined };
}

function advance(one: Writer): void {
  try {
    const next = one.steps.next();
    if (next.done === true) {
      one.state = "done";
      one.results = next.value;
    } else {
      one.state = next.value.kind === "wait" ? "waiting" : "ready";
    }
  } catch (error) {
    one.state = "done";
    one.error = error;
  }
}

/** One run: writers and intruder take turns as chosen, until both writers are done. */
function play(
  schedules: Schedules,
  intrude: (world: World) => void,
  isCanary: boolean,
): { world: World; writers: readonly Writer[] } {
  const world = { fs: new MemoryFileSystem(), lock: new MemoryLock() };
  Engine.createSync(path, header, { ports: createMemoryPorts(world) });
  const writers = [writer("one", 1, world, isCanary), writer("two", 2, world, isCanary)];
  let hasIntruded = false;
  for (;;) {
    // Who waits for the lock goes on once another has moved; alone, it tries again.
    const ready = writers.filter(({ state }) => state === "ready");
    const able = ready.length > 0 ? ready : writers.filter(({ state }) => state === "waiting");
    if (able.length === 0) return { world, writers };
    const choice = schedules.choose(able.length + (hasIntruded ? 0 : 1));
    const chosen = able[choice];
    if (chosen === undefined) {
      hasIntruded = true;
      intrude(world);
      continue;
    }
    advance(chosen);
    const isReleased = chosen.state === "done";
    for (const other of writers) {
      if (other !== chosen && other.state === "waiting" && isReleased) other.state = "ready";
    }
  }
}

/** What is wrong with the end of a run; undefined if nothing. */
function violation({ world, writers }: ReturnType<typeof play>): string | undefined {
  const log = world.fs.readFileSync(path).toString().split("\n");
  const reader = Engine.openSync(path, { ports: createMemoryPorts(world) });
  for (const { name, results, error } of writers) {
    if (error !== undefined && !isBranchlogError(error)) return `${name} threw ${inspect(error)}`;
    const landed = isBranchlogError(error) ? error.landed : [];
    for (const id of [...results.map((result) => result.id), ...landed]) {
      const lines = log.filter((line) => line.includes(`"id":"${id}"`) && isJson(line));
      if (lines.length !== 1) return `${name}: ${id} is on ${lines.length} lines`;
      const row = reader.index.rowOfId(id);
      if (row < 0 || reader.bodies.entrySync(row) === undefined) return `${name}: ${id} is lost`;
    }
    for (const { id, parentId, position } of results) {
      const row = reader.index.rowOfId(id);
      if (parentId !== null && reader.index.rowOfId(parentId) < 0) return `${id} has no parent`;
      if (reader.index.rows.offset(row) !== position.offset) return `${id} is not where it says`;
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

describe("two appenders and an intruder, in every order", () => {
  it.each(Object.entries(intrusions))(
    "lose nothing that was acknowledged: %s (Verifies: P7, P11)",
    (_, intrude) => {
      const schedules = new Schedules();
      while (schedules.runs < runsMax && schedules.next()) {
        const found = violation(play(schedules, intrude, false));
        if (found !== undefined) throw new Error(`${found} (schedule ${schedules.trace})`);
      }
      expect(schedules.runs).toBeGreaterThan(10);
    },
  );

  it("would lose entries without the look after the write", () => {
    const losses: string[] = [];
    for (const [name, intrude] of Object.entries(intrusions)) {
      const schedules = new Schedules();
      while (schedules.runs < runsMax && schedules.next() && losses.at(-1) !== name) {
        if (violation(play(schedules, intrude, true)) !== undefined) losses.push(name);
      }
    }
    expect(losses).toContain("a thief takes the lock");
    expect(losses).toContain("a peer without lock is cut off");
    expect(losses).toContain("the file is replaced by a copy");
  });
});
