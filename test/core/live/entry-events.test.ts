/**
 * Every entry once: across the seam from past to future entries, whichever process appends them.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Session } from "@branchlog/core";
import type { EntryEvent } from "@branchlog/core/live";
import { live } from "@branchlog/core/live";
import { path, say, seen, turns, World } from "./support.ts";

const idsOf = (events: readonly EntryEvent[]): string[] =>
  events.flatMap((event) => (event.kind === "entry" ? [event.entry.id] : [event.kind]));

async function allIds(session: Session): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of session.entries()) ids.push(id);
  return ids;
}

describe("entries$", () => {
  it("replays from a revision, then continues (Verifies: P14)", async () => {
    const world = new World();
    const session = await world.create();
    for (const id of ["a", "b", "c"]) await session.append(say(id), { id });
    const all = seen(live(session).entries$());
    const late = seen(live(session).entries$({ from: 3 }));
    const later = seen(live(session).entries$({ from: 6 }));
    const past = seen(live(session).entries$({ live: false }));
    await turns();
    await session.append(say("d"), { id: "d" });
    const other = await world.open();
    await other.append(say("e"), { id: "e" });
    await other.append(say("f"), { id: "f" });
    await world.hint();
    expect(idsOf(all.items)).toEqual(["a", "b", "c", "d", "e", "f"]);
    expect(idsOf(late.items)).toEqual(["c", "d", "e", "f"]);
    expect(idsOf(later.items)).toEqual(["f"]);
    expect(idsOf(past.items)).toEqual(["a", "b", "c"]);
    expect(all.items.at(-1)).toMatchObject({ kind: "entry", revision: 6 });
    expect([all.ends, past.ends]).toEqual([[], ["complete"]]);
  });

  it("has no gap and no duplicate, whenever another writer appends (Verifies: P14)", async () => {
    const step = fc.constantFrom("own", "foreign", "hint", "poll", "subscribe", "turn", "pull");
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), fc.nat(9), async (script, before) => {
        const world = new World();
        const own = await world.create();
        const other = await world.open();
        for (let n = 0; n < before; n += 1) await own.append(say(`${n}`));
        const pulled: EntryEvent[] = [];
        const pull = live(own).events();
        let pulling: Promise<void> | undefined;
        const pullOne = async (): Promise<void> => {
          const { value, done } = await pull.next();
          if (done !== true) pulled.push(value);
          pulling = undefined;
        };
        const watched = [seen(live(own).entries$())];
        const pending: Promise<unknown>[] = [];
        for (const name of script) {
          if (name === "own") pending.push(own.append(say("own")));
          if (name === "foreign") pending.push(other.append(say("foreign")));
          if (name === "hint") world.hints.tell(path);
          if (name === "poll") world.clock.advance(1000);
          if (name === "subscribe") watched.push(seen(live(own).entries$()));
          if (name === "pull") pulling ??= pullOne();
          if (name === "turn") await new Promise(setImmediate);
          // Somewhere in the midst of what is under way.
          for (let hop = 0; hop < script.length % 5; hop += 1) await Promise.resolve();
        }
        await Promise.all(pending);
        await world.hint();
        await turns(20);
        const wanted = await allIds(own);
        for (const one of watched) expect(idsOf(one.items)).toEqual(wanted);
        while (pulled.length < wanted.length) {
          await (pulling ?? pullOne());
        }
        expect(idsOf(pulled)).toEqual(wanted);
        await pull.return();
        for (const one of watched) one.unsubscribe();
        await turns();
        expect(world.hints.watcherCount).toBe(0);
      }),
    );
  });

  it("says when the log is another one, and gives all that it holds (Verifies: P14)", async () => {
    const world = new World();
    const session = await world.create();
    for (const id of ["a", "b"]) await session.append(say(id), { id });
    const events = seen(live(session).entries$());
    await turns();
    const [header = "", ...lines] = world.fs.readFileSync(path).toString().split("\n");
    world.fs.writeFileSync(path, Buffer.from([header, lines[1], ""].join("\n")));
    await world.hint();
    expect(idsOf(events.items)).toEqual(["a", "b", "reset", "b"]);
    await session.append(say("c"), { id: "c", parent: "tail" });
    await turns();
    expect(idsOf(events.items)).toEqual(["a", "b", "reset", "b", "c"]);
  });

  it("continues through a migration, which is no reset", async () => {
    const world = new World();
    const old = [
      { type: "session", id: "s", timestamp: "2026-01-01T00:00:00.000Z", cwd: "/w" },
      {
        type: "message",
        timestamp: "2026-01-01T00:00:00.000Z",
        message: { role: "user", content: "a", timestamp: 1 },
      },
    ];
    world.fs.writeFileSync(
      path,
      Buffer.from(old.map((one) => `${JSON.stringify(one)}\n`).join("")),
    );
    const session = await world.open();
    const events = seen(live(session).entries$());
    await turns();
    await session.append(say("b"));
    await turns();
    expect(events.items.map(({ kind }) => kind)).toEqual(["entry", "migrated", "entry"]);
    expect(idsOf(events.items).filter((id) => id !== "migrated")).toEqual(await allIds(session));
  });

  it("never shows a line before its end is there", async () => {
    const world = new World();
    const session = await world.create();
    await session.append(say("a"), { id: "a" });
    const events = seen(live(session).entries$());
    const line = world.fs.readFileSync(path).toString().trimEnd().split("\n").at(-1) ?? "";
    const next = `${line.replace('"id":"a"', '"id":"b"')}\n`;
    const fd = world.fs.openSync(path, "append");
    for (const part of [next.slice(0, 20), next.slice(20, -1), "\n"]) {
      await turns();
      expect(idsOf(events.items)).toEqual(["a"]);
      world.fs.writeSync(fd, Buffer.from(part), 0, Buffer.byteLength(part));
      await world.hint();
    }
    world.fs.closeSync(fd);
    expect(idsOf(events.items)).toEqual(["a", "b"]);
  });

  it("ends at once when it waits and is ended", async () => {
    const world = new World();
    const session = await world.create();
    const events = live(session).events();
    const waiting = events.next();
    await turns();
    await Promise.allSettled([events.return(), waiting]);
    const controller = new AbortController();
    const aborted = live(session).events({ signal: controller.signal }).next();
    await turns();
    controller.abort(new Error("enough"));
    await expect(aborted).rejects.toThrow("enough");
    expect(world.hints.watcherCount).toBe(0);
  });
});
