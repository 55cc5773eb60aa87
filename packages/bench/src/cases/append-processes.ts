/**
 * Eight processes append to one session at the same time: what they manage together, how long the
 * slowest append of all took, and whether every entry is in the log once.
 */
import { deepStrictEqual } from "node:assert";
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createSession } from "@branchlog/core";
import { type AppendedLog, appendCounts, appendFigures, noInput } from "../append-check.ts";
import type { AppendingAnswer } from "../appending-child.ts";
import { type BenchCase, type CaseInput, defineCase } from "../bench-case.ts";
import { readPlainly } from "../plain-reader.ts";

const processes = 8;
const child = fileURLToPath(new URL("../appending-child.js", import.meta.url));

interface SharedLog extends AppendedLog {
  readonly longestMs: number;
}

/** See the file comment. */
export const benchCase: BenchCase = defineCase<SharedLog>({
  name: "append-processes",
  question: "How many messages a second can eight processes append to one session?",
  goal: "20,000 a second in total, nothing lost.",
  nodeFlags: [],
  input: noInput,
  subjects: [
    {
      name: "8 processes, 16 appends in flight each",
      role: "ours",
      prepare: (input) => prepare(input, 16),
    },
    {
      name: "8 processes, one append after the other",
      role: "ours",
      prepare: (input) => prepare(input, 1),
    },
  ],
  check: ({ path, appended }) => {
    const { entries, byId } = readPlainly(path);
    deepStrictEqual([entries.length, byId.size], [appended, appended]);
    const orphans = entries.filter(({ parentId }) => parentId !== null && !byId.has(parentId));
    deepStrictEqual(orphans, []);
  },
  figures: (log, wallMs) => ({
    ...appendFigures(log, wallMs),
    "ms longest append": log.longestMs,
  }),
});

async function prepare(
  { scale, scratch }: CaseInput,
  inFlight: number,
): Promise<() => Promise<SharedLog>> {
  const path = join(scratch, "session.jsonl");
  await createSession(path);
  const each = Math.ceil(appendCounts[scale] / processes);
  const children = Array.from({ length: processes }, () =>
    fork(child, [path, String(each), String(inFlight)]),
  );
  await Promise.all(children.map((one) => once(one, "message")));
  return async () => {
    const answers = await Promise.all(children.map((one) => answerOf(one)));
    const longestMs = Math.max(...answers.map((answer) => answer.longestMs));
    return { path, appended: each * processes, longestMs };
  };
}

function answerOf(one: ChildProcess): Promise<AppendingAnswer> {
  return new Promise((resolve, reject) => {
    one.once("exit", (code) => reject(new Error(`an appending process ended with ${code}`)));
    // Decoding boundary: appending-child.ts sent it.
    one.once("message", (answer) => resolve(answer as AppendingAnswer));
    one.send("go");
  });
}
