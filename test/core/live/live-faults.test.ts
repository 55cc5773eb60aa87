/**
 * Watching where something goes wrong: subscribers that come and go, reads that fail, odd values.
 */
import { describe, expect, it } from "vitest";
import type { Observable } from "rxjs";
import { memorySession, openSession } from "@branchlog/core";
import type { Session } from "@branchlog/core";
import { createMemoryPorts } from "@branchlog/core/testing";
import { live } from "@branchlog/core/live";
import { failingFileSystem } from "../../support/failing-calls.ts";
import { idsOf, path, say, seen, turns, values, World, newWorld } from "./support.ts";
import { appendTo } from "../../support/append-to.ts";

const kinds = (status: ReturnType<typeof seen>): unknown[] =>
  (status.items as { value: { kind: string } }[]).map(({ value }) => value.kind);

async function withEntries(count: number): Promise<{ world: World; session: Session }> {
  const { world, session } = await newWorld();
  for (let n = 0; n < count; n += 1) await session.append(say(`${n}`), { id: `a${n}` });
  return { world, session };
}

describe("subscribers", () => {
  it.each(["leaf$", "context$"] as const)(
    "of %s can end each other during delivery",
    async (name) => {
      const { world, session } = await withEntries(1);
      const observable: Observable<unknown> = live(session)[name];
      let told = 0;
      const one = observable.subscribe(() => {
        told += 1;
        if (told === 2) other.unsubscribe();
      });
      const other = observable.subscribe(() => undefined);
      await turns();
      await session.append(say("next"));
      await turns();
      one.unsubscribe();
      expect([told, world.hints.watcherCount]).toEqual([2, 0]);
    },
  );

  it("whose code throws get the error, and no others do", async () => {
    const { session } = await withEntries(1);
    const status = seen(live(session).status$);
    const selected = seen(
      live(session).select(() => {
        const { revision } = session;
        if (revision > 1) throw new Error("of the user");
        return revision;
      }),
    );
    const projected = seen(
      live(session).project$({
        name: "x",
        version: 1,
        types: null,
        initial: () => 0,
        apply: () => {
          throw new Error("of the fold");
        },
      }),
    );
    await turns();
    await session.append(say("next"));
    await turns();
    expect(selected.ends.map(String)).toEqual(["Error: of the user"]);
    expect(projected.ends.map(String)).toEqual(["Error: of the fold"]);
    expect(kinds(status)).toEqual(["catching-up", "live"]);
  });

  it("of a slice see the last append before the close, then the end", async () => {
    const { session } = await withEntries(1);
    const tips = live(session).select(() => session.tips().map(({ id }) => id));
    const status = seen(live(session).status$);
    const slice = seen(tips);
    await turns();
    void session.append(say("last"), { id: "last" });
    await session.close();
    await turns();
    expect([values(slice).at(-1), slice.ends]).toEqual([["last"], ["complete"]]);
    const late = seen(tips);
    expect([values(late), late.ends]).toEqual([[["last"]], ["complete"]]);
    expect(kinds(status)).toEqual(["catching-up", "live", "closed"]);
  });
});

/** A log whose bodies can be made unreadable. */
async function unreadable(): Promise<{
  readonly world: World;
  readonly session: Session;
  readonly fail: (isFailing: boolean) => void;
}> {
  const world = new World();
  const writer = await world.create();
  await writer.append({ type: "model_change", provider: "p", modelId: "m" });
  await writer.append(say("one"));
  let isFailing = false;
  const failing = failingFileSystem(world.fs);
  const readSync = (...args: Parameters<typeof failing.fs.readSync>): number => {
    if (!isFailing) return failing.fs.readSync(...args);
    throw Object.assign(new Error("EIO"), { code: "EIO" });
  };
  const read = async (...args: Parameters<typeof readSync>): Promise<number> => readSync(...args);
  const fs = { ...failing.fs, readSync, read };
  const ports = createMemoryPorts({ fs, hints: world.hints, clock: world.clock });
  const session = await openSession(path, { ports, access: "read", bodyCacheBytesMax: 0 });
  return { world, session, fail: (is) => (isFailing = is) };
}

