/** Appending: one message after the other, many in flight, and by many processes. */
import { deepStrictEqual } from "node:assert";
import { fork } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  closeSync,
  fdatasyncSync,
  openSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { performance } from "node:perf_hooks";
import { createSession, type Durability } from "@branchlog/core";
import { SessionManager } from "@branchlog/agents/pi";
import {
  baseline,
  type BenchCase,
  type Counts,
  defineCase,
  ours,
  type Prepare,
} from "../bench-case.ts";
import { scratchLog } from "../inputs.ts";
import { appendMessage, inFlight, jobChild, runChild } from "../our-session.ts";
import { checkChain, plainHeader, plainLine, readPlainly, smallMessage } from "../plain-session.ts";
import { loadPeer, onBothNodes, peerSubjects } from "../peers.ts";

interface AppendedLog {
  readonly path: string;
  readonly appended: number;
  readonly syncMs?: number;
  readonly longestMs?: number;
}

const counts: Counts = { full: 20_000, quick: 2_000 };

function rate({ appended }: AppendedLog, wallMs: number): Readonly<Record<string, number>> {
  return { "appends/s": (appended * 1000) / wallMs };
}

const appendSync = defineCase<AppendedLog>({
  name: "append-sync",
  question: "How many messages a second can be appended, each in the log before the next begins?",
  goal: "with the lock, as many as the fastest peer without one.",
  subjects: [
    ...onBothNodes(
      ours<AppendedLog>("SessionManager.appendMessage() (locked)", (input) => {
        const manager = SessionManager.create(input.scratch, input.scratch);
        const appended = counts[input.scale];
        return () => {
          for (let i = 0; i < appended; i++) manager.appendMessage(smallMessage(i));
          return { path: manager.getSessionFile() ?? "", appended };
        };
      }),
    ),
    ours("await session.append() (locked)", async (input) => {
      const path = scratchLog(input);
      const session = await createSession(path);
      const appended = counts[input.scale];
      return async () => {
        for (let i = 0; i < appended; i++) await appendMessage(session, i);
        return { path, appended };
      };
    }),
    baseline("appendFileSync loop (no lock)", (input) => {
      const path = scratchLog(input);
      writeFileSync(path, plainHeader);
      const appended = counts[input.scale];
      return () => {
        for (let i = 0; i < appended; i++) appendFileSync(path, plainLine(i));
        return { path, appended };
      };
    }),
    ...peerSubjects<AppendedLog>("appendMessage()", async (peer, { scale, scratch }) => {
      const manager = (await loadPeer(peer)).create(scratch, scratch);
      // Before the first answer of a model the peers write nothing.
      manager.appendMessage({ role: "assistant", content: [], timestamp: 0 });
      return async () => {
        for (let i = 0; i < counts[scale]; i++) manager.appendMessage(smallMessage(i));
        await manager.flush?.();
        return { path: manager.getSessionFile() ?? "", appended: counts[scale] + 1 };
      };
    }),
  ],
  check: ({ path, appended }) => checkChain(path, appended),
  figures: rate,
});

const width = 64;
const inFlightCounts: Counts = { full: 200_000, quick: 2_000 };

const appendInFlight = defineCase<AppendedLog>({
  name: "append-in-flight",
  question: "How many messages a second can be appended with 64 appends in flight?",
  goal: "300,000 a second; 100,000 if each is on the disk before it is acknowledged.",
  subjects: [
    ours("session.append(), os", prepareInFlight("os")),
    ours("session.append(), disk", prepareInFlight("disk")),
    baseline("one write per 64 lines (no lock, no engine)", prepareLines(false)),
    baseline("one write and one fdatasync per 64 lines (no lock, no engine)", prepareLines(true)),
  ],
  check: ({ path, appended }) => checkChain(path, appended),
  figures: (log, wallMs) => ({
    ...rate(log, wallMs),
    ...(log.syncMs === undefined ? {} : { "ms/sync": log.syncMs }),
  }),
});

function prepareInFlight(durability: Durability): Prepare<AppendedLog> {
  return async (input) => {
    const path = scratchLog(input);
    const session = await createSession(path, { durability });
    const appended = inFlightCounts[input.scale];
    return async () => {
      await inFlight(appended, width, (i) => appendMessage(session, i));
      return { path, appended };
    };
  };
}

function prepareLines(isSynced: boolean): Prepare<AppendedLog> {
  return (input) => {
    const path = scratchLog(input);
    writeFileSync(path, plainHeader);
    const file = openSync(path, "a");
    const appended = inFlightCounts[input.scale];
    return () => {
      let [syncMs, syncs] = [0, 0];
      for (let from = 0; from < appended; from += width) {
        const timestamp = new Date().toISOString();
        const to = Math.min(from + width, appended);
        let lines = "";
        for (let i = from; i < to; i++) lines += plainLine(i, timestamp);
        writeSync(file, lines);
        if (!isSynced) continue;
        const startMs = performance.now();
        fdatasyncSync(file);
        syncMs += performance.now() - startMs;
        syncs += 1;
      }
      closeSync(file);
      return { path, appended, ...(isSynced ? { syncMs: syncMs / syncs } : {}) };
    };
  };
}

const processes = 8;

const appendProcesses = defineCase<AppendedLog>({
  name: "append-processes",
  question: "How many messages a second can eight processes append to one session?",
  goal: "20,000 a second in total, nothing lost.",
  subjects: [
    ours("8 processes, 16 appends in flight each", prepareProcesses(16)),
    ours("8 processes, one append after the other", prepareProcesses(1)),
  ],
  check: ({ path, appended }) => {
    const entries = readPlainly(path);
    const ids = new Set(entries.map(({ id }) => id));
    deepStrictEqual([entries.length, ids.size], [appended, appended]);
    const orphans = entries.filter(({ parentId }) => parentId !== null && !ids.has(parentId));
    deepStrictEqual(orphans, []);
  },
  figures: (log, wallMs) => ({
    ...rate(log, wallMs),
    "ms longest append": log.longestMs ?? Number.NaN,
  }),
});

function prepareProcesses(promises: number): Prepare<AppendedLog> {
  return async (input) => {
    const path = scratchLog(input);
    await createSession(path);
    const each = Math.ceil(counts[input.scale] / processes);
    const args = ["append", path, String(each), String(promises)];
    const children = Array.from({ length: processes }, () => fork(jobChild, args));
    await Promise.all(children.map((one) => once(one, "message")));
    return async () => {
      const longestMs = Math.max(...(await Promise.all(children.map((one) => runChild(one)))));
      return { path, appended: each * processes, longestMs };
    };
  };
}

export const cases: readonly BenchCase[] = [appendSync, appendInFlight, appendProcesses];
