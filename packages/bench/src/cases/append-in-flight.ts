/**
 * Appending with 64 promises in flight, so that many entries share one lock, one write and, with
 * durability `disk`, one sync. Beside it, what the machine does with 64 lines at a time.
 */
import { closeSync, fdatasyncSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { createSession } from "@branchlog/core";
import type { Durability } from "@branchlog/core";
import {
  type AppendedLog,
  appendFigures,
  checkAppended,
  noInput,
  smallMessage,
} from "../append-check.ts";
import { type BenchCase, type CaseInput, defineCase } from "../bench-case.ts";

const inFlight = 64;
/** So many that the code is warm for most of them. */
const appendCounts = { full: 200_000, quick: 2_000 } as const;

interface InFlightLog extends AppendedLog {
  /** How long the device took to sync, on average. */
  readonly syncMs?: number;
}

/** See the file comment. */
export const benchCase: BenchCase = defineCase<InFlightLog>({
  name: "append-in-flight",
  question: "How many messages a second can be appended with 64 appends in flight?",
  goal: "300,000 a second; 100,000 if each is on the disk before it is acknowledged.",
  nodeFlags: [],
  input: noInput,
  subjects: [
    { name: "session.append(), os", role: "ours", prepare: (input) => prepareOurs(input, "os") },
    {
      name: "session.append(), disk",
      role: "ours",
      prepare: (input) => prepareOurs(input, "disk"),
    },
    {
      name: "one write per 64 lines (no lock, no engine)",
      role: "baseline",
      prepare: (input) => prepareLines(input, false),
    },
    {
      name: "one write and one fdatasync per 64 lines (no lock, no engine)",
      role: "baseline",
      prepare: (input) => prepareLines(input, true),
    },
  ],
  check: checkAppended,
  figures: (log, wallMs) => ({
    ...appendFigures(log, wallMs),
    ...(log.syncMs === undefined ? {} : { "ms/sync": log.syncMs }),
  }),
});

async function prepareOurs(
  { scale, scratch }: CaseInput,
  durability: Durability,
): Promise<() => Promise<InFlightLog>> {
  const path = join(scratch, "session.jsonl");
  const session = await createSession(path, { durability });
  const appended = appendCounts[scale];
  return async () => {
    let next = 0;
    const appendSome = async (): Promise<void> => {
      while (next < appended) {
        const message = smallMessage(next++);
        await session.append({ type: "message", message });
      }
    };
    await Promise.all(Array.from({ length: inFlight }, () => appendSome()));
    return { path, appended };
  };
}

function prepareLines({ scale, scratch }: CaseInput, isSynced: boolean): () => InFlightLog {
  const path = join(scratch, "session.jsonl");
  writeFileSync(path, `${JSON.stringify({ type: "session", version: 3, id: "plain" })}\n`);
  const file = openSync(path, "a");
  const appended = appendCounts[scale];
  return () => {
    let syncMs = 0;
    let syncs = 0;
    for (let from = 0; from < appended; from += inFlight) {
      writeSync(file, plainLines(from, Math.min(from + inFlight, appended)));
      if (!isSynced) continue;
      const startMs = performance.now();
      fdatasyncSync(file);
      syncMs += performance.now() - startMs;
      syncs += 1;
    }
    closeSync(file);
    return { path, appended, ...(isSynced ? { syncMs: syncMs / syncs } : {}) };
  };
}

function plainLines(from: number, to: number): string {
  const timestamp = new Date().toISOString();
  let lines = "";
  for (let i = from; i < to; i++) {
    const id = plainId(i);
    const parentId = i === 0 ? null : plainId(i - 1);
    const entry = { type: "message", id, parentId, timestamp, message: smallMessage(i) };
    lines += `${JSON.stringify(entry)}\n`;
  }
  return lines;
}

function plainId(i: number): string {
  return i.toString(16).padStart(8, "0");
}
