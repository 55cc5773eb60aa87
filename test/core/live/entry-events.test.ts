/**
 * Every entry once: across the seam from past to future entries, whichever process appends them.
 */
import { describe, expect, it } from "vitest";
import { live } from "@branchlog/core/live";
import { idsOf as idsOfEntries } from "../../support/collected.ts";
import { idsOf, path, say, seen, turns, World, newWorld } from "./support.ts";

describe("entries$", () => {
  it("replays from a revision, then continues (Verifies: P14)", async () => {
    const { world, session } = await newWorld();
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

  it("continues through a migration, which is not a reset", async () => {
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
    expect(idsOf(events.items).filter((id) => id !== "migrated")).toEqual(
      await idsOfEntries(session.entries()),
    );
  });

  it("ends at once when it waits and is ended", async () => {
    const { world, session } = await newWorld();
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
