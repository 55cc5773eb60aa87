/**
 * What appends in a row cost while the lock is kept, blocking or awaited, and that no other writer
 * is kept waiting for it: it is free whenever the event loop runs.
 */
import { setImmediate as nextIteration } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { Session } from "@branchlog/core";
import {
  awaitedTurnMsMax,
  retentionAfterAppends,
  retentionAfterAwaited,
  retentionMsMax,
} from "../../../packages/core/src/limits.ts";
import { CountedWorld, countedSession, header, path, say } from "../../support/counted-world.ts";
import { BlockingSession } from "../../support/blocking-session.ts";
import { appendTo } from "../../support/append-to.ts";

it("with a retained lock, blocking appends cost one write and one stat each (Verifies: P17)", () => {
  const world = new CountedWorld();
  const session = BlockingSession.create(path, header, { ports: world.ports() });
  for (let n = 0; n < retentionAfterAppends; n += 1) session.append({ draft: say("x") });
  const before = calls(world);
  for (let n = 0; n < 100; n += 1) session.append({ draft: say("x") });
  expectOneWriteAndOneLook(before, world);
});

describe("awaited appends in a row", () => {
  it("cost one write and one stat each, once the lock is retained (Verifies: P17)", async () => {
    const { world, session } = await countedSession();
    await appendSome(session, retentionAfterAwaited);
    const before = calls(world);
    await appendSome(session, 100);
    expectOneWriteAndOneLook(before, world);
  });

  it("do not retain the lock when they are few, as in a turn of an agent", async () => {
    const { world, session } = await countedSession();
    for (let n = 1; n < retentionAfterAwaited; n += 1) {
      await session.append(say(`${n}`));
      expect(isFree(world)).toBe(true);
    }
    await session.append(say("one more"));
    expect(isFree(world)).toBe(false);
  });

  it("release the lock at each event-loop iteration", async () => {
    const { world, session } = await countedSession();
    const found: boolean[] = [];
    const looking = eachTurn(() => found.push(isFree(world)));
    for (let round = 0; round < 20; round += 1) {
      await appendSome(session, retentionAfterAwaited + 8);
      expect(isFree(world)).toBe(false);
      // With the lock in hand its caller turns to something else.
      await nextIteration();
    }
    await looking.stop();
    expect(found.length).toBeGreaterThan(20);
    expect(found).not.toContain(false);
  });

  it.each([1, 8])(
    "yield to the event loop when the lock was retained for its time: %d sessions",
    async (count) => {
      const world = new CountedWorld();
      const sessions = [await world.create()];
      while (sessions.length < count) sessions.push(await world.open(sessions.length + 1));
      await appendSome(sessions[0], retentionAfterAwaited);
      await nextIteration();
      world.counts();
      let turns = 0;
      const counting = eachTurn(() => (turns += 1));
      const each = 400 / count;
      await Promise.all(
        sessions.map(async (session) => {
          for (let n = 0; n < each; n += 1) {
            await session.append(say(`${n}`));
            world.clock.advance(awaitedTurnMsMax / 10);
          }
        }),
      );
      await counting.stop();
      const { locks } = world.counts();
      expect(turns).toBeGreaterThanOrEqual(400 / 10 - 1);
      expect(locks).toBeGreaterThanOrEqual(400 / 10 - 1);
      expect(locks).toBeLessThan(100);
    },
  );

  it("do not retain it when each is synced", async () => {
    const { world, session } = await countedSession({ durability: "disk" });
    await appendSome(session, 10);
    expect(world.counts().locks).toBe(10);
  });

  it("check the tail before they write if they expect one (Verifies: P2)", async () => {
    const { world, session } = await countedSession();
    const last = await appendSome(session, retentionAfterAwaited + 1);
    appendAsPeer(world);
    await expect(session.append(say("x"), { expectedTail: last })).rejects.toMatchObject({
      code: "ERR_CONFLICT",
      tail: "peer",
    });
    await expect(session.append(say("x"), { onDiverged: "reject" })).rejects.toMatchObject({
      code: "ERR_DIVERGED",
    });
    expect(world.lines).toHaveLength(retentionAfterAwaited + 3);
  });

  it("read recent writes of others before they write (Verifies: P1, P11)", async () => {
    const { world, session } = await countedSession();
    const last = await appendSome(session, retentionAfterAwaited + 1);
    appendAsPeer(world);
    const named = await session.append({ type: "session_info", name: "ours" });
    expect(named).toMatchObject({ parentId: "peer", attachedTo: "tail", displaced: false });
    appendAsPeer(world, "peer 2");
    const below = await session.append(say("below"), { parent: { id: "peer 2" } });
    expect(below).toMatchObject({ parentId: "peer 2", displaced: false });
    await session.moveTo(last);
    appendAsPeer(world, "peer 3");
    world.clock.advance(retentionMsMax);
    const next = await session.append(say("next"));
    expect(next).toMatchObject({ parentId: last, displaced: false });
    expect(world.lines.at(-2)).toContain('"id":"peer 3"');
    expect(world.lines.at(-1)).toContain(`"id":"${next.id}"`);
    // An id that a peer has taken meanwhile is taken (Verifies: P4).
    appendAsPeer(world, "peer 4");
    const taking = session.append(say("mine"), { id: "peer 4" });
    await expect(taking).rejects.toMatchObject({ code: "ERR_DUPLICATE_ID" });
  });

  it("are written after those of a program without the lock (Verifies: P1)", async () => {
    const { world, session } = await countedSession();
    const last = await appendSome(session, retentionAfterAwaited + 1);
    appendAsPeer(world, "just now");
    const next = await session.append(say("next"));
    expect(next).toMatchObject({ parentId: last, displaced: true });
    expect(world.lines.at(-2)).toContain('"id":"just now"');
    expect(world.lines.at(-1)).toContain(`"id":"${next.id}"`);
    expect((await session.entry("just now"))?.id).toBe("just now");
  });

  it("are written to a log that was just truncated, and lost entries are reported (Verifies: P1)", async () => {
    const { world, session } = await countedSession();
    const last = await appendSome(session, retentionAfterAwaited + 1);
    const kept = world.lines.slice(0, retentionAfterAwaited);
    world.fs.writeFileSync(path, Buffer.from(`${kept.join("\n")}\n`));
    const next = await session.append(say("next"));
    expect(world.lines).toHaveLength(kept.length + 1);
    expect(world.lines.at(-1)).toContain(`"id":"${next.id}"`);
    const lost = session.diagnostics.filter(({ kind }) => kind === "lost-entries");
    expect(lost.map((one) => ("id" in one ? one.id : undefined))).toContain(last);
  });

  it("are not acknowledged in a log that was just deleted (Verifies: P1)", async () => {
    const { world, session } = await countedSession();
    await appendSome(session, retentionAfterAwaited + 1);
    world.fs.unlinkSync(path);
    const append = (): Promise<unknown> => session.append(say("lost"));
    await expect(append()).rejects.toMatchObject({ code: "ERR_APPEND_UNCERTAIN", written: [] });
    await expect(append()).rejects.toMatchObject({ code: "ERR_LOG_GONE" });
    expect(world.fs.statSync(path)).toBeNull();
  });
});

