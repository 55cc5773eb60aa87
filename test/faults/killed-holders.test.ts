/**
 * Holders of a lock that are killed at any moment: whoever needs it next recognises that they have
 * ended, and does not wait until the lock is stale.
 */
import { join } from "node:path";
import { setTimeout as moment } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createSession, openSession } from "@branchlog/core";
import { lockStaleMs } from "@branchlog/core/files";
import { createRandom } from "@branchlog/bench/generator";
import { patience, runs, seed } from "../support/fault-seed.ts";
import { isLocked } from "../support/lock-file.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { Victim } from "../support/victims.ts";
import { BlockingSession } from "../support/blocking-session.ts";

const kills = runs(4, 200);
const killMsMax = 8;
const ways = ["batches", "blocking", "together"] as const;

describe.runIf(process.platform === "linux")(`${kills} killed appenders (seed ${seed})`, () => {
  it("leave a lock that the first try acquires (Verifies: P7)", patience, async () => {
    const random = createRandom(seed, 0);
    let left = 0;
    let longestMs = 0;
    for (let kill = 0; kill < kills; kill += 1) {
      const path = join(temporaryDirectory(), "s.jsonl");
      await (await createSession(path)).close();
      const options = { path, name: "victim", way: ways[kill % 3] ?? "blocking" } as const;
      if (kill === 0) {
        // One that has the lock when it dies, whatever the others do.
        const pause = { call: "writeSync", after: 3, signal: "SIGKILL" } as const;
        await new Victim({ ...options, pause }).ended;
      } else {
        const victim = new Victim(options);
        await victim.said("acknowledged", 1 + random.below(12));
        // Not waiting for anything: the moment of the death is what is being tried.
        await moment(random.below(killMsMax));
        await victim.kill();
      }
      left += isLocked(path) ? 1 : 0;
      // A wait of 0 is one try.
      const session = await openSession(path, { lockWaitMs: 0 });
      const startMs = performance.now();
      await session.append({ type: "custom", customType: "next" });
      longestMs = Math.max(longestMs, performance.now() - startMs);
      await session.close();
    }
    process.stderr.write(`${left} of ${kills} killed appenders left a lock; `);
    process.stderr.write(`the longest append after it took ${longestMs.toFixed(1)} ms\n`);
    expect(left).toBeGreaterThan(0);
  });

  it("do not delay an append that was blocking before the kill", patience, async () => {
    const path = join(temporaryDirectory(), "s.jsonl");
    await (await createSession(path)).close();
    const pause = { call: "writeSync", after: 3, signal: "SIGSTOP" } as const;
    const holder = new Victim({ path, name: "holder", way: "blocking", pause });
    await holder.said("paused");
    // Half of the time after which the lock is stale.
    const session = BlockingSession.open(path, { lockWaitMs: lockStaleMs / 2 });
    holder.killNow();
    // In the same turn of the event loop: Node has not collected the exit of its child.
    const [result] = session.append({ draft: { type: "custom", customType: "next" } });
    expect(holder.isAlive).toBe(true);
    expect(await holder.ended).toBeNull();
    expect(session.tail).toBe(result?.id);
  });
});
