/** Many processes that need the lock of one log at the same moment: each acquires it. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { createSession } from "@branchlog/core";
import { patience } from "../support/fault-seed.ts";
import { isLocked } from "../support/lock-file.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const script = fileURLToPath(new URL("../support/waiting-process.mjs", import.meta.url));
const lockWaitMs = 10_000;
const cases =
  process.env["BRANCHLOG_SOAK"] === undefined
    ? [{ count: 16, times: 1 }]
    : [
        { count: 200, times: 5 },
        { count: 1_000, times: 1 },
      ];
const startedAtOnce = 8;

interface Waiter {
  /** Lets it append; resolves with the id that it said, or fails with what it complained about. */
  readonly release: () => Promise<string>;
}

async function startWaiter(path: string, name: string): Promise<Waiter> {
  const child = spawn(process.execPath, [script, path, name, String(lockWaitMs)], {
    stdio: ["pipe", "pipe", "pipe"],
  });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  let complaints = "";
  child.stderr.on("data", (chunk: Buffer) => (complaints += chunk.toString()));
  const lines: string[] = [];
  const output = createInterface(child.stdout).on("line", (line) => lines.push(line));
  const ended = once(child, "close");
  await Promise.race([once(output, "line"), ended]);
  return {
    async release() {
      child.stdin.end();
      await ended;
      const [, id] = lines;
      if (id === undefined) throw new Error(`${name}: ${complaints}`);
      return id;
    },
  };
}

it.each(cases)(
  "each of $count processes that append at once appends, $times times (Verifies: P1, P11)",
  patience,
  async ({ count, times }) => {
    for (let time = 0; time < times; time += 1) await appendAtOnce(count);
  },
);

async function appendAtOnce(count: number): Promise<void> {
  const path = join(temporaryDirectory(), "s.jsonl");
  await (await createSession(path)).close();
  const waiters: Waiter[] = [];
  while (waiters.length < count) {
    const names = Array.from({ length: startedAtOnce }, (_, at) => `${waiters.length + at}`);
    waiters.push(...(await Promise.all(names.map((name) => startWaiter(path, name)))));
  }
  const load = keepBusy();
  const startMs = performance.now();
  const settled = await Promise.allSettled(waiters.map(({ release }) => release()));
  const tookMs = Math.round(performance.now() - startMs);
  for (const child of load) child.kill("SIGKILL");
  process.stderr.write(`${waiters.length} processes appended an entry each in ${tookMs} ms\n`);

  const failed = settled.flatMap((one) => (one.status === "rejected" ? [String(one.reason)] : []));
  expect(failed).toEqual([]);
  const ids = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const written = readFileSync(path, "utf8").trimEnd().split("\n").slice(1);
  const found = written.map((line) => String((JSON.parse(line) as { id: unknown }).id));
  expect(found.toSorted()).toEqual(ids.toSorted());
  expect(existsSync(`${path}.branchlog-queue`)).toBe(false);
  expect(isLocked(path)).toBe(false);
}

/** Two processes that compute without end. */
function keepBusy(): readonly ChildProcess[] {
  return [0, 1].map(() => {
    const child = spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" });
    onTestFinished(() => void child.kill("SIGKILL"));
    return child;
  });
}
