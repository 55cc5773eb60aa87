/**
 * Processes that are killed while they migrate a log, at random moments: the log is the old one or
 * the new one, whole, and the next writer gets all of it.
 */
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as moment } from "node:timers/promises";
import { describe, it } from "vitest";
import { openSession } from "@branchlog/core";
import { createRandom } from "@branchlog/bench/generator";
import { patience, runs, seed } from "../support/fault-seed.ts";
import { inLanes } from "../support/lanes.ts";
import { brokenPromises } from "../support/ledger.ts";
import { entryTexts, writeOldLog } from "../support/old-log.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { Victim } from "../support/victims.ts";

/** Long enough to be caught in the middle. */
const longBytes = 150_000;

interface OldLog {
  readonly path: string;
  readonly bytes: Buffer;
  readonly entries: readonly string[];
}

async function newOldLog(atLeast: number): Promise<OldLog> {
  const path = join(temporaryDirectory(), "s.jsonl");
  const bytes = writeOldLog(path, atLeast);
  return { path, bytes, entries: await entryTexts(path) };
}

/** What is wrong after the death of a process, and whether it had migrated the log. */
async function judge(log: OldLog, victim: Victim): Promise<{ isOld: boolean; broken: string[] }> {
  const { path, bytes, entries } = log;
  const isOld = readFileSync(path).equals(bytes);
  const broken: string[] = [];
  const known = (await entryTexts(path)).slice(0, entries.length);
  if (known.join("\n") !== entries.join("\n")) broken.push("entries are not what they were");
  if (isOld && victim.acknowledged.length > 0) broken.push("acknowledged in a log that is old");
  // The next writer migrates what is old, and finds the rest as it is.
  await (await openSession(path)).append({ type: "custom", customType: "next" });
  broken.push(...(await brokenPromises(path, victim.acknowledged, 1)));
  const originals = readdirSync(dirname(path)).filter((name) => name.includes("-original"));
  const isKept = originals.every((name) => readFileSync(join(dirname(path), name)).equals(bytes));
  if (originals.length !== 1 || !isKept) broken.push(`the originals are ${originals.join()}`);
  return { isOld, broken };
}

const migrating = { name: "migrator", way: "batches", batch: 2 } as const;

describe("a process that is killed while it migrates", () => {
  it(`at any moment loses nothing (seed ${seed}) (Verifies: P7, P9, P11)`, patience, async () => {
    await inLanes(runs(3, 1000), async (at) => {
      const log = await newOldLog(longBytes);
      const victim = new Victim({ path: log.path, ...migrating });
      await victim.said("ready");
      // The moment of the death is what is being tried: a migration takes as long.
      await moment(createRandom(seed, at).below(25));
      await victim.kill();
      const { broken } = await judge(log, victim);
      if (broken.length > 0) throw new Error(`seed ${seed}, kill ${at}: ${broken.join("; ")}`);
    });
  });
});
