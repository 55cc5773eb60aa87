/**
 * Costs that are requested again: only what changed is read, and the sums are those of a new count.
 */
import { appendFileSync, cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { SpendingLedger, noSums, plusSpent, usageStatistics } from "@branchlog/tools";
import type { SpentSums } from "@branchlog/tools";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const fixtures = fileURLToPath(new URL("../../../fixtures/", import.meta.url));
const names = ["claude", "codex", "pi-branches.jsonl", "pi-linear.jsonl", "omp-18.jsonl"];

function sessions(): string {
  const directory = temporaryDirectory();
  for (const name of names) {
    cpSync(join(fixtures, name), join(directory, name), { recursive: true });
  }
  return directory;
}

async function totalOf(ledger: SpendingLedger): Promise<SpentSums> {
  let total = noSums;
  for (const record of await ledger.records()) total = plusSpent(total, record);
  return total;
}

it("the ledger has the sums of usageStatistics, copies of sessions included", async () => {
  const directory = sessions();
  cpSync(join(directory, "claude"), join(directory, "copied"), { recursive: true });
  const { total } = await usageStatistics([directory]);
  expect(total.requests).toBeGreaterThan(10);
  expect(await totalOf(new SpendingLedger([directory]))).toEqual(total);
});

it("the ledger reads only changed files again, and drops missing ones", async () => {
  const directory = sessions();
  const ledger = new SpendingLedger([directory]);
  const first = await ledger.records();
  const { filesRead } = ledger;
  expect(await ledger.records()).toBe(first);
  expect(ledger.filesRead).toBe(filesRead);
  const usage = { input: 7, output: 1, cacheRead: 0, cacheWrite: 0, cost: { total: 1 } };
  const message = { role: "assistant", content: [], provider: "p", model: "m", usage };
  const place = { id: "0000abcd", parentId: null, timestamp: "2026-01-02T12:00:00Z" };
  const line = JSON.stringify({ type: "message", ...place, message });
  appendFileSync(join(directory, "pi-linear.jsonl"), `${line}\n`);
  rmSync(join(directory, "pi-branches.jsonl"));
  const second = await ledger.records();
  expect(ledger.filesRead).toBe(filesRead + 1);
  expect(second.filter(({ path }) => path.endsWith("pi-branches.jsonl"))).toEqual([]);
  expect(await totalOf(ledger)).toEqual((await usageStatistics([directory])).total);
});
