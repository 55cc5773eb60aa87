/**
 * Migrations of old logs while the n-th file-system call fails: the log is the old one or the new
 * one, whole, every entry keeps its id and meaning, and the append works when it is tried again.
 */
import { describe, expect, it } from "vitest";
import { MemoryFileSystem, createMemoryPorts, fileError } from "@branchlog/core/testing";
import type { Ports } from "@branchlog/core/testing";
import { migrateSession } from "@branchlog/tools";
import { observedFileSystem } from "../support/observed-file-system.ts";
import { failEveryCall, failingWorld, failures } from "../support/failing-calls.ts";
import type { Failure } from "../support/failing-calls.ts";
import { orphanIds, rawLog, repeatedIds } from "../support/raw-log.ts";
import { fixtureBytes } from "../support/fixture.ts";
import { reproducible } from "../support/reproducible-ports.ts";
import { rejection, thrownBy, typedError } from "../support/typed-errors.ts";
import { BlockingSession } from "../support/blocking-session.ts";
import type { Offer } from "../support/engine-appends.ts";

const path = "/d/s.jsonl";
const offers: readonly Offer[] = ["new-0", "new-1"].map((id) => ({
  draft: { type: "message", message: { role: "user", content: id, timestamp: 1 } },
  id,
}));

/** Every entry of the log, in the current form, as text. */
function entriesOf(session: BlockingSession): string[] {
  return session.entries().map((entry) => JSON.stringify(entry));
}

function expectOldOrNew(
  memory: MemoryFileSystem,
  ports: Ports,
  old: Buffer,
  known: string[],
): void {
  const bytes = memory.readFileSync(path);
  const isOld = bytes.equals(old);
  const now = BlockingSession.open(path, { ports });
  expect(entriesOf(now).slice(0, known.length)).toEqual(known);
  const others = memory.listSync("/d").filter((name) => name.includes("-original"));
  for (const name of others) expect(memory.readFileSync(`/d/${name}`).equals(old)).toBe(true);
  if (isOld) return;
  expect(others).toHaveLength(1);
  const log = rawLog(bytes);
  // A write of ours that was truncated is not damage by the migration.
  const damage = [...log.debris, log.rest].filter((line) => !line.includes('"id":"new-0"'));
  expect([damage.join(""), repeatedIds(log)]).toEqual(["", []]);
  expect(bytes.subarray(0, bytes.indexOf("\n")).toString()).toContain('"version":3');
}

function attempt(name: string, n: number, failure: Failure): boolean {
  const old = fixtureBytes(name);
  const { memory, failing, ports } = failingWorld({ [path]: old });
  const session = BlockingSession.open(path, { ports });
  const { tail } = session;
  const known = entriesOf(session);
  failing.arm(n, failure);
  const error = thrownBy(() => session.append(...offers));
  const hasFailed = failing.disarm();
  expectOldOrNew(memory, ports, old, known);
  if (error !== undefined) {
    const { code, written: named } = typedError(error);
    const stored = rawLog(memory.readFileSync(path)).entries.map(({ id }) => id);
    const written = offers.flatMap(({ id = "" }) => (stored.includes(id) ? [id] : []));
    if (code !== "ERR_APPEND_UNCERTAIN") {
      expect(named).toEqual(written);
      if (written.length === 0) expect(session.leaf).toBe(tail);
    }
    // A failure of the migration itself happens before anything is appended.
    if (code === "ERR_MIGRATION") expect(written).toEqual([]);
    expect(entriesOf(session).slice(0, known.length)).toEqual(known);
  }

  const retried = session.append(...offers);
  expect(retried.map(({ id, parentId }) => [id, parentId])).toEqual([
    ["new-0", tail],
    ["new-1", "new-0"],
  ]);
  const again = BlockingSession.open(path, { ports });
  expect(entriesOf(again).slice(0, -2)).toEqual(known);
  expect(entriesOf(session)).toEqual(entriesOf(again));
  expect(again.tail).toBe("new-1");
  expect(orphanIds(rawLog(memory.readFileSync(path)))).toEqual([]);
  return hasFailed;
}

/** A log in a directory in which no file can be made, however it is opened. */
function lockedIn(name: string): { readonly ports: Ports; readonly memory: MemoryFileSystem } {
  const memory = new MemoryFileSystem();
  memory.makeDirectorySync("/d");
  memory.writeFileSync(path, fixtureBytes(name));
  const fs = observedFileSystem(memory, (call, effect) => {
    if (call.name === "openSync" && call.path !== path)
      throw fileError("EACCES", "open", call.path);
    return effect();
  });
  return { ports: createMemoryPorts({ fs, ...reproducible() }), memory };
}

describe.each(["pi-v1", "pi-v2"])("a migration of %s when no file can be created", (name) => {
  it("fails with advice on request", async () => {
    const { ports, memory } = lockedIn(name);
    const error = typedError(await rejection(migrateSession(path, { ports })));
    expect(error).toMatchObject({ code: "ERR_MIGRATION", path, cause: { code: "EACCES" } });
    expect(error.message).toContain("Fix the cause");
    expect(memory.readFileSync(path).equals(fixtureBytes(name))).toBe(true);
  });

  it("fails at the first append", () => {
    const { ports, memory } = lockedIn(name);
    const session = BlockingSession.open(path, { ports });
    const error = typedError(thrownBy(() => session.append(...offers)));
    expect(error).toMatchObject({ code: "ERR_MIGRATION", path, written: [] });
    expect(memory.readFileSync(path).equals(fixtureBytes(name))).toBe(true);
  });
});

describe.each(["pi-v1", "pi-v2"])("the first append to %s", (name) => {
  it.each(Object.entries(failures))(
    "leaves the complete old or new log: %s (Verifies: P12, P19)",
    async (__, failure) => {
      expect(await failEveryCall((n) => attempt(name, n, failure))).toBeGreaterThan(0);
    },
  );
});
