/**
 * Programs that append with `disk` or an interval while the power may go at every call: what they
 * acknowledged is there afterwards, whatever the disk made of all that was not synced. Without the
 * syncs it would not be, or this test could not fail.
 */
import { describe, expect, it } from "vitest";
import { createSession, openSession } from "@branchlog/core";
import type { Durability, Session } from "@branchlog/core";
import {
  ManualClock,
  createMemoryPorts,
  createSeededIds,
  sampleHeader,
} from "@branchlog/core/testing";
import { managersWith } from "@branchlog/agents/testing";
import type { MemoryFileSystem, Ports } from "@branchlog/core/testing";
import { createRandom } from "@branchlog/bench/generator";
import { CrashFileSystem, dieAtEveryCall, diskWith } from "../support/crash-file-system.ts";
import { runs, seed } from "../support/fault-seed.ts";
import { fixtureBytes } from "../support/fixture.ts";
import { BlockingSession } from "../support/blocking-session.ts";

const path = "/new/deep/s.jsonl";
const header = sampleHeader({ timestamp: "2026-01-01T00:00:00.000Z" });

interface Machine {
  readonly disk: CrashFileSystem;
  readonly clock: ManualClock;
  readonly ports: Ports;
  readonly durability: Durability;
  /** What the program was told is durable, as it is told. */
  readonly acknowledged: Set<string>;
}

function newMachine(durability: Durability): Machine {
  const disk = new CrashFileSystem();
  const clock = new ManualClock(Date.UTC(2026, 0, 1));
  const ports = createMemoryPorts({ fs: disk.fs, clock, ids: createSeededIds(1, clock) });
  return { disk, clock, ports, durability, acknowledged: new Set() };
}

const draft = (id: string): { type: "custom"; customType: string; data: string } => ({
  type: "custom",
  customType: "x",
  data: `content of ${id}`,
});

/** Ids of the entries that can be read after the power came back; throws if there is no log. */
function readable(fs: MemoryFileSystem, file = path): Set<string> {
  const session = BlockingSession.open(file, { ports: createMemoryPorts({ fs }) });
  return new Set(session.entries().map(({ id }) => id));
}

/** Ways to append, blocking or not; each acknowledges what it was told. */
const programs: Readonly<Record<string, (machine: Machine) => Promise<void>>> = {
  "one append after the other, blocking": async ({ ports, durability, acknowledged }) => {
    const session = BlockingSession.create(path, header, { ports, durability });
    acknowledged.add("created");
    for (const ids of [["a"], ["b", "c"], ["d"]]) {
      session.append(...ids.map((id) => ({ id, draft: draft(id) })));
      for (const id of ids) acknowledged.add(id);
    }
  },
  "many in flight": async ({ ports, durability, acknowledged }) => {
    const session = await createSession(path, { ports, durability, cwd: "/w" });
    acknowledged.add("created");
    const append = async (id: string): Promise<void> => {
      await session.append(draft(id), { id });
      acknowledged.add(id);
    };
    await Promise.allSettled(["a", "b", "c"].map(append));
    const later = Promise.allSettled(["d", "e", "f"].map(append));
    await new Promise(setImmediate);
    await Promise.allSettled([later, append("g")]);
  },
  "two sessions of one log": async ({ ports, durability, acknowledged }) => {
    const one = await createSession(path, { ports, durability, cwd: "/w" });
    acknowledged.add("created");
    const two = await openSession(path, { ports, durability });
    const append = async (session: Session, id: string): Promise<void> => {
      await session.append(draft(id), { id });
      acknowledged.add(id);
    };
    await Promise.allSettled([append(one, "a"), append(two, "b"), append(one, "c")]);
    await Promise.allSettled([append(two, "d"), append(one, "e")]);
  },
};

/** Runs a program on machines that die at each of its calls; `check` sees what is left. */
async function everyMachine(
  program: (machine: Machine) => Promise<void>,
  durability: Durability,
  check: (machine: Machine, calls: number) => void,
  existing?: Buffer,
): Promise<void> {
  let machine = newMachine(durability);
  await dieAtEveryCall(
    () => {
      machine = newMachine(durability);
      if (existing !== undefined) machine.disk.addDurable(path, existing);
      return machine.disk;
    },
    () => program(machine),
    (_, __, calls) => check(machine, calls),
  );
}

