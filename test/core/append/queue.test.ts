/** Appends that wait together are written together, and mean what they would mean one by one. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isBranchlogError, openSession } from "@branchlog/core";
import type { AppendOptions, Session } from "@branchlog/core";
import type { Ports } from "@branchlog/core/testing";
import { CountedWorld, countedSession, path, say } from "../../support/counted-world.ts";
import { turns } from "../live/support.ts";

describe("appends in flight", () => {
  it("in a steady stream are written in groups", async () => {
    const { world, session } = await countedSession();
    let next = 0;
    const appendSome = async (): Promise<void> => {
      while (next < 640) await session.append(say(`${next++}`));
    };
    await Promise.all(Array.from({ length: 64 }, () => appendSome()));
    const { locks, writes } = world.counts();
    expect(writes).toBeLessThanOrEqual(12);
    expect(locks).toBeLessThanOrEqual(writes);
    expect(world.lines).toHaveLength(641);
  });

  it("are split so that no write is longer than batchBytesMax", async () => {
    const { world, session } = await countedSession({ batchBytesMax: 5000 });
    const lengths: number[] = [];
    const { fs } = world;
    fs.onCall = ({ name }) => {
      if (name === "writeSync") lengths.push(fs.readFileSync(path).length);
    };
    await Promise.all([
      session.append(say("x".repeat(9000))),
      ...Array.from({ length: 30 }, () => session.append(say("y".repeat(1000)))),
    ]);
    lengths.push(fs.readFileSync(path).length);
    const writes = lengths.slice(1).map((length, i) => length - (lengths[i] ?? 0));
    expect(writes[0]).toBeGreaterThan(9000);
    expect(writes[0]).toBeLessThan(10_000);
    for (const length of writes.slice(1)) expect(length).toBeLessThanOrEqual(5000);
    // Three of them fit into a write: 30 need ten, after the one that is too long for any.
    expect(writes).toHaveLength(11);
    expect(world.lines).toHaveLength(32);
  });

  it("of several sessions of one log alternate, each with all its queued entries", async () => {
    const world = new CountedWorld();
    const one = await world.create();
    const two = await world.open(2);
    const three = await world.open(3);
    world.counts();
    const results = await Promise.all(
      [one, two, three].flatMap((session, s) =>
        Array.from({ length: 20 }, (_, i) => session.append(say(`${s}.${i}`))),
      ),
    );
    expect(world.counts()).toEqual({ locks: 3, writes: 3 });
    expect(results.filter(({ displaced }) => displaced)).toEqual([]);
    await one.refresh();
    expect(one.revision).toBe(60);
    expect(one.tips()).toHaveLength(3);
  });

  it("are rejected beyond queuedBytesMax, and accepted again once there is space", async () => {
    const { world, session } = await countedSession({ queuedBytesMax: 10_000 });
    const settled = await Promise.allSettled(
      Array.from({ length: 20 }, () => session.append(say("x".repeat(1000)))),
    );
    const refused = settled.filter(({ status }) => status === "rejected");
    expect(refused.length).toBeGreaterThan(5);
    for (const one of refused) {
      expect(one).toMatchObject({ reason: { code: "ERR_QUEUE_FULL", written: [] } });
    }
    expect(world.lines).toHaveLength(1 + settled.length - refused.length);
    await session.append(say("x".repeat(20_000)));
    await session.close();
  });
});

describe("one append of a group", () => {
  it("that is rejected during planning does not become a parent or use an id (Verifies: P2, P4)", async () => {
    const world = new CountedWorld();
    await (await world.create()).close();
    let next = 0;
    const ids = { ...world.ports().ids, entryId: () => `id ${next++}` };
    const session = await openSession(path, { ports: { ...world.ports(), ids } });
    const settled = await Promise.allSettled([
      session.appendAll([say("1"), { type: "label", targetId: "nobody", label: "l" }]),
      session.append(say("2"), { parent: { id: "id 0" } }),
      session.append(say("3"), { id: "id 0" }),
    ]);
    expect(settled).toMatchObject([
      { reason: { code: "ERR_ENTRY_NOT_FOUND", id: "nobody" } },
      { reason: { code: "ERR_ENTRY_NOT_FOUND", id: "id 0" } },
      { value: { id: "id 0", parentId: null, revision: 1 } },
    ]);
  });

  it("leaves the queue when its caller aborts, and the others continue", async () => {
    const { world, session } = await countedSession();
    const held = world.lock.tryAcquireSync(path);
    const [giveUp, giveUpToo] = [new AbortController(), new AbortController()];
    const appends = Promise.allSettled([
      session.append(say("1"), { signal: giveUp.signal }),
      session.append(say("2")),
      session.append(say("3"), { signal: giveUpToo.signal }),
    ]);
    await turns(5);
    giveUp.abort(new Error("enough"));
    held?.releaseSync();
    world.clock.advance(10);
    const settled = await appends;
    expect(settled).toMatchObject([
      { reason: { message: "enough" } },
      { value: { parentId: null } },
      { status: "fulfilled" },
    ]);
    giveUpToo.abort();
    expect(world.lines).toHaveLength(3);
  });

  it("ends the wait for the lock when all callers aborted, whatever was appended before", async () => {
    const { world, session } = await countedSession();
    for (const n of [1, 2]) await session.append(say(`${n}`));
    const held = world.lock.tryAcquireSync(path);
    for (const n of [3, 4]) {
      const giveUp = new AbortController();
      const append = session.append(say(`${n}`), { signal: giveUp.signal });
      await turns(5);
      giveUp.abort(new Error("enough"));
      await expect(append).rejects.toThrow("enough");
      // Without time passing: the queue is idle again.
      await session.moveTo(null);
    }
    held?.releaseSync();
    expect(await session.append(say("5"))).toMatchObject({ revision: 3 });
    expect(world.lines).toHaveLength(4);
  });

  it("uses no queue space after its caller aborted, or once it is in the log", async () => {
    const { world, session } = await countedSession({ queuedBytesMax: 2_000 });
    const held = world.lock.tryAcquireSync(path);
    for (let n = 0; n < 10; n += 1) {
      const giveUp = new AbortController();
      const append = session.append(say("x".repeat(1_000)), { signal: giveUp.signal });
      giveUp.abort(new Error("enough"));
      await expect(append).rejects.toThrow("enough");
      await session.moveTo(null);
    }
    held?.releaseSync();
    for (let n = 0; n < 10; n += 1) await session.append(say("y".repeat(1_000)));
    expect(world.lines).toHaveLength(11);
  });

  it("fails after lockWaitMs, not earlier because others waited before it", async () => {
    const { world, session } = await countedSession({ lockWaitMs: 100 });
    const held = world.lock.tryAcquireSync(path);
    const early = Promise.allSettled([session.append(say("1")), session.append(say("2"))]);
    await passTime(world, 60);
    const late = session.append(say("3"));
    await passTime(world, 60);
    expect(await early).toMatchObject([
      { reason: { code: "ERR_LOCK_TIMEOUT" } },
      { reason: { code: "ERR_LOCK_TIMEOUT" } },
    ]);
    held?.releaseSync();
    await passTime(world, 60);
    expect(await late).toMatchObject({ parentId: null, revision: 1 });
  });

  it("gets a unique id, whatever the id source returns (Verifies: P11)", async () => {
    const world = new CountedWorld();
    await world.create();
    const counting = (): Ports => {
      let calls = 0;
      // Each id three times, and the same in both sessions.
      const entryId = (): string =>
        Math.floor(calls++ / 3)
          .toString(16)
          .padStart(8, "0");
      return { ...world.ports(), ids: { ...world.ports().ids, entryId } };
    };
    const sessions = await Promise.all([1, 2].map(() => openSession(path, { ports: counting() })));
    const results = await Promise.all(
      sessions.flatMap((session) => Array.from({ length: 20 }, () => session.append(say("x")))),
    );
    expect(new Set(results.map(({ id }) => id)).size).toBe(40);
    expect(world.lines).toHaveLength(41);
  });
});

async function passTime({ clock }: CountedWorld, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 1) {
    clock.advance(1);
    await turns(2);
  }
}

/** What a session is asked to do; ids are chosen from few, so that they meet. */
type Request =
  | { readonly kind: "append"; readonly drafts: number; readonly options: AppendOptions }
  | { readonly kind: "label"; readonly target: string }
  | { readonly kind: "move"; readonly to: string | null };

