/** Real processes on one real file: nothing that was acknowledged is lost, torn or interleaved. */
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createSession, openSession } from "@branchlog/core";
import { verifySession } from "@branchlog/tools";
import { runs } from "../support/fault-seed.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { startAppending } from "./appending-processes.ts";

const kills = runs(3, 8);

const line = (id: string): string =>
  `${JSON.stringify({ type: "custom", customType: "peer", data: "y".repeat(300), id, parentId: null, timestamp: "2026-01-01T00:00:00.000Z" })}\n`;

async function newLog(): Promise<string> {
  const path = join(temporaryDirectory(), "s.jsonl");
  await createSession(path);
  return path;
}

/**
 * Ids in file order; every line must parse. A blank one is not a record: where the line of a peer was
 * seen before its newline, it got one more.
 */
function idsOf(path: string): string[] {
  const lines = readFileSync(path, "utf8")
    .split("\n")
    .filter((text) => text !== "");
  return lines.slice(1).map((text) => String((JSON.parse(text) as { id: unknown }).id));
}

describe("appending from several processes", () => {
  it("keeps every entry, in one order, and batches whole (Verifies: P1, P3, P11)", async () => {
    const path = await newLog();
    const count = runs(12, 40);
    const names = ["one", "two", "three", "four"];
    const writers = names.map((name) => startAppending(path, name, { count, batch: 3 }));
    expect(await Promise.all(writers.map(({ ended }) => ended))).toEqual([0, 0, 0, 0]);
    const ids = idsOf(path);
    expect(ids).toHaveLength(4 * count * 3);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { batches } of writers) {
      const places = batches().map((batch) => batch.map((id) => ids.indexOf(id)));
      for (const [first = -1, ...others] of places) {
        expect(others).toEqual([first + 1, first + 2]);
      }
      const starts = places.map(([first]) => first ?? -1);
      expect(starts).toEqual(starts.toSorted((a, b) => a - b));
    }
    const session = await openSession(path, { access: "read" });
    const read: string[] = [];
    for await (const { id } of session.entries()) read.push(id);
    expect(read).toEqual(ids);
    expect(await verifySession(session)).toMatchObject({ ok: true, pending: null });
  });

  it("survives a peer that appends without the lock (Verifies: P11)", async () => {
    const path = await newLog();
    const count = runs(20, 60);
    const writers = ["one", "two"].map((name) => startAppending(path, name, { count, batch: 1 }));
    const peers: string[] = [];
    const isRunning = (): boolean => writers.some(({ child }) => child.exitCode === null);
    for (let i = 0; isRunning() && i < 20_000; i += 1) {
      peers.push(`peer-${i}`);
      appendFileSync(path, line(`peer-${i}`));
      await new Promise(setImmediate);
    }
    expect(await Promise.all(writers.map(({ ended }) => ended))).toEqual([0, 0]);
    const ids = idsOf(path);
    const acknowledged = writers.flatMap(({ batches }) => batches().flat());
    expect(acknowledged).toHaveLength(2 * count);
    expect(new Set(ids).size).toBe(ids.length);
    expect(new Set(ids)).toEqual(new Set([...acknowledged, ...peers]));
  });

  it("loses nothing that was acknowledged when a process is killed (Verifies: P7)", async () => {
    const path = await newLog();
    const acknowledged: string[] = [];
    for (let kill = 0; kill < kills; kill += 1) {
      const writer = startAppending(path, `life-${kill}`, {
        count: 100_000,
        batch: 1 + (kill % 3),
      });
      await writer.acknowledged(1 + kill * 3);
      writer.child.kill("SIGKILL");
      expect(await writer.ended).toBeNull();
      acknowledged.push(...writer.batches().flat());
    }
    const session = await openSession(path);
    for (const id of acknowledged) expect(await session.entry(id)).toMatchObject({ id });
    expect(acknowledged.length).toBeGreaterThan(kills);
    const { id } = await session.append({ type: "custom", customType: "after" });
    expect((await openSession(path)).leaf).toBe(id);
    const { duplicateIdCount, orphans } = await verifySession(session);
    expect({ duplicateIdCount, orphans }).toEqual({ duplicateIdCount: 0, orphans: [] });
  });
});
