/**
 * What appends in a row cost while the lock is kept, blocking or awaited, and that no other writer
 * is kept waiting for it: it is free whenever the event loop runs.
 */
import { setImmediate as nextIteration } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { Session } from "@branchlog/core";
import { Engine } from "@branchlog/core/engine";
import { encodeDraft } from "@branchlog/core/rows";
import {
  retentionAfterAppends,
  retentionAfterAwaited,
  retentionMsMax,
} from "../../../packages/core/src/limits.ts";
import { appendItem } from "../../../packages/core/src/append/request.ts";
import { LeafCursor } from "../../../packages/core/src/append/leaf-cursor.ts";
import { CountedWorld, header, path, say } from "../../support/counted-world.ts";

describe("blocking appends in a row", () => {
  it("cost one write and one look each, once the lock is kept (Verifies: P17)", () => {
    const { world, append } = blockingWorld();
    for (let n = 0; n < retentionAfterAppends; n += 1) append();
    const before = calls(world);
    for (let n = 0; n < 100; n += 1) append();
    expect(difference(before, calls(world))).toEqual(oneWriteAndOneLook);
  });

  it("check the tail before they write if they expect one (Verifies: P2)", () => {
    const { world, append } = blockingWorld();
    let last = "";
    for (let n = 0; n <= retentionAfterAppends; n += 1) last = append();
    appendAsPeer(world);
    expect(() => append(last)).toThrow(
      expect.objectContaining({ code: "ERR_CONFLICT", tail: "peer" }),
    );
    expect(world.lines).toHaveLength(retentionAfterAppends + 3);
  });
});

