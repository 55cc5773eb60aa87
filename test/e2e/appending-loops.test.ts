/** Real session layers of pi that append in loops, without a lock, alongside processes of ours. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { createSession } from "@branchlog/core";
import { brokenPromises } from "../support/ledger.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { Victim } from "../support/victims.ts";
import { references } from "./differential/references.ts";
import { newerNode } from "./support/install.ts";
import { sessionModule } from "./support/pi-program.ts";

const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };

describe.each(references)("Verifies: P11. A log that pi $version appends to", (reference) => {
  it("keeps every acknowledged entry of both while they append in loops", async () => {
    const path = join(temporaryDirectory(), "s.jsonl");
    const session = await createSession(path);
    const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost };
    const from = { api: "a", provider: "p", model: "m", stopReason: "stop", timestamp: 1 } as const;
    // Older ones write nothing before the model has answered.
    await session.append({
      type: "message",
      message: { role: "assistant", content: [], usage, ...from },
    });
    const sessionLayer = pathToFileURL(join(reference.packageFolder(), sessionModule)).href;
    const options = { path, count: 300, batch: 3, bytesMax: 2000 };
    const pis = [1, 2].map((n) => {
      const way = "blocking" as const;
      return new Victim({ ...options, name: `pi-${n}`, way, sessionLayer, node: newerNode() });
    });
    const ours = (["batches", "blocking", "together"] as const).map(
      (way) => new Victim({ ...options, name: way, way }),
    );
    const all = [...pis, ...ours];
    expect(await Promise.all(all.map(({ ended }) => ended))).toEqual(all.map(() => 0));
    const acknowledged = all.flatMap((victim) => victim.acknowledged);
    expect(acknowledged).toHaveLength(300 * (2 + 3 + 1 + 1));
    expect(await brokenPromises(path, acknowledged, 0)).toEqual([]);
  });
});