const someId = fc.constantFrom("a", "b", "c", "d", "e");
const someTail = fc.oneof(someId, fc.constant(null));
const options: fc.Arbitrary<AppendOptions> = fc.record(
  {
    id: someId,
    expectedTail: someTail,
    onDiverged: fc.constantFrom("branch", "follow", "reject"),
    parent: fc.oneof(
      fc.constantFrom("leaf" as const, "tail" as const),
      someTail.map((id) => ({ id })),
    ),
  },
  { requiredKeys: [] },
);
const request: fc.Arbitrary<Request> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("append"), drafts: fc.nat(2), options }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("label"), target: someId }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("move"), to: someTail }) },
);

async function carryOut(session: Session, one: Request): Promise<unknown> {
  if (one.kind === "move") return session.moveTo(one.to);
  if (one.kind === "label") {
    return session.append({ type: "label", targetId: one.target, label: "l" });
  }
  if (one.drafts === 0) return session.append(say("same"), one.options);
  const { id: _, ...rest } = one.options;
  return session.appendAll(
    Array.from({ length: one.drafts + 1 }, (_unused, i) => say(`${i}`)),
    rest,
  );
}

function outcome(settled: PromiseSettledResult<unknown>): unknown {
  if (settled.status === "fulfilled") return settled.value;
  if (!isBranchlogError(settled.reason)) return settled.reason;
  const { code, tail, id, written } = settled.reason;
  return { code, tail, id, written };
}

it("concurrent appends have the same result as sequential ones (Verifies: P1, P2, P4)", async () => {
  const rounds = fc.array(
    fc.record({ foreign: fc.nat(2), requests: fc.array(request, { maxLength: 8 }) }),
    { maxLength: 4 },
  );
  await fc.assert(
    fc.asyncProperty(rounds, async (history) => {
      const [together, apart] = [new CountedWorld(), new CountedWorld()];
      const sessions = await Promise.all([together.create(), apart.create()]);
      const others = await Promise.all([together.open(7), apart.open(7)]);
      for (const { foreign, requests } of history) {
        for (let n = 0; n < foreign; n += 1) {
          for (const other of others) await other.append(say(`foreign ${n}`));
        }
        const [session, patient] = sessions;
        const atOnce = await Promise.allSettled(requests.map((one) => carryOut(session, one)));
        const inTurn: PromiseSettledResult<unknown>[] = [];
        for (const one of requests) {
          inTurn.push(...(await Promise.allSettled([carryOut(patient, one)])));
        }
        expect(atOnce.map(outcome)).toEqual(inTurn.map(outcome));
        expect(session.leaf).toBe(patient.leaf);
        expect(together.text).toBe(apart.text);
      }
    }),
    { numRuns: Number(process.env["BRANCHLOG_HISTORIES"] ?? 300) },
  );
});
