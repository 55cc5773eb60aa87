/**
 * Calls of pi's session manager that write while the n-th file-system call fails: publishing a
 * draft, appending, forking, branching off, claiming an empty file. A manager that failed is
 * where it stood; every session file is whole; the same call works when it is made again.
 */
import { describe, expect, it } from "vitest";
import { isBranchlogError } from "@branchlog/core";
import type { ManagerFactory, SessionManager } from "@branchlog/agents/pi";
import { managersWith } from "@branchlog/agents/testing";
import type { MemoryFileSystem } from "@branchlog/core/testing";
import { failEveryCall, failingWorld, failures } from "../support/failing-calls.ts";
import type { Failure } from "../support/failing-calls.ts";
import { orphanIds, rawLog, repeatedIds } from "../support/raw-log.ts";
import { thrownBy } from "../support/typed-errors.ts";

const directory = "/sessions";
const said = "said while it fails";

interface World {
  readonly memory: MemoryFileSystem;
  readonly managers: ManagerFactory<SessionManager>;
  readonly manager: SessionManager;
}

function say(manager: SessionManager, content: string): string {
  return manager.appendMessage({ role: "user", content, timestamp: 1 });
}

/** A manager with a draft, or with a session that two have spoken in. */
function managerAt(managers: World["managers"], isDraft: boolean): SessionManager {
  const manager = managers.create("/work", directory);
  manager.appendModelChange("p", "m");
  manager.appendSessionInfo("named");
  if (isDraft) return manager;
  const first = say(manager, "one");
  say(manager, "two");
  manager.appendLabelChange(first, "start");
  return manager;
}

interface Operation {
  readonly isDraft: boolean;
  readonly run: (world: World) => SessionManager;
  /** How often `said` is in the session then. */
  readonly says: number;
}

const operations: Readonly<Record<string, Operation>> = {
  "publishing a draft": {
    isDraft: true,
    says: 1,
    run: ({ manager }) => (say(manager, said), manager),
  },
  appending: { isDraft: false, says: 1, run: ({ manager }) => (say(manager, said), manager) },
  forking: {
    isDraft: false,
    says: 0,
    run: ({ manager, managers }) =>
      managers.forkFrom(manager.getSessionFile() ?? "", "/elsewhere", directory),
  },
  "branching off": {
    isDraft: false,
    says: 0,
    run: ({ manager }) => {
      manager.createBranchedSession(manager.getBranch()[2]?.id ?? "");
      return manager;
    },
  },
  "claiming an empty file": {
    isDraft: false,
    says: 0,
    run: ({ managers }) => managers.open(`${directory}/empty.jsonl`),
  },
};

/** What a manager answers, as text. */
function answers(manager: SessionManager): string {
  return JSON.stringify([
    manager.getSessionFile(),
    manager.getSessionId(),
    manager.getLeafId(),
    manager.getEntries(),
    manager.getSessionName(),
    manager.buildSessionContext(),
  ]);
}

function countSaid(manager: SessionManager): number {
  return manager.getEntries().filter((entry) => JSON.stringify(entry).includes(said)).length;
}

/**
 * Whether a header that was truncated is all there is in a file that was empty. No session can
 * begin there any more, but for repair; nothing is lost with it either.
 */
function isFragment(bytes: Buffer): boolean {
  return bytes.length > 0 && !bytes.includes(0x0a);
}

/** Every session file can be opened and holds nothing twice; an empty one may be left empty. */
function expectWholeFiles({ memory, managers }: World): void {
  for (const name of memory.listSync(directory).filter((one) => one.endsWith(".jsonl"))) {
    const bytes = memory.readFileSync(`${directory}/${name}`);
    if (name === "empty.jsonl" && (bytes.length === 0 || isFragment(bytes))) continue;
    const log = rawLog(bytes);
    expect([repeatedIds(log), orphanIds(log)]).toEqual([[], []]);
    expect(managers.open(`${directory}/${name}`).getEntries()).toHaveLength(log.entries.length);
  }
}

function attempt({ isDraft, run, says }: Operation, n: number, failure: Failure): boolean {
  const { memory, failing, ports } = failingWorld();
  const managers = managersWith({ ports });
  const manager = managerAt(managers, isDraft);
  memory.writeFileSync(`${directory}/empty.jsonl`, Buffer.alloc(0));
  const source = manager.getSessionFile() ?? "";
  const old = isDraft ? undefined : memory.readFileSync(source);
  const world = { memory, managers, manager };
  const before = answers(manager);
  failing.arm(n, failure);
  const error = thrownBy(() => run(world));
  const hasFailed = failing.disarm();
  const written = isBranchlogError(error) ? error.written.length : 0;
  const isUncertain = isBranchlogError(error, "ERR_APPEND_UNCERTAIN");
  if (error !== undefined) {
    // The system's own error where there is nothing to say about a log.
    expect(error).toHaveProperty("code");
    if (written === 0) expect(answers(manager)).toBe(before);
    expectWholeFiles(world);
  }
  if (old !== undefined) expect(memory.readFileSync(source).indexOf(old)).toBe(0);

  if (isFragment(memory.readFileSync(`${directory}/empty.jsonl`))) return hasFailed;
  const done = error === undefined ? undefined : run(world);
  expectWholeFiles(world);
  const found = done ?? manager;
  if (says > 0 && !isUncertain) expect(countSaid(found)).toBe(says + written);
  const last = say(found, "goes on");
  expect(managers.open(found.getSessionFile() ?? "").getLeafId()).toBe(last);
  return hasFailed;
}

describe.each(Object.entries(operations))("%s", (_, operation) => {
  it.each(Object.entries(failures))(
    "loses nothing and can be tried again: %s (Verifies: P12)",
    async (__, failure) => {
      await failEveryCall((n) => attempt(operation, n, failure));
    },
  );
});