describe("bodies that cannot be read for a while", () => {
  it("stall only the values that need them, without errors", async () => {
    const { world, session, fail } = await unreadable();
    fail(true);
    const status = seen(live(session).status$);
    const context = seen(live(session).context$);
    const entries = seen(live(session).entries$());
    const leaf = seen(live(session).leaf$);
    for (let polls = 0; polls < 5; polls += 1) {
      await turns();
      world.clock.advance(1000);
    }
    await turns();
    expect(kinds(status).slice(-2)).toEqual(["live", "stalled"]);
    expect(values(status).at(-1)).toMatchObject({ error: { code: "ERR_LOG_UNREADABLE" } });
    expect(kinds(status).filter((kind) => kind === "stalled")).toHaveLength(1);
    expect([context.items, entries.items, leaf.items.length]).toEqual([[], [], 1]);
    fail(false);
    world.clock.advance(1000);
    await turns(10);
    expect(values(context).map(({ messages }) => messages.length)).toEqual([1]);
    expect(entries.items).toHaveLength(2);
    expect(kinds(status).at(-1)).toBe("live");
    for (const one of [context, entries, leaf, status]) expect(one.ends).toEqual([]);
  });

  it("are not retried after their subscriber left", async () => {
    const { world, session, fail } = await unreadable();
    fail(true);
    const status = seen(live(session).status$);
    const wanted = [
      seen(live(session).context$),
      seen(live(session).usage$),
      seen(live(session).entries$()),
    ];
    await turns();
    expect(kinds(status).at(-1)).toBe("stalled");
    const past = live(session).events({ live: false }).next();
    await expect(past).rejects.toMatchObject({ code: "ERR_LOG_UNREADABLE" });
    for (const { unsubscribe } of wanted) unsubscribe();
    const [gone] = [seen(live(session).context$)];
    gone.unsubscribe();
    fail(false);
    world.clock.advance(1000);
    await turns(10);
    expect(kinds(status).at(-1)).toBe("live");
  });

  it("are also awaited by values", async () => {
    const { world, session, fail } = await unreadable();
    fail(true);
    const shown = [
      seen(live(session).settings$),
      seen(live(session).select(() => session.settings.model?.modelId)),
    ];
    await turns();
    expect(shown.map(({ items, ends }) => [items.length, ends])).toEqual([
      [0, []],
      [0, []],
    ]);
    fail(false);
    world.clock.advance(1000);
    await turns(10);
    expect(shown.map(({ items }) => items.length)).toEqual([1, 1]);
    fail(true);
    await session.close();
    const late = seen(live(session).settings$);
    expect([late.items.length, late.ends]).toEqual([1, ["complete"]]);
  });

  it("of a log that is replaced in the meantime do not count as failures", async () => {
    for (let hops = 0; hops < 40; hops += 1) {
      const { world } = await withEntries(5);
      const session = await world.open();
      await session.moveTo("a4");
      const status = seen(live(session).status$);
      const context = seen(live(session).context$);
      const events = seen(live(session).entries$());
      for (let hop = 0; hop < hops; hop += 1) await Promise.resolve();
      const lines = world.fs.readFileSync(path).toString().split("\n");
      world.fs.writeFileSync(`${path}.new`, Buffer.from(`${lines.slice(0, 2).join("\n")}\n`));
      world.fs.renameSync(`${path}.new`, path);
      world.hints.tell(path);
      await turns(20);
      expect(kinds(status)).not.toContain("stalled");
      expect(values(context).at(-1)?.messages.length).toBe(0);
      const ids = idsOf(events.items);
      // Whether it began before the replacement or after: all of the new one is there, at the end.
      expect(ids.slice(-1)).toEqual(["a0"]);
    }
  });

  it("are reported as damage of their own log only", async () => {
    const { world, session } = await withEntries(1);
    appendTo(
      world.fs,
      path,
      `{"type":"message","id":"m","parentId":"a0","timestamp":"2026-01-01T00:00:00.000Z","message":null}\n`,
    );
    const diagnostics = seen(live(session).diagnostics$);
    const context = seen(live(session).context$);
    await world.hint();
    await session.follow();
    await turns();
    expect(values(diagnostics).at(-1)).toMatchObject([{ kind: "malformed-body", id: "m" }]);
    const header = world.fs.readFileSync(path).toString().split("\n")[0] ?? "";
    world.fs.writeFileSync(path, Buffer.from(`${header}\n`));
    await world.hint();
    await turns();
    const { diagnostics: now } = session;
    expect(now.map(({ kind }) => kind)).toEqual(["lost-entries"]);
    expect(values(diagnostics).at(-1)).toBe(now);
    expect(context.ends).toEqual([]);
  });
});

describe("an emission", () => {
  it("is not repeated for unrelated changes, however large it is", async () => {
    const world = new World();
    await (await world.create()).append(say("x".repeat(5000)));
    const session = await openSession(path, { ports: world.ports, bodyCacheBytesMax: 100 });
    const context = seen(live(session).context$);
    await turns();
    for (let n = 0; n < 5; n += 1) {
      await session.moveTo(session.leaf);
      world.clock.advance(1000);
      await turns();
    }
    expect(context.items).toHaveLength(1);
  });

  it("lists each changed node once, and keeps the order of labels", async () => {
    const { session } = await withEntries(1);
    const tree = seen(live(session).tree$);
    const labels = seen(live(session).labels$);
    const drafts = ["b", "x", "y"].map((id) =>
      session.append(say(id), { id, parent: { id: "a0" } }),
    );
    await Promise.all(drafts);
    await turns();
    expect(values(tree).at(-1)?.changed).toEqual(["a0", "b", "x", "y"]);
    for (const [targetId, label] of [
      ["x", "1"],
      ["y", "2"],
      ["x", ""],
      ["x", "3"],
    ] as const) {
      await session.append({ type: "label", targetId, label });
      await turns();
    }
    const texts = values(labels).map((map) => [...map].map(([id, { label }]) => `${id}${label}`));
    expect(texts).toEqual([[], ["x1"], ["x1", "y2"], ["y2"], ["y2", "x3"]]);
    expect([...session.labels.keys()]).toEqual(["y", "x"]);
  });

  it("ends without follow, even if its reader appends", async () => {
    const { session } = await withEntries(3);
    let count = 0;
    for await (const event of live(session).events({ live: false })) {
      count += 1;
      await session.append(say(event.kind));
    }
    expect(count).toBe(3);
  });
});

it("a wait or a poll of Infinity never fires", async () => {
  const session = await memorySession({ pollMs: Number.POSITIVE_INFINITY });
  const leaf = seen(live(session).leaf$);
  const waiting = live(session).waitFor({ revision: 1 }, { timeoutMs: Number.POSITIVE_INFINITY });
  await turns();
  await session.append(say("one"));
  await waiting;
  expect(leaf.items).toHaveLength(2);
  leaf.unsubscribe();
});
