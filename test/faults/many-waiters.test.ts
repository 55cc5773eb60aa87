/** Many processes that want the lock of one log at the same moment: each gets it in time. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { createSession } from "@branchlog/core";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const script = fileURLToPath(new URL("../support/waiting-process.mjs", import.meta.url));
const aimMs = 10_000;
// A thousand processes that wake at once keep two cores busy for longer than the default wait.
const cases =
  process.env["BRANCHLOG_SOAK"] === undefined
    ? [{ count: 40, lockWaitMs: aimMs }]
    : [
        { count: 200, lockWaitMs: aimMs },
        { count: 1_000, lockWaitMs: 120_000 },
      ];
const startedAtOnce = 8;

interface Waiter {
  /** Lets it append; resolves with the id that it said, or fails with what it complained about. */
  readonly release: () => Promise<string>;
}

async function startWaiter(path: string, name: string, lockWaitMs: number): Promise<Waiter> {
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
  "each of $count processes that append at once appends within $lockWaitMs ms (Verifies: P1, P11)",
  async ({ count, lockWaitMs }) => {
    const path = join(temporaryDirectory(), "s.jsonl");
    await (await createSession(path)).close();
    const waiters: Waiter[] = [];
    while (waiters.length < count) {
      const names = Array.from({ length: startedAtOnce }, (_, at) => `${waiters.length + at}`);
      waiters.push(
        ...(await Promise.all(names.map((name) => startWaiter(path, name, lockWaitMs)))),
      );
    }
    const startMs = performance.now();
    const settled = await Promise.allSettled(waiters.map(({ release }) => release()));
    const tookMs = Math.round(performance.now() - startMs);
    process.stderr.write(`${waiters.length} processes appended an entry each in ${tookMs} ms\n`);

    const failed = settled.flatMap((one) =>
      one.status === "rejected" ? [String(one.reason)] : [],
    );
    expect(failed).toEqual([]);
    const ids = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    const written = readFileSync(path, "utf8").trimEnd().split("\n").slice(1);
    const found = written.map((line) => String((JSON.parse(line) as { id: unknown }).id));
    expect(found.toSorted()).toEqual(ids.toSorted());
    expect(existsSync(`${path}.branchlog-queue`)).toBe(false);
    expect(existsSync(`${path}.branchlog-lock`)).toBe(false);
  },
);
