/** What is kept up to date equals what is rebuilt, after anything that can happen to a log. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeCounter } from "@branchlog/streaming";
import type { Session } from "@branchlog/core";
import { live } from "@branchlog/core/live";
import { copiedBy } from "./copied-elements.ts";
import { drafts, path, say, seen, turns, values, World } from "./support.ts";
import { runs } from "../../support/fault-seed.ts";
import { appendTo } from "../../support/append-to.ts";

type Act = (world: World, own: Session, other: Session, pick: number) => Promise<unknown> | void;

const some = (session: Session, pick: number): string | null =>
  session.tree().node(`e${pick % Math.max(1, session.revision)}`)?.id ?? session.leaf;

let count = 0;
const append = async (session: Session, pick: number): Promise<unknown> => {
  const draft = drafts[pick % drafts.length]?.(some(session, pick) ?? "e0") ?? say("");
  const parent = pick % 3 === 0 ? { id: some(session, pick >> 2) } : "leaf";
  return session.append(draft, { id: `e${count++}`, parent }).catch(() => undefined);
};

/** Lines of programs that know no rules: a late parent, a repeated id, damage, a cycle. */
const strange = (world: World, own: Session, pick: number): void => {
  const of = (fields: object): string =>
    JSON.stringify({
      type: "custom",
      customType: "x",
      timestamp: "2026-01-01T00:00:00.000Z",
      ...fields,
    });
  const known = some(own, pick) ?? "e0";
  const lines = [
    of({ id: `s${pick}`, parentId: `late${pick}` }),
    of({ id: `late${pick % 7}`, parentId: known }),
    of({ id: known, parentId: null }),
    of({ id: `c${pick}`, parentId: `d${pick}` }) +
      "\n" +
      of({ id: `d${pick}`, parentId: `c${pick}` }),
    "no json",
    `{"type":"message","id":"bad${pick}","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user",}}`,
    of({ id: `u${pick}`, parentId: `bad${pick - 1}` }),
  ];
  appendTo(world.fs, path, `${lines[pick % lines.length]}\n`);
};

const acts: Readonly<Record<string, Act>> = {
  own: (_, own, __, pick) => append(own, pick),
  foreign: async (_, __, other, pick) => {
    await other.refresh();
    await append(other, pick);
  },
  strange: (world, own, _, pick) => strange(world, own, pick),
  move: (_, own, __, pick) => own.moveTo(some(own, pick)).catch(() => undefined),
  follow: (_, own) => own.follow(),
  hint: (world) => world.hint(),
  rewrite: (world) => {
    const lines = world.fs.readFileSync(path).toString().split("\n");
    if (lines.length < 4) return;
    world.fs.writeFileSync(path, Buffer.from([lines[0], ...lines.slice(2)].join("\n")));
  },
};

const script = fc.array(
  fc.tuple(
    fc.oneof(
      { arbitrary: fc.constantFrom("own", "foreign", "hint", "move", "follow"), weight: 8 },
      { arbitrary: fc.constant("strange"), weight: 3 },
      { arbitrary: fc.constant("rewrite"), weight: 1 },
    ),
    fc.nat(1000),
  ),
  { maxLength: 30 },
);

describe("everything observed", () => {
  it("equals a rebuilt value after any sequence (Verifies: P15)", { timeout: 60_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(script, async (steps) => {
        const world = new World();
        const own = await world.create();
        const other = await world.open();
        const shown = {
          leaf: seen(live(own).leaf$),
          tips: seen(live(own).tips$),
          tree: seen(live(own).tree$),
          labels: seen(live(own).labels$),
          name: seen(live(own).name$),
          settings: seen(live(own).settings$),
          context: seen(live(own).context$),
          usage: seen(live(own).usage$),
          summary: seen(live(own).summary$),
          diagnostics: seen(live(own).diagnostics$),
        };
        for (const [name, pick] of steps) await acts[name]?.(world, own, other, pick);
        await world.hint();
        await turns(10);

        const last = <T>(one: { items: readonly { value: T }[] }): T | undefined =>
          one.items.at(-1)?.value;
        expect(last(shown.leaf)).toBe(own.leaf);
        expect([...(last(shown.tips) ?? [])]).toEqual(own.tips());
        const [tree, plain] = [last(shown.tree), own.tree()];
        expect([[...(tree?.roots ?? [])], tree?.size]).toEqual([plain.roots, plain.size]);
        for (const { id } of own.tips()) expect(tree?.node(id)).toEqual(plain.node(id));
        expect(new Map(last(shown.labels))).toEqual(own.labels);
        expect(last(shown.name)).toBe(own.name);
        expect(last(shown.settings)).toEqual(own.settings);
        const isThere = own.tree().node(own.leaf ?? "") !== undefined;
        const { messages, ...context } = await own.context(isThere ? {} : { at: null });
        const { messages: list, ...rest } = last(shown.context) ?? {};
        expect([[...(list ?? [])], rest]).toEqual([messages, context]);
        expect(last(shown.usage)).toEqual(await own.usage);
        expect(last(shown.summary)).toEqual(await own.summary);
        expect(last(shown.diagnostics)).toEqual(own.diagnostics);
        for (const one of Object.values(shown)) expect(one.ends).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });

  it.each([100, runs(20_000, 100_000)])(
    "costs the same after %i entries (Verifies: P17)",
    async (entries) => {
      const world = new World();
      const own = await world.create();
      const batch = Array.from({ length: Math.min(entries, 10_000) }, (_, n) => say(`${n}`));
      const ids: string[] = [];
      for (let n = 0; n < entries; n += batch.length) {
        ids.push(...(await own.appendAll(batch)).map(({ id }) => id));
      }
      for (let n = 0; n < entries / 10; n += 1) {
        await own.append({ type: "label", targetId: ids[n] ?? "", label: "L" });
      }
      const all = [
        seen<unknown>(live(own).leaf$),
        seen<unknown>(live(own).tips$),
        seen<unknown>(live(own).tree$),
        seen<unknown>(live(own).labels$),
        seen<unknown>(live(own).settings$),
        seen<unknown>(live(own).context$),
        seen<unknown>(live(own).usage$),
      ];
      await own.append(say("first"));
      await turns(20);
      const before = all.map(({ items }) => items.length);
      decodeCounter.parses = 0;
      const copied = await copiedBy(async () => {
        await own.append({ type: "label", targetId: ids[1] ?? "", label: "M" });
        await own.append(say("one more"));
        await turns();
      });
      const emitted = all.map(({ items }, at) => items.length - (before[at] ?? 0));
      expect(emitted).toEqual([2, 2, 2, 1, 0, 1, 0]);
      expect(copied).toBeLessThan(1000);
      expect(decodeCounter.parses).toBeLessThanOrEqual(6);
      expect(values(seen(live(own).leaf$))).toEqual([own.leaf]);
    },
  );
});
