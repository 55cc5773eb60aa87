/** What a fork repeats counts once, whatever the order, and nothing else is omitted. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { sampleHeader } from "@branchlog/core/testing";
import { CopiedHits } from "../../../packages/library/src/search/copied-hits.ts";

interface Session {
  readonly id: string;
  readonly parentSession?: string;
  readonly says: readonly string[];
}

function hitsIn(sessions: readonly Session[]): Readonly<Record<string, number>> {
  const copies = new CopiedHits();
  const counts: Record<string, number> = {};
  for (const { id, parentSession, says } of sessions) {
    const origin = parentSession === undefined ? {} : { parentSession };
    const header = sampleHeader({ id, ...origin });
    for (const text of says) {
      const entryId = "line:1";
      const said = { path: `/${id}.jsonl`, header, entryId, kind: "message", role: "user", text };
      if (!copies.isCopy(said)) counts[text] = (counts[text] ?? 0) + 1;
    }
  }
  return counts;
}

const texts = fc.array(fc.constantFrom("yes", "no", "go on"), { maxLength: 6 });

it("of an origin and its forks, in any order, the one with the most occurrences counts", () => {
  const family = fc
    .record({ shared: texts, own: fc.array(texts, { minLength: 1, maxLength: 4 }) })
    .chain(({ shared, own }) => {
      const sessions = own.map((more, at) => ({
        id: `s${at}`,
        ...(at === 0 ? {} : { parentSession: at % 2 === 0 ? "/old/2026-01-01_s0.jsonl" : "s0" }),
        says: [...shared, ...more],
      }));
      return fc.shuffledSubarray(sessions, { minLength: sessions.length });
    });
  fc.assert(
    fc.property(family, (sessions) => {
      const counts = hitsIn(sessions);
      for (const text of ["yes", "no", "go on"]) {
        const each = sessions.map(({ says }) => says.filter((one) => one === text).length);
        expect(counts[text] ?? 0).toBe(Math.max(...each));
      }
    }),
  );
});

it("unrelated sessions all count, also with the same id", () => {
  fc.assert(
    fc.property(texts, texts, fc.boolean(), (one, other, isSameId) => {
      const copies = new CopiedHits();
      const isHit = (path: string, id: string) => (text: string) =>
        !copies.isCopy({
          path,
          header: sampleHeader({ id }),
          entryId: "a1",
          kind: "message",
          text,
        });
      expect(one.every(isHit("/a.jsonl", "a"))).toBe(true);
      expect(other.every(isHit("/b.jsonl", isSameId ? "a" : "b"))).toBe(true);
    }),
  );
});

it("entries with their own ids are copies by these, whatever their text", () => {
  const copies = new CopiedHits();
  const said = (session: string, entryId: string, parentSession?: string): boolean => {
    const origin = parentSession === undefined ? {} : { parentSession };
    const header = sampleHeader({ id: session, ...origin });
    const path = `/${session}.jsonl`;
    return copies.isCopy({ path, header, entryId, kind: "message", role: "user", text: "go on" });
  };
  expect([said("fork", "a1", "origin"), said("fork", "b1", "origin")]).toEqual([false, false]);
  expect([said("origin", "a1"), said("origin", "a2")]).toEqual([true, false]);
});
