/**
 * One process appends now and then, another one watches: how long after the write it is told of the
 * entry.
 */
import { deepStrictEqual, ok } from "node:assert";
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { hrtime } from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createSession } from "@branchlog/core";
import { noInput } from "../append-check.ts";
import {
  type BenchCase,
  type CaseInput,
  defineCase,
  type Scale,
  type TimedWork,
} from "../bench-case.ts";
import { quantile } from "../statistics.ts";

const child = fileURLToPath(new URL("../watching-child.js", import.meta.url));
const entries: Readonly<Record<Scale, number>> = { full: 1_000, quick: 100 };
/** Between two entries: an agent at work is slower. */
const pauseMs = 2;

interface Latencies {
  readonly latenciesMs: readonly number[];
  readonly count: number;
}

/** See the file comment. */
export const benchCase: BenchCase = defineCase<Latencies>({
  name: "watch-latency",
  question: "How long after an append does a subscriber in another process get the entry?",
  goal: "0.5 ms for half of them, 3 ms for 99 of 100.",
  nodeFlags: [],
  comparedBy: "ms median",
  input: noInput,
  subjects: [
    { name: "session.entries$()", role: "ours", prepare: (input) => prepare(input, "session") },
    {
      name: "fs.watch, read the file again",
      role: "baseline",
      prepare: (input) => prepare(input, "plain"),
    },
  ],
  check: ({ latenciesMs, count }) => {
    deepStrictEqual(latenciesMs.length, count);
    ok(latenciesMs.every((ms) => ms > 0));
  },
  figures: ({ latenciesMs }) => ({
    "ms median": quantile(latenciesMs, 0.5),
    "ms for 99 of 100": quantile(latenciesMs, 0.99),
    "ms longest": Math.max(...latenciesMs),
  }),
});

async function prepare(
  { scale, scratch }: CaseInput,
  way: "session" | "plain",
): Promise<TimedWork<Latencies>> {
  const path = join(scratch, "session.jsonl");
  const session = await createSession(path);
  const count = entries[scale];
  const watcher = fork(child, [path, String(count), way]);
  await once(watcher, "message");
  return async () => {
    const told = once(watcher, "message");
    for (let n = 0; n < count; n += 1) {
      await pause(pauseMs);
      const data = String(hrtime.bigint());
      await session.append({ type: "custom", customType: "clock", data });
    }
    const [latenciesMs] = (await told) as [number[]];
    return { latenciesMs, count };
  };
}
