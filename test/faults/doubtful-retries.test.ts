/**
 * Entries that a failed sync left in doubt are requested again: by the session that wrote them, by
 * one that was opened since, by one that blocks. No caller is told that the disk has them before
 * they were written again, though the system says yes by then.
 */
import { describe, expect, it } from "vitest";
import { createSession, openSession } from "@branchlog/core";
import type { Session } from "@branchlog/core";
import { createMemoryPorts } from "@branchlog/core/testing";
import type { Ports } from "@branchlog/core/testing";
import { CrashFileSystem } from "../support/crash-file-system.ts";
import { failingFileSystem, isSync } from "../support/failing-calls.ts";
import type { FailingFileSystem } from "../support/failing-calls.ts";
import { rawLog } from "../support/raw-log.ts";
import { reproducible } from "../support/reproducible-ports.ts";
import { BlockingSession } from "../support/blocking-session.ts";

const path = "/s.jsonl";
const draft = { type: "custom", customType: "x" } as const;
const inDoubt = { code: "ERR_DURABILITY_UNKNOWN", written: [] };

interface Machine {
  readonly disk: CrashFileSystem;
  readonly failing: FailingFileSystem;
  readonly ports: Ports;
}

/** A machine that forgets what a failed sync was to bring onto its disk. */
function newMachine(): Machine {
  const disk = new CrashFileSystem();
  const failing = failingFileSystem(disk.fs, (call) => {
    if (isSync(call)) disk.forgetUnsynced();
  });
  return { disk, failing, ports: createMemoryPorts({ fs: failing.fs, ...reproducible() }) };
}

/** Ids that are left if the disk has lost whatever it may lose. */
function surviving({ disk }: Machine): string[] {
  const worst = (of: number): number => (of === 4 ? 1 : of - 1);
  return rawLog(disk.afterPowerLoss(worst).readFileSync(path)).entries.map(({ id }) => id);
}

/** A session whose entry "a" is in the log, and not on the disk. */
async function doubted({ disk, ports }: Machine): Promise<Session> {
  const session = await createSession(path, { ports, durability: "disk" });
  disk.failSyncs(true);
  const append = session.append(draft, { id: "a" });
  await expect(append).rejects.toMatchObject({ code: "ERR_DURABILITY_UNKNOWN", written: ["a"] });
  disk.failSyncs(false);
  return session;
}

describe("an entry left unsynced by a failed sync", () => {
  it("is not acknowledged to a session opened since before it was written again", async () => {
    const machine = newMachine();
    await doubted(machine);
    const { ports } = machine;
    const anew = await openSession(path, { ports, durability: "disk" });
    await expect(anew.append(draft, { id: "a" })).rejects.toMatchObject(inDoubt);
    expect(surviving(machine)).not.toContain("a");
    expect((await anew.recover()).appendedAgain).toEqual(["a"]);
    await anew.append(draft, { id: "a" });
    expect(surviving(machine)).toEqual(["a"]);
  });

  it("is also unconfirmed for a blocking session", async () => {
    const machine = newMachine();
    const session = await doubted(machine);
    const blocking = BlockingSession.open(path, { ports: machine.ports, durability: "disk" });
    const retry = (): string | undefined => blocking.append({ draft, id: "a" })[0]?.id;
    expect(retry).toThrow(expect.objectContaining(inDoubt));
    await session.recover();
    expect(retry()).toBe("a");
    expect(surviving(machine)).toEqual(["a"]);
  });

  it("stays unconfirmed when writing it again fails, and after the session was closed", async () => {
    const machine = newMachine();
    const session = await doubted(machine);
    machine.disk.failSyncs(true);
    await expect(session.recover()).rejects.toMatchObject({ code: "ERR_DURABILITY_UNKNOWN" });
    await expect(session.close()).rejects.toMatchObject({ written: ["a"] });
    machine.disk.failSyncs(false);
    const anew = await openSession(path, { ports: machine.ports, durability: "disk" });
    await expect(anew.append(draft, { id: "b" })).rejects.toMatchObject(inDoubt);
    await anew.recover();
    await anew.append(draft, { id: "b" });
    expect(new Set(surviving(machine))).toEqual(new Set(["a", "b"]));
  });

  it("can be one that an earlier process wrote, after it is appended again", async () => {
    const machine = newMachine();
    const { disk, ports } = machine;
    const session = await createSession(path, { ports });
    await session.append(draft, { id: "a" });
    const anew = await openSession(path, { ports, durability: "disk" });
    disk.failSyncs(true);
    const retry = anew.append(draft, { id: "a" });
    await expect(retry).rejects.toMatchObject({ code: "ERR_DURABILITY_UNKNOWN" });
    disk.failSyncs(false);
    expect((await anew.recover()).appendedAgain).toEqual(["a"]);
    expect(surviving(machine)).toEqual(["a"]);
  });

  it("does not stop a session that promises no more than `os`", async () => {
    const machine = newMachine();
    await doubted(machine);
    const calm = await openSession(path, { ports: machine.ports });
    await calm.append(draft, { id: "b" });
    expect(await calm.recover()).toEqual({ isRestored: false, appendedAgain: [] });
  });
});