describe("awaited appends in a row", () => {
  it("cost one write and one look each, once the lock is kept (Verifies: P17)", async () => {
    const world = new CountedWorld();
    const session = await world.create();
    await appendSome(session, retentionAfterAwaited);
    const before = calls(world);
    await appendSome(session, 100);
    expect(difference(before, calls(world))).toEqual(oneWriteAndOneLook);
  });

  it("do not keep the lock if they are few, as in a turn of an agent", async () => {
    const world = new CountedWorld();
    const session = await world.create();
    for (let n = 1; n < retentionAfterAwaited; n += 1) {
      await session.append(say(`${n}`));
      expect(isFree(world)).toBe(true);
    }
    await session.append(say("one more"));
    expect(isFree(world)).toBe(false);
  });

  it("leave the lock free at each event-loop iteration", async () => {
    const world = new CountedWorld();
    const session = await world.create();
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
    "give the event loop a turn when the lock was kept for its time: %d sessions",
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
            world.clock.advance(retentionMsMax / 10);
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

  it("do not keep it where each is synced", async () => {
    const world = new CountedWorld();
    const session = await world.create({ durability: "disk" });
    world.counts();
    await appendSome(session, 10);
    expect(world.counts().locks).toBe(10);
  });

  it("check the tail before they write if they expect one (Verifies: P2)", async () => {
    const world = new CountedWorld();
    const session = await world.create();
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

  it("read what others wrote a moment ago before they write (Verifies: P1, P11)", async () => {
    const world = new CountedWorld();
    const session = await world.create();
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

  it("land behind what a program without the lock wrote just now (Verifies: P1)", async () => {
    const world = new CountedWorld();
    const session = await world.create();
    const last = await appendSome(session, retentionAfterAwaited + 1);
    appendAsPeer(world, "just now");
    const next = await session.append(say("next"));
    expect(next).toMatchObject({ parentId: last, displaced: true });
    expect(world.lines.at(-2)).toContain('"id":"just now"');
    expect(world.lines.at(-1)).toContain(`"id":"${next.id}"`);
    expect((await session.entry("just now"))?.id).toBe("just now");
  });

  it("land in a log that was cut just now, and what is lost is said (Verifies: P1)", async () => {
    const world = new CountedWorld();
    const session = await world.create();
    const last = await appendSome(session, retentionAfterAwaited + 1);
    const kept = world.lines.slice(0, 20);
    world.fs.writeFileSync(path, Buffer.from(`${kept.join("\n")}\n`));
    const next = await session.append(say("next"));
    expect(world.lines).toHaveLength(21);
    expect(world.lines.at(-1)).toContain(`"id":"${next.id}"`);
    const lost = session.diagnostics.filter(({ kind }) => kind === "lost-entries");
    expect(lost.map((one) => ("id" in one ? one.id : undefined))).toContain(last);
  });

  it("are not acknowledged in a log that was deleted just now (Verifies: P1)", async () => {
    const world = new CountedWorld();
    const session = await world.create();
    await appendSome(session, retentionAfterAwaited + 1);
    world.fs.unlinkSync(path);
    const append = (): Promise<unknown> => session.append(say("lost"));
    await expect(append()).rejects.toMatchObject({ code: "ERR_APPEND_UNCERTAIN", written: [] });
    await expect(append()).rejects.toMatchObject({ code: "ERR_LOG_GONE" });
    expect(world.fs.statSync(path)).toBeNull();
  });

  it.each(["ERR_DIVERGED", "ERR_LOG_GONE"] as const)(
    "write nothing to a log that was cut, or deleted, a moment ago: %s",
    async (code) => {
      const world = new CountedWorld();
      const session = await world.create();
      await appendSome(session, retentionAfterAwaited + 1);
      if (code === "ERR_LOG_GONE") world.fs.unlinkSync(path);
      else world.fs.writeFileSync(path, Buffer.from(`${world.lines.slice(0, 20).join("\n")}\n`));
      world.clock.advance(retentionMsMax);
      world.counts();
      await expect(session.append(say("lost"))).rejects.toMatchObject({ code });
      expect(world.counts()).toMatchObject({ writes: 0 });
    },
  );

  it("of two sessions in one process are all there, under few locks (Verifies: P11)", async () => {
    const world = new CountedWorld();
    const [one, other] = [await world.create(), await world.open(2)];
    world.counts();
    await Promise.all([appendSome(one, 200), appendSome(other, 200)]);
    expect(world.lines).toHaveLength(401);
    expect(world.counts().locks).toBeLessThan(50);
    await nextIteration();
    expect(isFree(world)).toBe(true);
  });

  it("share the lock with blocking ones between them", async () => {
    const world = new CountedWorld();
    const session = await world.create();
    const { append } = blockingWorld(world);
    for (let n = 0; n < 20; n += 1) {
      await session.append(say(`${n}`));
      append();
    }
    expect(world.lines).toHaveLength(41);
    await nextIteration();
    expect(isFree(world)).toBe(true);
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

const oneWriteAndOneLook = { locks: 0, writes: 100, looks: 100, reads: 0 };

function calls({ fs, lock }: CountedWorld): object {
  return {
    locks: lock.count,
    writes: fs.callCount("writeSync"),
    looks: fs.callCount("statSync"),
    reads: fs.callCount("readSync"),
  };
}

function difference(before: object, after: object): object {
  const earlier: ReadonlyMap<string, unknown> = new Map(Object.entries(before));
  return Object.fromEntries(
    Object.entries(after).map(([key, count]) => [key, Number(count) - Number(earlier.get(key))]),
  );
}

/** A log, and a function that appends to it, blocking, and returns the id. */
function blockingWorld(world: CountedWorld = new CountedWorld()): {
  readonly world: CountedWorld;
  readonly append: (expectedTail?: string) => string;
} {
  if (world.fs.statSync(path) === null) Engine.createSync(path, header, { ports: world.ports() });
  const engine = Engine.openSync(path, { ports: world.ports(7) });
  const leaf = new LeafCursor(true, null);
  const append = (expectedTail?: string): string => {
    const items = [appendItem(encodeDraft(say("x"), header.timestamp))];
    return (
      engine.appender.appendSync({ items, onDiverged: "branch", expectedTail }, leaf)[0]?.id ?? ""
    );
  };
  return { world, append };
}

function appendAsPeer({ fs }: CountedWorld, id = "peer"): void {
  const peer = { type: "custom", customType: "peer", id, parentId: null };
  const fd = fs.openSync(path, "append");
  const bytes = Buffer.from(`${JSON.stringify(peer)}\n`);
  fs.writeSync(fd, bytes, 0, bytes.length);
  fs.closeSync(fd);
}
