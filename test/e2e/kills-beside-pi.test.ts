/**
 * A process of ours and a real session layer of pi, which takes no lock, append to one log and are
 * killed at random moments, again and again: what either was told is in the log, once and whole.
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { setTimeout as moment } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createSession } from "@branchlog/core";
import { createRandom } from "@branchlog/bench/generator";
import { patience, runs, seed } from "../support/fault-seed.ts";
import { inLanes } from "../support/lanes.ts";
import { brokenPromises } from "../support/ledger.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { Victim, victimKinds } from "../support/victims.ts";
import type { Acknowledged } from "../support/victims.ts";
import { newest } from "./differential/references.ts";
import { newerNode } from "./support/install.ts";
import { sessionModule } from "./support/pi-program.ts";

const livesPerLog = 4;
const logs = runs(3, 1250);
const kills = logs * livesPerLog * 2;
const killMsMax = 8;

async function liveAndDie(log: number, sessionLayer: string): Promise<number> {
  const path = join(temporaryDirectory(), "s.jsonl");
  const session = await createSession(path);
  await session.append({ type: "custom", customType: "first" });
  const random = createRandom(seed, log);
  const ledger: Acknowledged[] = [];
  for (let life = 0; life < livesPerLog; life += 1) {
    const kind = victimKinds[random.below(victimKinds.length)] ?? { way: "blocking" };
    const ours = new Victim({ path, name: `ours-${life}`, ...kind });
    const way = "blocking" as const;
    const pi = new Victim({ path, name: `pi-${life}`, way, sessionLayer, node: newerNode() });
    await Promise.all([ours.said("ready"), pi.said("ready")]);
    await Promise.all([
      ours.said("acknowledged", random.below(12)),
      pi.said("acknowledged", random.below(12)),
    ]);
    // Not waiting for anything: the moment of the death is what is being tried.
    await moment(random.below(killMsMax));
    // Pi first: a write that crosses a page may be truncated by the death of its process, and what
    // pi appends next, without a look at the file, is on the line of the remains. One that opens
    // the file later takes care.
    await pi.kill();
    await ours.kill();
    ledger.push(...ours.acknowledged, ...pi.acknowledged);
  }
  const found = await brokenPromises(path, ledger, livesPerLog * 2);
  // A line of ours that came after the remains of a killed pi was written again, and is also there.
  const broken = found.filter((one) => !one.startsWith("debris holds a record"));
  if (broken.length > 0) throw new Error(`seed ${seed}, log ${log}: ${broken.join("; ")}`);
  return ledger.length;
}

describe(`processes of ours and of pi, killed ${kills} times (seed ${seed})`, () => {
  it("lose no acknowledged entry (Verifies: P7, P9, P11)", patience, async () => {
    const sessionLayer = pathToFileURL(join(newest.packageFolder(), sessionModule)).href;
    const told = await inLanes(logs, (log) => liveAndDie(log, sessionLayer));
    expect(told.reduce((sum, one) => sum + one, 0)).toBeGreaterThan(kills);
  });
});
