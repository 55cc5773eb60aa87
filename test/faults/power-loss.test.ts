/**
 * Machines that lose power at every call, with a disk that keeps, loses, tears or blanks each
 * unsynced write and each unsynced name on its own: what was made durable is there, whatever is
 * left can be read, and appending continues behind the debris.
 */
import { describe, expect, it } from "vitest";
import { isBranchlogError } from "@branchlog/core";
import { createMemoryPorts, sampleHeader } from "@branchlog/core/testing";
import type { MemoryFileSystem } from "@branchlog/core/testing";
import { createRandom } from "@branchlog/bench/generator";
import { CrashFileSystem, dieAtEveryCall } from "../support/crash-file-system.ts";
import type { Choose } from "../support/crash-file-system.ts";
import { patience, runs, seed } from "../support/fault-seed.ts";
import { rawLog } from "../support/raw-log.ts";
import { reproducible } from "../support/reproducible-ports.ts";
import { Schedules } from "../support/schedules.ts";
import { BlockingSession } from "../support/blocking-session.ts";

const path = "/new/deep/s.jsonl";
const header = sampleHeader({ timestamp: "2026-01-01T00:00:00.000Z" });

/** What a program was told before it died. */
interface Ledger {
  isCreated: boolean;
  readonly acknowledged: string[];
}

const contentOf = (id: string): string => `content of ${id}`;

/** Creates a session and appends to it until it is through, or dead; notes what it was told. */
function live(
  { fs }: CrashFileSystem,
  batches: readonly (readonly string[])[],
  ledger: Ledger,
): void {
  const ports = createMemoryPorts({ fs, ...reproducible() });
  const session = BlockingSession.create(path, header, { ports });
  ledger.isCreated = true;
  for (const ids of batches) {
    const offers = ids.map((id) => {
      return { id, draft: { type: "custom", customType: "x", data: contentOf(id) } };
    });
    session.append(...offers);
    ledger.acknowledged.push(...ids);
  }
}

/** The log as another machine, or the same one after it started, finds it; null: there is none. */
function found(fs: MemoryFileSystem): BlockingSession | null {
  try {
    return BlockingSession.open(path, { ports: createMemoryPorts({ fs, ...reproducible(2) }) });
  } catch (error) {
    if (isBranchlogError(error, "ERR_LOG_MISSING")) return null;
    throw error;
  }
}

/**
 * Readable entries are whole and were offered; the next append is read together with all of them.
 */
function expectUsable(fs: MemoryFileSystem, session: BlockingSession): string[] {
  const log = rawLog(fs.readFileSync(path));
  const ids = log.entries.map(({ id }) => id);
  for (const { id, data } of log.entries) expect(data).toBe(contentOf(id));
  for (const id of ids) expect(session.entry(id)).toMatchObject({ data: contentOf(id) });
  const [next] = session.append({ draft: { type: "custom", customType: "next" } });
  const after = rawLog(fs.readFileSync(path));
  expect(after.entries.map(({ id }) => id).slice(-1)).toEqual([next?.id]);
  expect(after.entries.map(({ id }) => id)).toEqual(expect.arrayContaining(ids));
  const again = found(fs);
  expect(again?.tail).toBe(next?.id);
  const readable = after.entries.map(({ id }) => again?.entry(id)?.id);
  expect(readable).toEqual(after.entries.map(({ id }) => id));
  return ids;
}

/** The program dies at each of its calls; `check` sees what is left. */
async function diesAtEveryCall(
  check: (disk: CrashFileSystem, ledger: Ledger, calls: number) => void,
): Promise<void> {
  let ledger: Ledger = { isCreated: false, acknowledged: [] };
  await dieAtEveryCall(
    () => {
      ledger = { isCreated: false, acknowledged: [] };
      return new CrashFileSystem();
    },
    (disk) => live(disk, batches, ledger),
    (disk, _, calls) => check(disk, ledger, calls),
  );
}

const batches = [["a"], ["b", "c"], ["d"]] as const;

it("a process that dies at any call loses no acknowledged entry (Verifies: P7, P9)", async () => {
  await diesAtEveryCall(({ memory }, { isCreated, acknowledged }) => {
    const session = found(memory);
    if (session === null) {
      expect(isCreated).toBe(false);
      return;
    }
    expect(session.header).toEqual(header);
    const ids = expectUsable(memory, session);
    expect(ids.slice(0, acknowledged.length)).toEqual(acknowledged);
  });
});

describe(`a machine that loses power at any call (seed ${seed})`, () => {
  it("finds the created log, and can read and append to it (Verifies: P9)", patience, async () => {
    const random = createRandom(seed);
    await diesAtEveryCall((disk, { isCreated }, calls) => {
      for (let run = 0; run < runs(20, 2000); run += 1) {
        const fs = disk.afterPowerLoss((of) => random.below(of));
        const session = found(fs);
        const where = `after ${calls} calls, run ${run}`;
        expect([where, session !== null || !isCreated]).toEqual([where, true]);
        if (session === null) continue;
        expect(session.header).toEqual(header);
        expectUsable(fs, session);
      }
    });
  });

  it("in any state of the last two writes (Verifies: P9)", () => {
    const disk = new CrashFileSystem();
    live(disk, batches.slice(0, 2), { isCreated: false, acknowledged: [] });
    const schedules = new Schedules();
    const left = new Set<string>();
    while (schedules.next()) {
      const choose: Choose = (of) => schedules.choose(of);
      const fs = disk.afterPowerLoss(choose);
      const session = found(fs);
      if (session === null) throw new Error(`no log (schedule ${schedules.trace})`);
      left.add(expectUsable(fs, session).join());
    }
    // The disk did lose something, or this would prove nothing; and not always. After a lost write
    // are zeros, and what is on one line with them is lost with it.
    expect([...left].toSorted()).toEqual(["", "a", "a,b", "a,b,c", "c"]);
  });
});