/** Does something in each turn of the event loop, until it is stopped. */
function eachTurn(work: () => unknown): { readonly stop: () => Promise<void> } {
  const control = new AbortController();
  const running = (async (): Promise<void> => {
    while (!control.signal.aborted) {
      await nextIteration();
      work();
    }
  })();
  return {
    stop: () => {
      control.abort();
      return running;
    },
  };
}

/** Awaits each before the next; returns the id of the last. */
async function appendSome(session: Session | undefined, count: number): Promise<string> {
  let last = "";
  for (let n = 0; n < count; n += 1) last = (await session?.append(say(`${n}`)))?.id ?? last;
  return last;
}

function isFree({ lock }: CountedWorld): boolean {
  const held = lock.inner.tryAcquireSync(path);
  held?.releaseSync();
  return held !== null;
}

/** So far: locks taken, writes, stat calls, reads. */
function calls({ fs, lock }: CountedWorld): readonly number[] {
  const called = (["writeSync", "statSync", "readSync"] as const).map((name) => fs.callCount(name));
  return [lock.count, ...called];
}

function expectOneWriteAndOneLook(before: readonly number[], world: CountedWorld): void {
  const counts = calls(world).map((count, at) => count - (before[at] ?? 0));
  expect(counts).toEqual([0, 100, 100, 0]);
}

function appendAsPeer({ fs }: CountedWorld, id = "peer"): void {
  const peer = { type: "custom", customType: "peer", id, parentId: null };
  appendTo(fs, path, `${JSON.stringify(peer)}\n`);
}
