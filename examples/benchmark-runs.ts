/**
 * A benchmark of an agent: 500 runs in four processes, each in a separate session whose path says
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
import { createSession, openSession } from "branchlog";
import type { AssistantMessage } from "branchlog/entries";

/** What the agent of this example makes of each task. */
const tasks = {
  parse: { tokens: 630, passedOfFive: 4 },
  repair: { tokens: 778, passedOfFive: 3 },
  search: { tokens: 926, passedOfFive: 2 },
  write: { tokens: 482, passedOfFive: 5 },
};
type Task = keyof typeof tasks;

const names: readonly Task[] = ["parse", "repair", "search", "write"];
const attempts = 125;
const [, example = "", directory, word] = process.argv;
if (directory === undefined) await benchmark();
else for (const name of names) if (name === word) await runAll(directory, name);

async function benchmark(): Promise<void> {
  const runs = mkdtempSync(join(tmpdir(), "branchlog-example-"));
  const command = [...process.execArgv, example, runs];
  const workers = names.map((name) =>
    spawn(process.execPath, [...command, name], { stdio: "inherit" }),
  );
  await Promise.all(workers.map((worker) => once(worker, "exit")));
  print(await totalsOf(runs));
}

/** One process: the runs of one task, some at a time. */
async function runAll(runs: string, name: Task): Promise<void> {
  let next = 0;
  const runSome = async () => {
    while (next < attempts) await run(runs, name, next++);
  };
  await Promise.all(Array.from({ length: 8 }, runSome));
}

/** One run: the request, the answer with its usage, and the verdict, written together. */
async function run(runs: string, name: Task, attempt: number): Promise<void> {
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

function answer(totalTokens: number): AssistantMessage {
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

interface Total {
  runs: number;
  passed: number;
  tokens: number;
  cost: number;
}

interface Totals {
  readonly totals: ReadonlyMap<string, Total>;
  readonly sessions: number;
}

/** Sums over all sessions; what is held is one entry, the sums and the ids. */
async function totalsOf(runs: string): Promise<Totals> {
  const ids = new Set<string>();
  const totals = new Map<string, Total>();
  for (const file of readdirSync(runs).sort()) {
    const [name = ""] = file.split("_");
    const total = totals.get(name) ?? { runs: 0, passed: 0, tokens: 0, cost: 0 };
    totals.set(name, total);
    const session = await openSession(join(runs, file), { access: "read", checkpoint: "off" });
    ids.add(session.header.id);
    total.runs += 1;
    for await (const entry of session.entries()) {
      if (entry.type === "message" && entry.message.role === "assistant") {
        total.tokens += entry.message.usage.totalTokens;
        total.cost += entry.message.usage.cost.total;
      }
      if (entry.type === "custom" && entry.customType === "verdict") {
        total.passed += hasPassed(entry.data) ? 1 : 0;
      }
    }
    await session.close();
  }
  return { totals, sessions: ids.size };
}

/** The data of a custom entry are as they were stored: of any type. */
function hasPassed(data: unknown): boolean {
  return typeof data === "object" && data !== null && "passed" in data && data.passed === true;
}

function print({ totals, sessions }: Totals): void {
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
