/**
 * Verifying a log to which others append, and of which others save checkpoints, in the midst of it:
 * the report is on the log of the moment at which it was requested.
 */
import { describe, expect, it } from "vitest";
import { MemoryFileSystem, createMemoryPorts } from "@branchlog/core/testing";
import type { Ports } from "@branchlog/core/testing";
import type { VerifyReport } from "@branchlog/tools";
import { Engine } from "@branchlog/core/engine";
import { appendTo } from "../../support/append-to.ts";
import { sampledCalls } from "../../support/sampled-calls.ts";
import { verifyLog } from "../../../packages/tools/src/verify/verify-session.ts";

const path = "/s.jsonl";
const header = '{"type":"session","version":3,"id":"s","timestamp":"","cwd":"/"}\n';
const entry = (id: string): string =>
  `{"type":"custom","id":"${id}","parentId":null,"timestamp":"","customType":"x"}\n`;
const entriesOf = (...ids: readonly string[]): string => ids.map((id) => entry(id)).join("");

interface World {
  readonly fs: MemoryFileSystem;
  readonly ports: Ports;
  /** The verifier. */
  readonly engine: Engine;
}

/** A log of which a checkpoint has seen the first entries, but not the others. */
function newWorld(): World {
  const fs = new MemoryFileSystem();
  const ports = createMemoryPorts({ fs });
  fs.writeFileSync(path, Buffer.from(header + entriesOf("a", "b", "c")));
  saveCheckpoint(ports);
  appendTo(fs, path, entriesOf("d", "e"));
  return { fs, ports, engine: Engine.openSync(path, { ports, access: "read" }) };
}

function saveCheckpoint(ports: Ports): void {
  Engine.openSync(path, { ports, checkpointEveryBytes: 1 }).checkpoints.saveSync();
}

/** What another writer does, and what the verifier sees of it. */
const happenings: Readonly<Record<string, (world: World) => void>> = {
  "an entry is appended": ({ fs }) => appendTo(fs, path, entry("late")),
  "a part of an entry is appended": ({ fs }) => appendTo(fs, path, entry("late").slice(0, 20)),
  "an entry is appended and read on": ({ fs, engine }) => {
    appendTo(fs, path, entry("late"));
    engine.refreshSync();
  },
  "a checkpoint of more is saved": ({ fs, ports }) => {
    appendTo(fs, path, entry("late"));
    saveCheckpoint(ports);
  },
  "a checkpoint of more is saved, and more read on": ({ fs, ports, engine }) => {
    appendTo(fs, path, entry("late"));
    saveCheckpoint(ports);
    engine.refreshSync();
  },
  "another log takes the name, and is read": ({ fs, ports, engine }) => {
    fs.writeFileSync("/new", Buffer.from(`${header}${entry("other")}`));
    fs.renameSync("/new", path);
    saveCheckpoint(ports);
    engine.refreshSync();
  },
};

/** What is reported if that happens before the n-th call of the verification; null: too late. */
async function reportWith(
  n: number,
  happen: (world: World) => void,
  after: "it was asked for" | "it began",
): Promise<VerifyReport | null> {
  const world = newWorld();
  const { fs, engine } = world;
  let calls = 0;
  const count = (): void => {
    calls += 1;
    if (calls !== n) return;
    fs.onCall = undefined;
    happen(world);
  };
  if (after === "it was asked for") fs.onCall = count;
  const asked = verifyLog(engine);
  if (after === "it began") fs.onCall = count;
  const report = await asked;
  return calls < n ? null : report;
}

describe("a verification", () => {
  it.each(Object.entries(happenings))(
    "gives the same report if %s after it started (Verifies: P13)",
    async (_, happen) => {
      const undisturbed = await verifyLog(newWorld().engine);
      expect(undisturbed).toMatchObject({
        ok: true,
        sizeBytes: header.length + 5 * entry("a").length,
        lines: 6,
        entries: 5,
        pending: null,
        checksums: { state: "compared", entries: 3, unseenEntries: 2 },
      });
      const tried = await sampledCalls(8, async (n) => {
        const report = await reportWith(n + 1, happen, "it began");
        expect([n, report ?? undisturbed]).toEqual([n, undisturbed]);
        return report !== null;
      });
      // At least one read of the lines, and one for their checksums.
      expect(tried).toBeGreaterThan(1);
    },
  );

  it("covers one log, also if a checkpoint of more is saved as it starts", async () => {
    const counts = new Set<number>();
    await sampledCalls(8, async (n) => {
      const happen = happenings["a checkpoint of more is saved"] ?? (() => undefined);
      const report = await reportWith(n + 1, happen, "it was asked for");
      if (report === null) return false;
      const { ok, entries, checksums } = report;
      expect([n, ok, checksums.state]).toEqual([n, true, "compared"]);
      expect([n, checksums.entries + checksums.unseenEntries]).toEqual([n, entries]);
      counts.add(entries);
      return true;
    });
    expect(counts).toEqual(new Set([5, 6]));
  });
});
