/** A process that archives and undoes is killed at any time: every file can be restored. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { archiveSessions, operations, undoOperation } from "@branchlog/library";
import { patience, runs, seed } from "../../support/fault-seed.ts";
import { keptPlace, ledgerOf } from "./kept-sessions.ts";
import { asideIn } from "./survivors.ts";

const script = fileURLToPath(new URL("archiving-process.mjs", import.meta.url));

async function killed(root: string, dataDir: string, ms: number): Promise<void> {
  const child = spawn(process.execPath, [script, root, dataDir], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  await delay(ms);
  child.kill("SIGKILL");
  await once(child, "close");
}

/** Without what a killed process leaves under temporary names. */
function whole(ledger: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const isLeft = (path: string): boolean => /\.tmp$|\.branchlog-/.test(path);
  return Object.fromEntries(Object.entries(ledger).filter(([path]) => !isLeft(path)));
}

describe(`archiving that is killed, BRANCHLOG_SEED=${seed}`, () => {
  it("loses no file, and can be undone and repeated", patience, async () => {
    const { root, dataDir } = keptPlace();
    const before = ledgerOf(root);
    let state = seed;
    for (let run = 0; run < runs(12, 500); run += 1) {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      await killed(root, dataDir, state % 180);
      const left = whole(ledgerOf(root));
      for (const [path, facts] of Object.entries(left)) expect(facts, path).toBe(before[path]);
      for (const { id, kind, undoneBy } of (await operations({ dataDir })).toReversed()) {
        if (kind === "archive" && undoneBy === undefined) await undoOperation(id, { dataDir });
      }
      expect(whole(ledgerOf(root))).toEqual(before);
      expect(asideIn(root)).toEqual([]);
    }
    const { failures } = await archiveSessions([root], { dataDir });
    expect(failures).toEqual([]);
  });
});
