/**
 * Containers that share a directory but not process ids: each program is number 1 of its own
 * and sees no other. No process may take that for being alone, nor for a holder that has died.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createSession, openSession } from "@branchlog/core";
import { verifySession } from "@branchlog/tools";
import { rawLog } from "../support/raw-log.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { startAppending } from "./appending-processes.ts";

const container = ["unshare", "--user", "--map-current-user", "--pid", "--fork", "--kill-child"];

/** Not every machine lets a user make namespaces. */
function canContain(): boolean {
  const [command = "", ...args] = container;
  const { stdout } = spawnSync(command, [...args, "sh", "-c", "echo $$"], { encoding: "utf8" });
  return stdout?.trim() === "1";
}

describe.skipIf(!canContain())("processes in containers of their own", () => {
  it("append to one log, one killed among them, and lose nothing (Verifies: P7, P11)", async () => {
    const path = join(temporaryDirectory(), "s.jsonl");
    await createSession(path);
    const start = (name: string, count: number): ReturnType<typeof startAppending> =>
      startAppending(path, name, { count, batch: 2, through: container });
    const writers = ["one", "two", "three"].map((name) => start(name, 40));
    const victim = start("victim", 100_000);
    await victim.acknowledged(5);
    victim.child.kill("SIGKILL");
    expect(await victim.ended).toBeNull();
    expect(await Promise.all(writers.map(({ ended }) => ended))).toEqual([0, 0, 0]);

    const ids = rawLog(readFileSync(path)).entries.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const acknowledged = [...writers, victim].flatMap(({ batches }) => batches().flat());
    expect(acknowledged.length).toBeGreaterThanOrEqual(3 * 40 * 2 + 5 * 2);
    expect(acknowledged.filter((id) => !ids.includes(id))).toEqual([]);
    const session = await openSession(path);
    const { id } = await session.append({ type: "custom", customType: "last" });
    expect(session.leaf).toBe(id);
    expect((await verifySession(session)).orphans).toEqual([]);
  });
});
