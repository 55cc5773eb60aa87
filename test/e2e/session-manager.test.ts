/**
 * Our session layer against pi's, call by call: random scripts are carried out by both in processes
 * of their own, and everything they answer and leave on disk is compared.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Step } from "./differential/operation.ts";
import { bothSides, references, startMs } from "./differential/references.ts";
import { steps } from "./differential/scripts.ts";
import { storedSession } from "./differential/stored-sessions.ts";
import { differences } from "./support/difference.ts";

const numRuns = Number(process.env["BRANCHLOG_E2E_RUNS"] ?? 200);

describe.each(references)("Verifies: P20. The drop-in and pi $version", (reference) => {
  const { isNewest, tolerated } = reference;

  it.each([false, true])("behave the same for any script (in memory: %s)", async (isInMemory) => {
    const [theirs, ours] = await bothSides(reference);
    const nowMs = startMs();
    await fc.assert(
      fc.asyncProperty(steps(isNewest), async (script) => {
        const [published, own] = await Promise.all([
          theirs.run({ nowMs, steps: script, isInMemory }),
          ours.run({ nowMs, steps: script, isInMemory }),
        ]);
        expect(differences(published, own)).toEqual([]);
      }),
      { numRuns },
    );
  });

  it("read and continue any stored session", async () => {
    const [theirs, ours] = await bothSides(reference);
    const nowMs = startMs();
    // Opening an old file is what brings it up to date in pi, the first append in ours.
    const named: Step = { operation: { do: "name", name: "Continued" }, laterMs: 0 };
    await fc.assert(
      fc.asyncProperty(storedSession(isNewest), steps(isNewest), async ({ text, isOld }, more) => {
        fc.pre(!tolerated.includes("glues-entries") || text.endsWith("\n"));
        fc.pre(!tolerated.includes("keeps-empty-cwd") || !text.includes('"cwd":""'));
        fc.pre(!tolerated.includes("repeats-header") || text.includes('"role":"assistant"'));
        const script = { nowMs, steps: [named, ...more.slice(0, 5)], stored: text, isOld };
        const [published, own] = await Promise.all([theirs.run(script), ours.run(script)]);
        expect(differences(published, own)).toEqual([]);
      }),
      { numRuns },
    );
  });
});
