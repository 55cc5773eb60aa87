/**
 * Programs that do not use the lock, alongside ours: they append, and they rewrite it in place.
 * Ours lose nothing that was acknowledged, or say so.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createSession, openSession } from "@branchlog/core";
import type { Session } from "@branchlog/core";
import { verifySession } from "@branchlog/tools";
import { patience, runs } from "../support/fault-seed.ts";
import { brokenPromises } from "../support/ledger.ts";
import { rawLog } from "../support/raw-log.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { Victim } from "../support/victims.ts";

it(
  "two programs without the lock lose no entry of three writers (Verifies: P11)",
  patience,
  async () => {
    const path = join(temporaryDirectory(), "s.jsonl");
    await createSession(path);
    const ways = ["peer", "batches", "peer", "blocking", "together"] as const;
    const count = runs(50, 150);
    const all = ways.map((way, i) => {
      return new Victim({ path, name: `${way}-${i}`, way, count, batch: 5, bytesMax: 9000 });
    });
    expect(await Promise.all(all.map(({ ended }) => ended))).toEqual(all.map(() => 0));
    const acknowledged = all.flatMap((victim) => victim.acknowledged);
    expect(acknowledged.length).toBe(count * (1 + 5 + 1 + 1 + 1));
    expect(await brokenPromises(path, acknowledged, 0)).toEqual([]);
  },
);

describe("a program that rewrites a log in place", () => {
  /** As pi does when it migrates: read everything, write everything, the same file. */
  function rewriteAsPi(path: string, text: string): void {
    const [header = "", ...lines] = text.trimEnd().split("\n");
    const newHeader = { ...(JSON.parse(header) as object), version: 3 };
    const rewritten = [JSON.stringify(newHeader), ...lines.slice(0, -1)];
    writeFileSync(path, `${rewritten.join("\n")}\n`);
  }

  const say = async (session: Session, data: string): Promise<string> => {
    const { id } = await session.append({ type: "custom", customType: "x", data });
    return id;
  };

  it(
    "starts a new generation, in which dropped entries are reported (Verifies: P11)",
    patience,
    async () => {
      const path = join(temporaryDirectory(), "s.jsonl");
      const session = await createSession(path);
      const kept = await say(session, "kept");
      const before = readFileSync(path, "utf8");
      const lost = await say(session, "lost");
      // It had read the log before the last append, and knows nothing of it.
      rewriteAsPi(path, `${before}dropped\n`);
      const { id, position } = await session.append(
        { type: "custom", customType: "x", data: "next" },
        { parent: "tail" },
      );
      expect(position.generation).toBe(2);
      expect(session.diagnostics).toEqual([
        expect.objectContaining({ kind: "lost-entries", id: lost }),
      ]);
      expect(await session.entry(lost)).toBeUndefined();
      expect(await session.entry(kept)).toMatchObject({ data: "kept" });
      expect(await session.entry(id)).toMatchObject({ data: "next", parentId: kept });
      expect((await verifySession(session)).ok).toBe(true);
    },
  );

  it("is detected for a length change at any byte (Verifies: P11)", patience, async () => {
    for (const length of [0, 1, 17, 63, 64, 65, 400]) {
      const path = join(temporaryDirectory(), "s.jsonl");
      const session = await createSession(path);
      for (const n of [1, 2, 3]) await say(session, `${n}`.repeat(100));
      const [header = "", ...rest] = readFileSync(path, "utf8").split("\n");
      const longer = { ...(JSON.parse(header) as object), note: "n".repeat(length) };
      writeFileSync(path, [JSON.stringify(longer), ...rest].join("\n"));
      const ids = rawLog(readFileSync(path)).entries.map(({ id }) => id);
      await session.refresh();
      for (const id of ids) expect(await session.entry(id)).toMatchObject({ id });
      const id = await say(session, "next");
      expect(await session.entry(id)).toMatchObject({ parentId: ids.at(-1) });
      expect((await openSession(path)).leaf).toBe(id);
      expect(session.diagnostics).toEqual([]);
    }
  });
});
