/**
 * Files that take a name while the power may go at every call: a migrated log, a published draft, a
 * fork. After it, an old log is there as it was or migrated, and what was reported as done is done.
 */
import { basename } from "node:path";
import { describe, expect, it } from "vitest";
import type { ManagerFactory, SessionManager } from "@branchlog/agents/pi";
import { createMemoryPorts } from "@branchlog/core/testing";
import { managersWith } from "@branchlog/agents/testing";
import type { FileSystem, MemoryFileSystem } from "@branchlog/core/testing";
import { createRandom } from "@branchlog/bench/generator";
import { dieAtEveryCall, diskWith } from "../support/crash-file-system.ts";
import type { CrashFileSystem } from "../support/crash-file-system.ts";
import { patience, runs, seed } from "../support/fault-seed.ts";
import { fixtureBytes } from "../support/fixture.ts";
import { reproducible } from "../support/reproducible-ports.ts";
import { BlockingSession } from "../support/blocking-session.ts";

const path = "/d/s.jsonl";
const directory = "/agent/sessions";

/** The log as a program opens it; each one has its own ids. */
function openOn(fs: FileSystem, program = 2): BlockingSession {
  const ports = createMemoryPorts({ fs, ...reproducible(program) });
  return BlockingSession.open(path, { ports });
}

function entriesOf(session: BlockingSession): string[] {
  return session.entries().map((entry) => JSON.stringify(entry));
}

const say = (session: BlockingSession): string | undefined =>
  session.append({ draft: { type: "custom", customType: "x" } })[0]?.id;

/** Runs `work` on a disk that dies at each of its calls; `check` sees what the disk may keep. */
async function atEveryCall<T>(
  old: Buffer,
  work: (disk: CrashFileSystem) => T,
  check: (fs: MemoryFileSystem, result: T | undefined, where: string) => void,
): Promise<void> {
  const random = createRandom(seed);
  await dieAtEveryCall(
    () => diskWith(path, old),
    work,
    (disk, result, calls) => {
      check(disk.memory, result, `after ${calls} calls, as the process left it`);
      for (let run = 0; run < runs(3, 2000); run += 1) {
        const left = disk.afterPowerLoss((of) => random.below(of));
        check(left, result, `after ${calls} calls, run ${run}`);
      }
    },
    () => 1 + random.below(runs(4, 1)),
  );
}

const olds: readonly (readonly [string, Buffer])[] = [
  ["version 1", fixtureBytes("pi-v1")],
  ["version 2", fixtureBytes("pi-v2")],
  // Its last line is converted under the lock, after what was synced before.
  ["version 1 without a newline at its end", fixtureBytes("pi-v1").subarray(0, -1)],
];

describe.each(olds)(`the first append to %s, then a power failure (seed ${seed})`, (_, old) => {
  const known = entriesOf(openOn(diskWith(path, old).memory));

  it("keeps every entry, in the old or the new format (Verifies: P9, P19)", patience, async () => {
    let migrated = 0;
    await atEveryCall(
      old,
      ({ fs }) => say(openOn(fs, 1)),
      (fs, _id, where) => {
        const session = openOn(fs);
        expect([where, ...entriesOf(session).slice(0, known.length)]).toEqual([where, ...known]);
        if (session.header.version === 3) migrated += 1;
        const next = say(session);
        const again = openOn(fs);
        expect([where, again.tail]).toEqual([where, next]);
        expect(entriesOf(again).slice(0, known.length)).toEqual(known);
      },
    );
    expect(migrated).toBeGreaterThan(0);
  });
});

interface Done {
  readonly file: string;
  readonly entries: string;
}

function doneBy(manager: SessionManager): Done {
  return { file: manager.getSessionFile() ?? "", entries: JSON.stringify(manager.getEntries()) };
}

function draftOf(managers: ManagerFactory<SessionManager>): SessionManager {
  const manager = managers.create("/work", directory);
  manager.appendModelChange("p", "m");
  return manager;
}

const managersOn = (fs: FileSystem): ManagerFactory<SessionManager> =>
  managersWith({ ports: createMemoryPorts({ fs, ...reproducible() }) });

describe(`a session that gets its file, then a power failure (seed ${seed})`, () => {
  const ways: Readonly<Record<string, (managers: ManagerFactory<SessionManager>) => Done>> = {
    "by publishing a draft": (managers) => {
      const manager = draftOf(managers);
      manager.appendMessage({ role: "user", content: "Hi", timestamp: 1 });
      return doneBy(manager);
    },
    "by forking": (managers) => doneBy(managers.forkFrom(path, "/elsewhere", directory)),
    "by branching off": (managers) => {
      const manager = managers.open(path, directory);
      manager.createBranchedSession(manager.getBranch().at(-2)?.id ?? "");
      return doneBy(manager);
    },
  };

  it.each(Object.entries(ways))("keeps all of it: %s", patience, async (_, way) => {
    await atEveryCall(
      fixtureBytes("pi-linear"),
      ({ fs }) => way(managersOn(fs)),
      (fs, done, where) => {
        const managers = managersOn(fs);
        const names = fs.statSync(directory) === null ? [] : fs.listSync(directory);
        const files = names.filter((name) => name.endsWith(".jsonl"));
        if (done !== undefined) expect([where, files]).toEqual([where, [basename(done.file)]]);
        for (const name of files) {
          const manager = managers.open(`${directory}/${name}`);
          expect(manager.getDiagnostics()).toEqual([]);
          if (done !== undefined) expect(doneBy(manager)).toEqual(done);
        }
      },
    );
  });
});
