/** What can be watched of a session: when it emits, what, and for whom. */
import { describe, expect, it } from "vitest";
import type { Session } from "@branchlog/core";
import { watchedSession } from "@branchlog/core/engine";
import { live } from "@branchlog/core/live";
import { LiveHub } from "../../../packages/core/src/live/live-hub.ts";
import { path, say, seen, turns, values, World, newWorld } from "./support.ts";

describe("a value of a session", () => {
  it("is emitted at once, and again when it changes", async () => {
    const { session } = await newWorld();
    const leaf = seen(live(session).leaf$);
    const name = seen(live(session).name$);
    expect(leaf.items).toEqual([{ value: null, revision: 0 }]);
    const first = await session.append(say("one"));
    await session.append({ type: "session_info", name: "Named" });
    await turns();
    expect(values(leaf)).toEqual([null, first.id, session.leaf]);
    expect(name.items).toEqual([
      { value: undefined, revision: 0 },
      { value: "Named", revision: 2 },
    ]);
    await session.moveTo(first.id);
    await turns();
    expect(values(leaf).at(-1)).toBe(first.id);
    expect(values(name)).toEqual([undefined, "Named"]);
  });

  it("is emitted once for entries appended together", async () => {
    const { session } = await newWorld();
    const leaf = seen(live(session).leaf$);
    const tips = seen(live(session).tips$);
    await session.appendAll([say("1"), say("2"), say("3")]);
    await turns();
    expect(leaf.items).toHaveLength(2);
    expect(tips.items).toHaveLength(2);
  });

  it("keeps its reference when nothing changed", async () => {
    const { session } = await newWorld();
    const { id } = await session.append(say("one"));
    await session.append({ type: "label", targetId: id, label: "L" });
    const { labels$, settings$, header$, diagnostics$ } = live(session);
    const all = [seen(labels$), seen(settings$), seen(header$), seen(diagnostics$)];
    await session.append(say("two"));
    await turns();
    expect(all.map(({ items }) => items.length)).toEqual([1, 1, 1, 1]);
  });

  it("is the same for all, in the same order, also when one of them appends", async () => {
    const { session } = await newWorld();
    const one: (string | null)[] = [];
    const other: (string | null)[] = [];
    const late: (string | null)[] = [];
    live(session).leaf$.subscribe(({ value }) => {
      one.push(value);
      if (one.length === 2) {
        live(session).leaf$.subscribe((shown) => late.push(shown.value));
        void session.append(say("within"));
      }
    });
    live(session).leaf$.subscribe(({ value }) => other.push(value));
    await session.append(say("first"));
    await turns();
    expect(one).toHaveLength(3);
    expect(other).toEqual(one);
    expect(late).toEqual(one.slice(1));
  });

  it("of a slice is emitted when the slice changes", async () => {
    const { session } = await newWorld();
    const big = seen(live(session).select(() => session.revision > 1));
    const pair = seen(
      live(session).select(
        () => [session.revision > 2],
        ([one], [other]) => one === other,
      ),
    );
    for (const text of ["1", "2", "3", "4"]) await session.append(say(text));
    await turns();
    expect(values(big)).toEqual([false, true]);
    expect(values(pair)).toEqual([[false], [true]]);
  });

  it("ends with the session; a later subscriber gets the last one and the end", async () => {
    const { session } = await newWorld();
    const shown = [seen(live(session).leaf$), seen(live(session).context$)];
    const events = seen(live(session).entries$());
    const { id } = await session.append(say("one"));
    await session.close();
    await turns();
    for (const one of [...shown, events]) expect(one.ends).toEqual(["complete"]);
    expect(events.items).toMatchObject([{ kind: "entry", revision: 1 }]);
    const leaf = seen(live(session).leaf$);
    const context = seen(live(session).context$);
    const usage = seen(live(session).usage$);
    await turns();
    expect(values(leaf)).toEqual([id]);
    expect(values(context)[0]?.messages.length).toBe(1);
    expect([leaf.ends, context.ends, usage.ends]).toEqual([
      ["complete"],
      ["complete"],
      ["complete"],
    ]);
    expect(values(seen(live(session).status$))).toEqual([{ kind: "closed" }]);
  });

  it("returns no entries after it is closed, except to earlier calls", async () => {
    const { session } = await newWorld();
    await session.append(say("one"));
    await session.append(say("two"));
    const before = live(session).events();
    expect((await before.next()).value).toMatchObject({ revision: 1 });
    await session.close();
    expect((await before.next()).value).toMatchObject({ revision: 2 });
    expect((await before.next()).done).toBe(true);
    const closed = { code: "ERR_CLOSED" };
    await expect(live(session).events().next()).rejects.toMatchObject(closed);
    await expect(live(session).events({ live: false }).next()).rejects.toMatchObject(closed);
    const failed = new Promise((resolve) => {
      live(session).entries$().subscribe({ error: resolve });
    });
    expect(await failed).toMatchObject(closed);
  });
});

