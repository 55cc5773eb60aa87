/**
 * Programs that know nothing of the lock beside ours: they append, also while a log is migrated,
 * and they rewrite it in place. Ours lose nothing that was acknowledged, or say so.
 */
import { appendFileSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { createSession, openSession } from "@branchlog/core";
import type { Session } from "@branchlog/core";
import { verifySession } from "@branchlog/tools";
import { patience, runs } from "../support/fault-seed.ts";
import { inLanes } from "../support/lanes.ts";
import { brokenPromises } from "../support/ledger.ts";
import { entryTexts, writeOldLog } from "../support/old-log.ts";
import { rawLog } from "../support/raw-log.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { Victim } from "../support/victims.ts";

describe("programs that append without the lock", () => {
  it("cost no writer an entry: two of them, three of ours (Verifies: P11)", patience, async () => {
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
  });

  it(
    "cost ours nothing while a log is migrated, and themselves nothing that is not kept (Verifies: P11)",
    patience,
    async () => {
      await inLanes(runs(2, 400), async () => {
        const path = join(temporaryDirectory(), "s.jsonl");
        writeOldLog(path, 100_000);
        const known = await entryTexts(path);
        const ours = new Victim({ path, name: "ours", way: "batches", count: 30, batch: 2 });
        // An old agent: its lines have no ids, whatever the log has become meanwhile.
        const said: string[] = [];
        await ours.said("ready");
        while (ours.isAlive && said.length < linesMax) {
          said.push(`line ${said.length} of a peer`);
          appendFileSync(path, oldLine(said.at(-1) ?? ""));
          await new Promise(setImmediate);
        }
        expect(await ours.ended).toBe(0);

        const log = rawLog(readFileSync(path));
        const byId = new Map(log.entries.map((entry) => [entry.id, entry]));
        for (const { id, data } of ours.acknowledged) expect(byId.get(id)?.["data"]).toEqual(data);
        expect(ours.acknowledged).toHaveLength(60);
        const session = await openSession(path);
        for (const { id } of ours.acknowledged) {
          expect(await session.entry(id)).toMatchObject({ id, customType: "ours" });
        }
        expect((await entryTexts(path)).slice(0, known.length)).toEqual(known);
        expectKept(path, said, log.debris);
      });
    },
  );
});

/** Enough to be there from the first step of a migration to the last. */
const linesMax = 5000;

const oldLine = (content: string): string =>
  `${JSON.stringify({ type: "message", timestamp: "2026-01-01T00:00:00.000Z", message: { role: "user", content, timestamp: 1 } })}\n`;

/**
 * What a peer appended is in the log, or in the original if it came too late for the new one.
 * So does a line of which the migration saw the beginning only, as the system was at work on it.
 */
function expectKept(path: string, said: readonly string[], debris: readonly string[]): void {
  const directory = dirname(path);
  const texts = readdirSync(directory)
    .filter((name) => name === "s.jsonl" || name.includes("-original"))
    .map((name) => readFileSync(join(directory, name), "utf8"));
  expect(texts).toHaveLength(2);
  const lines = texts.flatMap((text) => text.split("\n"));
  const found = new Set(lines.flatMap((line) => /line \d+ of a peer(?=")/u.exec(line) ?? []));
  expect(said.filter((one) => !found.has(one))).toEqual([]);
  const isBegun = (part: string): boolean =>
    lines.some((line) => line.startsWith(part) && line.endsWith("}}"));
  expect(debris.filter((part) => !isBegun(part))).toEqual([]);
}

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
    "begins a new generation, in which what it dropped is reported (Verifies: P11)",
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

  it("is noticed at any byte that it changes the length by (Verifies: P11)", patience, async () => {
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
