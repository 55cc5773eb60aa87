/**
 * Processes that are killed at random moments while they append, and a parent that kept the ledger:
 * what was acknowledged is in the log, once and whole; what was not may be, but never torn.
 */
import { join } from "node:path";
import { setTimeout as moment } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createSession } from "@branchlog/core";
import { createRandom } from "@branchlog/bench/generator";
import type { Random } from "@branchlog/bench/generator";
import { patience, runs, seed } from "../support/fault-seed.ts";
import { inLanes } from "../support/lanes.ts";
import { brokenPromises } from "../support/ledger.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { Victim, victimKinds } from "../support/victims.ts";
import type { Acknowledged } from "../support/victims.ts";

const livesPerLog = 4;
const logs = runs(2, 1000);
const killMsMax = 8;

interface Life {
  readonly log: number;
  readonly path: string;
  readonly random: Random;
}

/** One process, from its start to its death; returns what it was told. */
async function live({ log, path, random }: Life, life: number): Promise<Acknowledged[]> {
  const kind = victimKinds[random.below(victimKinds.length)] ?? { way: "blocking" };
  const victim = new Victim({ path, name: `log-${log}-life-${life}`, ...kind });
  await victim.said("ready");
  await victim.said("acknowledged", random.below(12));
  // Not waiting for anything: the moment of the death is what is being tried.
  await moment(random.below(killMsMax));
  await victim.kill();
  return victim.acknowledged;
}

/** Several lives of one log, one after the other, and the judgement. */
async function liveAndDie(log: number): Promise<number> {
  const path = join(temporaryDirectory(), "s.jsonl");
  await createSession(path);
  const random = createRandom(seed, log);
  const ledger: Acknowledged[] = [];
  for (let life = 0; life < livesPerLog; life += 1) {
    ledger.push(...(await live({ log, path, random }, life)));
  }
  const broken = await brokenPromises(path, ledger, livesPerLog);
  if (broken.length > 0) throw new Error(`seed ${seed}, log ${log}: ${broken.join("; ")}`);
  return ledger.length;
}

describe(`processes killed ${logs * livesPerLog} times (seed ${seed})`, () => {
  it("lose no acknowledged entry (Verifies: P7, P9, P11)", patience, async () => {
    const told = await inLanes(logs, liveAndDie);
    expect(told.reduce((sum, one) => sum + one, 0)).toBeGreaterThan(logs * livesPerLog);
  });
});