/** What was acknowledged and is not there; undefined if there was nothing to look for. */
function lost({ disk, acknowledged }: Machine, choose: (of: number) => number): string[] {
  if (acknowledged.size === 0) return [];
  const found = readable(disk.afterPowerLoss(choose));
  return [...acknowledged].filter((id) => id !== "created" && !found.has(id));
}

describe(`entries acknowledged with "disk" survive a power failure at any call (seed ${seed})`, () => {
  it.each(Object.entries(programs))("%s (Verifies: P5, P6)", async (_, program) => {
    const random = createRandom(seed);
    let acknowledged = 0;
    await everyMachine(program, "disk", (machine, calls) => {
      acknowledged = Math.max(acknowledged, machine.acknowledged.size);
      for (let run = 0; run < runs(15, 2000); run += 1) {
        const found = lost(machine, (of) => random.below(of));
        expect([`after ${calls} calls, run ${run}`, found]).toEqual([expect.any(String), []]);
      }
    });
    expect(acknowledged).toBeGreaterThan(4);
  });

  it.each(Object.entries(programs))("and would not survive with `os`: %s", async (_, program) => {
    const random = createRandom(seed);
    const losses = new Set<string>();
    await everyMachine(program, "os", (machine) => {
      for (const id of lost(machine, (of) => random.below(of))) losses.add(id);
    });
    expect(losses.size).toBeGreaterThan(0);
  });
});

it("an interval keeps entries acknowledged before it (Verifies: P5)", async () => {
  const machine = newMachine({ intervalMs: 100 });
  const { ports, durability, clock, disk } = machine;
  const session = await createSession(path, { ports, durability, cwd: "/w" });
  const random = createRandom(seed);
  const before: string[] = [];
  for (let round = 0; round < 5; round += 1) {
    const ids = [0, 1, 2].map((n) => `${round}-${n}`);
    await Promise.all(ids.map((id) => session.append(draft(id), { id })));
    for (let run = 0; run < runs(20, 500); run += 1) {
      const found = readable(disk.afterPowerLoss((of) => random.below(of)));
      for (const id of before) expect([round, found.has(id)]).toEqual([round, true]);
    }
    before.push(...ids);
    clock.advance(100);
    for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
  }
});

describe("files that get a name with `disk`", () => {
  const random = createRandom(seed);

  it("exist with their entries: a published draft (Verifies: P6)", async () => {
    await everyMachine(
      async ({ ports, acknowledged }) => {
        const managers = managersWith({ ports, durability: "disk" });
        const manager = managers.create("/work", "/agent/sessions");
        manager.appendModelChange("p", "m");
        for (const content of ["one", "two"]) {
          const id = manager.appendMessage({ role: "user", content, timestamp: 1 });
          acknowledged.add(`${manager.getSessionFile()} ${id}`);
        }
      },
      "disk",
      ({ disk, acknowledged }) => {
        for (let run = 0; run < runs(15, 500); run += 1) {
          const fs = disk.afterPowerLoss((of) => random.below(of));
          for (const fact of acknowledged) {
            const [file = "", id = ""] = fact.split(" ");
            expect(readable(fs, file).has(id)).toBe(true);
          }
        }
      },
    );
  });

  it.each(["pi-v1-boundaries", "pi-v2"])(
    "exist with their entries: a migrated log, %s (Verifies: P6)",
    async (name) => {
      const old = fixtureBytes(name);
      const before = readable(diskWith(path, old).memory);
      await everyMachine(
        async ({ ports, durability, acknowledged }) => {
          const session = await openSession(path, { ports, durability });
          for (const id of ["a", "b"]) {
            await session.append(draft(id), { id });
            acknowledged.add(id);
          }
        },
        "disk",
        (machine) => {
          for (let run = 0; run < runs(6, 500); run += 1) {
            const found = readable(machine.disk.afterPowerLoss((of) => random.below(of)));
            for (const id of [...before, ...machine.acknowledged]) {
              expect([id, found.has(id)]).toEqual([id, true]);
            }
          }
        },
        old,
      );
    },
  );
});
