/**
 * A benchmark of an agent: 500 runs in four processes, each in a session of its own whose path says
 * task, attempt and a fresh id, so that no two ever collide. What they cost and how many passed is
 * read afterwards one entry at a time, however long the sessions are.
 *
 * Prints:
 *   task    runs  passed  tokens    cost
 *   parse    125    80 %   78750   $0.79
 *   repair   125    60 %   97250   $0.97
 *   search   125    40 %  115750   $1.16
 *   write    125   100 %   60250   $0.60
 *   500 runs, 500 sessions, 350 passed
 */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createSession, openSession } from "@branchlog/core";

/** What the agent of this example makes of each task. */
const tasks = {
  parse: { tokens: 630, passedOfFive: 4 },
  repair: { tokens: 778, passedOfFive: 3 },
  search: { tokens: 926, passedOfFive: 2 },
  write: { tokens: 482, passedOfFive: 5 },
};
const attempts = 125;
const [, , directory, task] = process.argv;
if (directory === undefined) await benchmark();
else await runAll(directory, task);

async function benchmark() {
  const runs = mkdtempSync(join(tmpdir(), "branchlog-example-"));
  const workers = Object.keys(tasks).map((name) =>
    spawn(process.execPath, [fileURLToPath(import.meta.url), runs, name], { stdio: "inherit" }),
  );
  await Promise.all(workers.map((worker) => once(worker, "exit")));
  print(await totalsOf(runs));
}

/** One process: the runs of one task, some at a time. */
async function runAll(runs, name) {
  let next = 0;
  const runSome = async () => {
    while (next < attempts) await run(runs, name, next++);
  };
  await Promise.all(Array.from({ length: 8 }, runSome));
}

/** One run: the request, the answer with its usage, and the verdict, written together. */
async function run(runs, name, attempt) {
  const path = join(runs, `${name}_${attempt}_${randomUUID()}.jsonl`);
  const session = await createSession(path, { cwd: runs, checkpoint: "off" });
  const { tokens, passedOfFive } = tasks[name];
  await session.appendAll([
    { type: "message", message: { role: "user", content: `Do ${name}.`, timestamp: 0 } },
    { type: "message", message: answer(tokens) },
    { type: "custom", customType: "verdict", data: { passed: attempt % 5 < passedOfFive } },
  ]);
  await session.close();
}

function answer(totalTokens) {
  const none = { cacheRead: 0, cacheWrite: 0 };
  const cost = { input: 0, output: totalTokens / 1e5, ...none, total: totalTokens / 1e5 };
  return {
    role: "assistant",
    content: [{ type: "text", text: "Done." }],
    api: "example",
    provider: "example",
    model: "example-1",
    usage: { input: 0, output: totalTokens, ...none, totalTokens, cost },
    stopReason: "stop",
    timestamp: 1,
  };
}

/** Sums over all sessions; what is held is one entry, the sums and the ids. */
async function totalsOf(runs) {
  const ids = new Set();
  const totals = new Map();
  for (const name of Object.keys(tasks))
    totals.set(name, { runs: 0, passed: 0, tokens: 0, cost: 0 });
  for (const file of readdirSync(runs)) {
    const total = totals.get(file.split("_")[0]);
    const session = await openSession(join(runs, file), { access: "read", checkpoint: "off" });
    ids.add(session.header.id);
    total.runs += 1;
    for await (const entry of session.entries()) {
      if (entry.type === "message" && entry.message.role === "assistant") {
        total.tokens += entry.message.usage.totalTokens;
        total.cost += entry.message.usage.cost.total;
      }
      if (entry.type === "custom" && entry.customType === "verdict") {
        total.passed += entry.data.passed ? 1 : 0;
      }
    }
    await session.close();
  }
  return { totals, sessions: ids.size };
}

function print({ totals, sessions }) {
  console.log("task    runs  passed  tokens    cost");
  let [allRuns, allPassed] = [0, 0];
  for (const [name, { runs, passed, tokens, cost }] of totals) {
    allRuns += runs;
    allPassed += passed;
    const rate = `${Math.round((100 * passed) / runs)} %`;
    const cells = [
      name.padEnd(6),
      `${runs}`.padStart(6),
      rate.padStart(8),
      `${tokens}`.padStart(8),
    ];
    console.log(`${cells.join("")}${`$${cost.toFixed(2)}`.padStart(8)}`);
  }
  console.log(`${allRuns} runs, ${sessions} sessions, ${allPassed} passed`);
}
