/**
 * Subscribers that take their time, throw, or leave: the slow one costs itself time and no one
 * memory, and none sees anything else because of another.
 */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { Observable } from "rxjs";
import { createSession } from "@branchlog/core";
import { live } from "@branchlog/core/live";
import { BlockingSession } from "../../support/blocking-session.ts";
import { runs } from "../../support/fault-seed.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { uncaughtErrors } from "../../support/uncaught-error.ts";
import { SeamWorld } from "./seam-world.ts";
import { path, say, seen, turns, values, World } from "./support.ts";

const script = fileURLToPath(new URL("../../support/slow-subscriber-process.mjs", import.meta.url));

/** Measured: 19 MB, for 60 MB as for 240 MB; most of it is the batch that is being appended. */
const growthBytesMax = 30_000_000;

/** The fewest of which keeping them would be noticed. */
const batchesMin = 15;
const batches = runs(batchesMin, 40);

interface Pulled {
  readonly appended: number;
  readonly pulledSlowly: number;
  readonly pulled: number;
  readonly isInOrder: boolean;
  readonly pushed: { readonly count: number; readonly isInOrder: boolean };
  readonly growthBytes: number;
}

/** Lets a process pull slowly while batches of 3 MB are appended. */
async function pulledFrom(count: number, how: "drops" | "keeps"): Promise<Pulled> {
  const session = await createSession(join(temporaryDirectory(), "s.jsonl"));
  await session.append({ type: "custom", customType: "large", data: { n: 0 } });
  const args = ["--expose-gc", script, session.path, String(count), "20", "150000", how];
  // What our own script has just printed.
  return JSON.parse(execFileSync(process.execPath, args).toString()) as Pulled;
}

describe("a subscriber that pulls slowly", () => {
  it("gets everything once, without unbounded buffers (Verifies: P14, P16)", async () => {
    const { growthBytes, pulledSlowly, ...facts } = await pulledFrom(batches, "drops");
    const appended = 1 + batches * 20;
    const pushed = { count: appended, isInOrder: true };
    expect(facts).toEqual({ appended, pulled: appended, isInOrder: true, pushed });
    expect(pulledSlowly).toBeLessThan(appended / 50);
    expect(growthBytes).toBeLessThan(growthBytesMax);
  });

  it.runIf(runs(0, 1) > 0)("would be detected if it kept its values", async () => {
    const { growthBytes } = await pulledFrom(batchesMin, "keeps");
    expect(growthBytes).toBeGreaterThan(growthBytesMax);
  });
});

describe("a slow handler", () => {
  it("of a value gets the value after it, not intermediate ones", async () => {
    const world = new World();
    const writer = await world.create();
    const session = await world.open("read");
    const other = BlockingSession.open(path, { ports: world.ports });
    const slow: (string | null)[] = [];
    live(session).leaf$.subscribe(({ value }) => {
      slow.push(value);
      if (slow.length !== 2) return;
      for (let n = 0; n < 100; n += 1) {
        other.append({ draft: say(`${n}`) });
        world.hints.tell(path);
      }
    });
    const quick = seen(live(session).leaf$);
    const { id } = await writer.append(say("first"));
    await world.hint();
    expect(session.revision).toBe(101);
    expect(slow).toEqual([null, id, other.tail]);
    expect(values(quick)).toEqual(slow);
  });

  it("of a value that takes time to compute gets the last, not each", async () => {
    const start = { version: 3, runs: [2], from: 1 } as const;
    const world = await SeamWorld.start(start, "after it waited");
    const { own, gate } = world;
    const context = seen(live(own).context$);
    await turns();
    for (let n = 0; n < 50; n += 1) {
      await (n % 2 === 0 ? own : world.other).append(say(`${n}`));
      await world.hint();
    }
    expect([context.items.length, gate.waiting]).toEqual([0, 1]);
    gate.open();
    await turns();
    const lengths = values(context).map(({ messages }) => messages.length);
    expect(lengths.length).toBeLessThanOrEqual(2);
    const { messages } = await own.context();
    expect([...(values(context).at(-1)?.messages ?? [])]).toEqual(messages);
    expect(context.items.at(-1)?.revision).toBe(own.revision);
  });
});

describe("a thousand subscribers", () => {
  /** A hot value is the same object for all; entries are each subscriber's own. */
  const comparable = (item: unknown): unknown =>
    typeof item === "object" && item !== null && "value" in item
      ? item.value
      : JSON.stringify(item);

  it.each(["leaf$", "tree$", "context$", "entries$"] as const)(
    "of %s see the same, whichever of them throws or leaves",
    async (name) => {
      const world = new World();
      const writers = [await world.create(), await world.open()];
      const session = await world.open("read");
      const { thrown, until } = uncaughtErrors();
      const observable: Observable<unknown> =
        name === "entries$" ? live(session).entries$() : live(session)[name];
      const all: (readonly unknown[])[] = [];
      let leaverSaw = 0;
      for (let n = 0; n < 1000; n += 1) {
        const { items } = seen(observable);
        all.push(items);
        if (n === 300) {
          observable.subscribe(() => {
            throw new Error("of a subscriber");
          });
        }
        if (n !== 500) continue;
        const leaver = observable.subscribe(() => {
          leaverSaw += 1;
          if (leaverSaw === 3) leaver.unsubscribe();
        });
      }
      for (let n = 0; n < 10; n += 1) {
        await writers[n % 2]?.append(say(`${n}`));
        await world.hint();
      }
      const [first = []] = all;
      expect(first.length).toBeGreaterThanOrEqual(10);
      const wanted = first.map(comparable);
      const others = all.filter((items) => {
        const isSame = items.every((item, at) => comparable(item) === wanted[at]);
        return !isSame || items.length !== wanted.length;
      });
      expect(others).toEqual([]);
      expect(leaverSaw).toBe(3);
      await until(first.length);
      expect(new Set(thrown.map(String))).toEqual(new Set(["Error: of a subscriber"]));
      expect(thrown).toHaveLength(first.length);
    },
  );
});