describe("a computed value", () => {
  it("is computed once at a time, and current, when subscribers leave before it is ready", async () => {
    const session = await new World().create();
    const hub = new LiveHub(watchedSession(session));
    const waiting: ((value: string) => void)[] = [];
    const compute = (): Promise<string> =>
      new Promise((resolve) => {
        waiting.push(resolve);
      });
    const value$ = hub.computation(compute);
    value$.subscribe().unsubscribe();
    await session.append(say("one"));
    const early = seen(value$);
    await turns();
    expect(waiting).toHaveLength(1);
    waiting[0]?.("old");
    await turns();
    expect(waiting).toHaveLength(2);
    waiting[1]?.("new");
    await turns();
    const late = seen(value$);
    expect([values(early), values(late)]).toEqual([["new"], ["new"]]);
  });
});

describe("an append of another process", () => {
  async function twoSessions(
    follow = true,
  ): Promise<{ world: World; own: Session; other: Session }> {
    const world = new World();
    const other = await world.create();
    await other.append(say("before"));
    const own = await world.open("read", follow);
    return { world, own, other };
  }

  it("does not move a pinned leaf, or change its values", async () => {
    const { world, own, other } = await twoSessions(false);
    const leaf = seen(live(own).leaf$);
    const tips = seen(live(own).tips$);
    await other.append(say("after"));
    await world.hint();
    expect(leaf.items).toHaveLength(1);
    expect(values(tips).map((list) => list.at(-1)?.id)).toEqual([own.leaf, other.leaf]);
  });

  it("is found by polling without hints", async () => {
    const { world, own, other } = await twoSessions();
    const leaf = seen(live(own).leaf$);
    await turns();
    const { id } = await other.append(say("after"));
    world.clock.advance(999);
    await turns();
    expect(leaf.items).toHaveLength(1);
    world.clock.advance(1);
    await turns();
    expect(values(leaf).at(-1)).toBe(id);
  });

  it("is not polled without subscribers", async () => {
    const { world, own, other } = await twoSessions();
    const calls = (): number => world.fs.callCount("statSync");
    expect(world.hints.watcherCount).toBe(0);
    const one = seen(live(own).leaf$);
    const two = seen(live(own).entries$());
    await turns();
    expect(world.hints.watcherCount).toBe(1);
    one.unsubscribe();
    expect(world.hints.watcherCount).toBe(1);
    two.unsubscribe();
    await turns();
    expect(world.hints.watcherCount).toBe(0);
    await other.append(say("after"));
    const before = calls();
    world.clock.advance(10_000);
    await world.hint();
    expect(calls()).toBe(before);
    expect(values(seen(live(own).status$))).toEqual([{ kind: "catching-up" }]);
  });

  it("is not visible while the log is missing, and visible when it is restored", async () => {
    const { world, own, other } = await twoSessions();
    const status = seen(live(own).status$);
    const leaf = seen(live(own).leaf$);
    await turns();
    const bytes = world.fs.readFileSync(path);
    world.fs.unlinkSync(path);
    await world.hint();
    expect(values(status).map(({ kind }) => kind)).toEqual(["catching-up", "live", "stalled"]);
    expect(values(status).at(-1)).toMatchObject({ error: { code: "ERR_LOG_GONE" } });
    world.fs.writeFileSync(path, bytes);
    world.clock.advance(1000);
    await turns();
    expect(values(status).at(-1)).toEqual({ kind: "live" });
    await other.refresh();
    const { id } = await other.append(say("after"));
    await world.hint();
    expect(values(leaf).at(-1)).toBe(id);
    expect(leaf.ends).toEqual([]);
  });
});

describe("waiting for a session", () => {
  it("ends when an entry or a revision exists, whichever process appended it", async () => {
    const world = new World();
    const own = await world.create();
    const other = await world.open();
    const byId = live(own).waitFor({ id: "wanted" });
    const byRevision = live(own).waitFor({ revision: 2 });
    await other.append(say("1"));
    await world.hint();
    await other.append(say("2"), { id: "wanted" });
    await world.hint();
    await Promise.all([byId, byRevision, live(own).waitFor({ revision: 1 })]);
    expect(world.hints.watcherCount).toBe(0);
  });

  it("ends with the timeout, the signal, or the session", async () => {
    const { world, session } = await newWorld();
    const timed = live(session).waitFor({ revision: 9 }, { timeoutMs: 50 });
    const controller = new AbortController();
    const aborted = live(session).waitFor({ id: "x" }, { signal: controller.signal });
    const closed = live(session).waitFor({ id: "x" });
    const settled = Promise.allSettled([timed, aborted, closed]);
    await turns();
    world.clock.advance(50);
    controller.abort(new Error("enough"));
    await turns();
    await session.close();
    expect(await settled).toMatchObject([
      { reason: { code: "ERR_WAIT_TIMEOUT" } },
      { reason: { message: "enough" } },
      { reason: { code: "ERR_CLOSED" } },
    ]);
    expect(world.hints.watcherCount).toBe(0);
  });
});
