/**
 * Many appends of one session in flight while the n-th file-system call fails: each promise tells
 * the truth about its own entry, and a failed one takes no other along.
 */
import { describe, expect, it } from "vitest";
import { createSession, openSession } from "@branchlog/core";
import type { EntryDraft, Session } from "@branchlog/core";
import { MemoryFileSystem } from "../../packages/core/src/store/memory-file-system.ts";
import { createMemoryPorts } from "../../packages/core/src/store/memory-ports.ts";
import type { Ports } from "../../packages/core/src/store/ports.ts";
import { failEveryCall, failingFileSystem, failures } from "../support/failing-calls.ts";
import type { FailingFileSystem } from "../support/failing-calls.ts";
import { orphanIds, rawLog, repeatedIds } from "../support/raw-log.ts";
import { reproducible } from "../support/reproducible-ports.ts";
import { typedError } from "../support/typed-errors.ts";

const path = "/s.jsonl";
const ids = Array.from({ length: 12 }, (_, i) => `new-${i}`);
const draftOf = (id: string): EntryDraft => ({ type: "custom", customType: "x", data: id });

interface World {
  readonly memory: MemoryFileSystem;
  readonly failing: FailingFileSystem;
  readonly ports: Ports;
  readonly session: Session;
}

async function newWorld(): Promise<World> {
  const memory = new MemoryFileSystem();
  const failing = failingFileSystem(memory);
  const ports = createMemoryPorts({ fs: failing.fs, ...reproducible() });
  const session = await createSession(path, { ports, cwd: "/w", id: "s" });
  await session.append({ type: "message", message: { role: "user", content: "Hi", timestamp: 1 } });
  return { memory, failing, ports, session };
}

/** Ids of whole lines in the file, in file order. */
function storedIds({ memory }: World): string[] {
  const log = rawLog(memory.readFileSync(path));
  expect([repeatedIds(log), orphanIds(log)]).toEqual([[], []]);
  return log.entries.map(({ id }) => id);
}

/** Whether a settled append says that its entry is in the log; undefined if it does not know. */
function says(outcome: PromiseSettledResult<unknown>, id: string): boolean | undefined {
  if (outcome.status === "fulfilled") return true;
  const { code, landed } = typedError(outcome.reason);
  return code === "ERR_APPEND_UNCERTAIN" ? undefined : landed.includes(id);
}

async function attempt(n: number, failure: string): Promise<boolean> {
  const world = await newWorld();
  const { session, failing, ports } = world;
  const kind = failures[failure];
  if (kind !== undefined) failing.arm(n, kind);
  const appends = ids.map((id) => session.append(draftOf(id), { id }));
  const outcomes = await Promise.allSettled(appends);
  const hasFailed = failing.disarm();

  const stored = storedIds(world);
  for (const [i, outcome] of outcomes.entries()) {
    const id = ids[i] ?? "";
    const said = says(outcome, id);
    if (said !== undefined) expect([id, said]).toEqual([id, stored.includes(id)]);
  }
  for (const id of ids) expect(await session.append(draftOf(id), { id })).toMatchObject({ id });
  const { id: last } = await session.append(draftOf("last"));
  const all = storedIds(world);
  expect(new Set(all)).toEqual(new Set([...all.slice(0, 1), ...ids, last]));
  const again = await openSession(path, { ports });
  expect([again.leaf, session.leaf]).toEqual([last, last]);
  expect(again.revision).toBe(session.revision);
  expect((await again.verify()).orphans).toEqual([]);
  return hasFailed;
}

describe("appends in flight together", () => {
  it.each(Object.keys(failures))(
    "each tell the truth about their entry: %s (Verifies: P12)",
    async (failure) => {
      await failEveryCall((n) => attempt(n, failure));
    },
  );

  it("stand in the log in the order of the calls", async () => {
    const world = await newWorld();
    await Promise.all(ids.map((id) => world.session.append(draftOf(id), { id })));
    expect(storedIds(world).slice(1)).toEqual(ids);
  });
});
