/**
 * An agent that delegates: two subagents work in separate processes on one session, each on its
 * branch. One of them is killed in the middle of its task and started again; it reads in the
 * session how far it came. Nothing is lost, and nothing is done twice.
 *
 *   npx tsx examples/agent/agent.ts
 *   npx branchlog serve DIRECTORY     shows them live; the directory is printed with --keep
 *
 * Prints:
 *   asked two subagents
 *   tests: killed after 3 of 8 steps
 *   tests: started again at step 4
 *   docs: 8 of 8 steps
 *   tests: 8 of 8 steps
 *   the agent has 3 messages: Step 8 of the docs is done. Step 8 of the tests is done.
 *   21 entries, 21 ids
 */
import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { filter, firstValueFrom } from "rxjs";
import { createSession } from "branchlog";
import { live } from "branchlog/live";
import type { EntryEvent } from "branchlog/live";
import { assistant, textOf, user } from "./messages.ts";

const directory = mkdtempSync(join(tmpdir(), "branchlog-example-"));
const path = join(directory, "session.jsonl");
if (process.argv.includes("--keep")) console.log(directory);
const session = await createSession(path, { cwd: directory });

await session.append(user("Make the release ready."));
const { id: plan } = await session.append(assistant("One writes the docs, one runs the tests."));
const docs = startSubagent("docs");
const tests = startSubagent("tests", "hangs");
console.log("asked two subagents");

await killAfterStep(tests, 3);
const again = startSubagent("tests");
await Promise.all([docs.exit, again.exit]);
for (const name of ["docs", "tests"]) console.log(`${name}: ${await stepsOf(name)} of 8 steps`);

// The agent continues below its plan, and reads the results of the branches.
await session.moveTo(plan);
const ends = await Promise.all(["docs-step-8", "tests-step-8"].map((id) => session.entry(id)));
await session.append(user(ends.map(textOf).join(" ")));
const { messages } = await session.context();
console.log(
  `the agent has ${messages.length} messages: ${textOf(await session.entry(session.leaf ?? ""))}`,
);

const ids: string[] = [];
for await (const { id } of session.entries()) ids.push(id);
console.log(`${ids.length} entries, ${new Set(ids).size} ids`);
await session.close();

interface Subagent {
  readonly process: ChildProcess;
  readonly exit: Promise<unknown>;
}

function startSubagent(name: string, ...mode: readonly string[]): Subagent {
  const program = new URL("./subagent.ts", import.meta.url);
  const process = fork(program, [path, name, plan, ...mode]);
  return { process, exit: once(process, "exit") };
}

/** The session tells what the other process appended; the process is killed without a warning. */
async function killAfterStep(subagent: Subagent, step: number): Promise<void> {
  const isStep = ({ entry }: EntryEvent): boolean => entry?.id === `tests-step-${step}`;
  await firstValueFrom(live(session).entries$().pipe(filter(isStep)));
  subagent.process.kill("SIGKILL");
  await subagent.exit;
  console.log(`tests: killed after ${await stepsOf("tests")} of 8 steps`);
}

/** What a subagent stored, without its task. */
async function stepsOf(name: string): Promise<number> {
  await session.refresh();
  let count = 0;
  for await (const { id } of session.entries()) if (id.startsWith(`${name}-step-`)) count += 1;
  return count - 1;
}
