/**
 * Many appends of one session in flight while the n-th file-system call fails: each promise tells
 * the truth about its own entry, and a failed one takes no other along.
 */
import { describe, expect, it } from "vitest";
import { createSession, openSession } from "@branchlog/core";
import type { Durability, EntryDraft, Session } from "@branchlog/core";
import { createMemoryPorts } from "@branchlog/core/testing";
import type { MemoryFileSystem, Ports } from "@branchlog/core/testing";
import { verifySession } from "@branchlog/tools";
import { createRandom } from "@branchlog/bench/generator";
import { CrashFileSystem } from "../support/crash-file-system.ts";
import { failEveryCall, failingFileSystem, failures, isSync } from "../support/failing-calls.ts";
import type { FailingFileSystem, Failure } from "../support/failing-calls.ts";
import { patience, runs, seed } from "../support/fault-seed.ts";
import { orphanIds, rawLog, repeatedIds } from "../support/raw-log.ts";
import { reproducible } from "../support/reproducible-ports.ts";
import { typedError } from "../support/typed-errors.ts";

const path = "/s.jsonl";
const ids = Array.from({ length: 12 }, (_, i) => `new-${i}`);
const draftOf = (id: string): EntryDraft => ({ type: "custom", customType: "x", data: id });

interface World {
  readonly disk: CrashFileSystem;
  readonly failing: FailingFileSystem;
  readonly ports: Ports;
  readonly session: Session;
}

async function newWorld(durability: Durability): Promise<World> {
  const disk = new CrashFileSystem();
  // What a failed sync was to bring onto the disk, the system has forgotten.
  const failing = failingFileSystem(disk.fs, (call) => {
    if (isSync(call)) disk.forgetUnsynced();
  });
  const ports = createMemoryPorts({ fs: failing.fs, ...reproducible() });
  const session = await createSession(path, { ports, durability, cwd: "/w", id: "s" });
  await session.append({ type: "message", message: { role: "user", content: "Hi", timestamp: 1 } });
  return { disk, failing, ports, session };
}

/** Ids of whole lines in the file, in file order; `again` may be there twice. */
function storedIds(memory: MemoryFileSystem, again: readonly string[] = []): string[] {
  const log = rawLog(memory.readFileSync(path));
  const repeated = repeatedIds(log).filter((id) => !again.includes(id));
  expect([repeated, orphanIds(log)]).toEqual([[], []]);
  return log.entries.map(({ id }) => id);
}

/** Whether a settled append says that its entry is in the log; undefined if it does not know. */
function says(outcome: PromiseSettledResult<unknown>, id: string): boolean | undefined {
  if (outcome.status === "fulfilled") return true;
  const { code, written } = typedError(outcome.reason);
  return code === "ERR_APPEND_UNCERTAIN" ? undefined : written.includes(id);
}

/** Ids that may be gone after a power failure, whatever the disk made of what was not synced. */
function perishable({ disk }: World, kept: readonly string[]): string[] {
  const random = createRandom(seed);
  const lost = new Set<string>();
  for (let run = 0; run < runs(4, 100); run += 1) {
    const left = disk.afterPowerLoss((of) => random.below(of));
    const found = rawLog(left.readFileSync(path)).entries.map(({ id }) => id);
    for (const id of kept) if (!found.includes(id)) lost.add(id);
  }
  return [...lost];
}

async function attempt(n: number, failure: Failure, durability: Durability): Promise<boolean> {
  const world = await newWorld(durability);
  const { disk, session, failing, ports } = world;
  failing.arm(n, failure);
  const appends = ids.map((id) => session.append(draftOf(id), { id }));
  const outcomes = await Promise.allSettled(appends);
  const hasFailed = failing.disarm();

  const stored = storedIds(disk.memory);
  for (const [i, outcome] of outcomes.entries()) {
    const id = ids[i] ?? "";
    const said = says(outcome, id);
    if (said !== undefined) expect([id, said]).toEqual([id, stored.includes(id)]);
  }
  const acknowledged = ids.filter((_, i) => outcomes[i]?.status === "fulfilled");
  if (durability === "disk") expect(perishable(world, acknowledged)).toEqual([]);

  const { appendedAgain } = await session.recover();
  for (const id of ids) expect(await session.append(draftOf(id), { id })).toMatchObject({ id });
  const { id: last } = await session.append(draftOf("last"));
  const all = storedIds(disk.memory, appendedAgain);
  expect(new Set(all)).toEqual(new Set([...all.slice(0, 1), ...ids, last]));
  if (durability === "disk") expect(perishable(world, all)).toEqual([]);
  const again = await openSession(path, { ports });
  expect([again.leaf, session.leaf]).toEqual([last, last]);
  expect(again.revision).toBe(session.revision);
  expect((await verifySession(again)).orphans).toEqual([]);
  return hasFailed;
}

describe.each(["os", "disk"] as const)("concurrent appends, durability %s", (durability) => {
  it.each(Object.entries(failures))(
    `each report the true state of their entry: %s (seed ${seed}) (Verifies: P5, P12)`,
    patience,
    async (_, failure) => {
      await failEveryCall((n) => attempt(n, failure, durability));
    },
  );
});
