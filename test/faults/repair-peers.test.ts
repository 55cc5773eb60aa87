/**
 * A program without the lock that appends at any call of a repair, to the name or to the file that
 * it has open: the repair is refused, or every line of it is there; none is torn, and none gone.
 */
import { describe, expect, it } from "vitest";
import { isBranchlogError } from "@branchlog/core";
import {
  MemoryFileSystem,
  createMemoryPorts,
  jsonLines,
  sampleHeader,
} from "@branchlog/core/testing";
import { applyRepair, planRepair } from "@branchlog/tools";
import { appendTo, appenderToOpenFile } from "../support/append-to.ts";
import { observedFileSystem } from "../support/observed-file-system.ts";
import { rawLog } from "../support/raw-log.ts";
import { reproducible } from "../support/reproducible-ports.ts";

const path = "/d/s.jsonl";
const stamp = "2026-01-01T00:00:00.000Z";
const header = jsonLines(sampleHeader({ timestamp: stamp }));
const entry = (id: string, parent: string | null): string =>
  `{"type":"custom","customType":"x","id":"${id}","parentId":${JSON.stringify(parent)},"timestamp":"${stamp}"}\n`;
const damaged = Buffer.from(`${header}${entry("a", null)}{"type":"mess${entry("b", "a")}`);

/** Appends a line, by name or to the file that had the name at first. */
type Peer = (memory: MemoryFileSystem, line: string) => void;

const peers: Readonly<Record<string, () => Peer>> = {
  "by name": () => (memory, line) => appendTo(memory, path, line),
  "to the file that it has open": () => appenderToOpenFile(path),
};

interface Outcome {
  /** Whether the peer had its say. */
  readonly hasSpoken: boolean;
  readonly isRefused: boolean;
  /** Whether what it said was carried over. */
  readonly isLate: boolean;
}

/** One run in which the peer appends right before, or after, the n-th call. */
async function run(n: number, newPeer: () => Peer, after: boolean): Promise<Outcome> {
  const memory = new MemoryFileSystem();
  memory.makeDirectorySync("/d");
  memory.writeFileSync(path, damaged);
  const peer = newPeer();
  peer(memory, "");
  let calls = 0;
  let hasSpoken = false;
  const speak = (): void => {
    peer(memory, entry("late", "b"));
    hasSpoken = true;
  };
  const fs = observedFileSystem(memory, (_, effect) => {
    calls += 1;
    if (calls === n && !after) speak();
    const result = effect();
    if (calls === n && after) speak();
    return result;
  });
  const ports = createMemoryPorts({ fs, ...reproducible() });
  const [outcome] = await Promise.allSettled([
    planRepair(path, { ports }).then((plan) => applyRepair(plan, { ports })),
  ]);
  const isRefused = outcome.status === "rejected";
  if (isRefused && !isBranchlogError(outcome.reason, "ERR_LOG_CHANGED")) throw outcome.reason;
  const log = rawLog(memory.readFileSync(path));
  const ids = log.entries.map(({ id }) => id);
  const files = memory.listSync("/d").map((name) => memory.readFileSync(`/d/${name}`).toString());
  if (hasSpoken) expect(files.some((text) => text.includes(entry("late", "b")))).toBe(true);
  if (isRefused) expect(memory.readFileSync(path).subarray(0, damaged.length)).toEqual(damaged);
  else expect([log.debris, log.rest, ids.slice(0, 2)]).toEqual([[], "", ["a", "b"]]);
  const isLate = !isRefused && outcome.value.lateBytes > 0;
  if (isLate) expect(ids).toEqual(["a", "b", "late"]);
  return { hasSpoken, isRefused, isLate };
}

describe("a repair during which a program without the lock appends", () => {
  it.each(Object.entries(peers))(
    "is rejected, or tears nothing and loses nothing: %s (Verifies: P11)",
    async (_, newPeer) => {
      const outcomes: Outcome[] = [];
      for (const after of [false, true]) {
        for (let n = 1; ; n += 1) {
          const outcome = await run(n, newPeer, after);
          outcomes.push(outcome);
          if (!outcome.hasSpoken) break;
        }
      }
      expect(outcomes.filter(({ isRefused }) => isRefused).length).toBeGreaterThan(20);
      expect(outcomes.filter(({ isLate }) => isLate).length).toBeGreaterThan(2);
    },
  );
});
