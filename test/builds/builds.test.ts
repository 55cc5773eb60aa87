/**
 * This build against another one of the same engine, before and after a redesign: the same bytes,
 * results and diagnostics for random sessions, random scripts of both doors, and every command over
 * every fixture. `BRANCHLOG_BUILD_RUNS` sets how many of each are drawn (default 1,000).
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Implementation } from "../e2e/differential/implementation.ts";
import { startMs } from "../e2e/differential/references.ts";
import { steps } from "../e2e/differential/scripts.ts";
import { storedSession } from "../e2e/differential/stored-sessions.ts";
import { differences } from "../e2e/support/difference.ts";
import { workspace } from "../e2e/support/install.ts";
import { Build } from "./build.ts";
import { commandLines, outcomesOf } from "./commands.ts";
import { builtModule, otherCheckout, thisCheckout } from "./other-build.ts";
import { sessionSteps } from "./session-script.ts";
import type { SessionScript } from "./session-script.ts";

const numRuns = Number(process.env["BRANCHLOG_BUILD_RUNS"] ?? 1000);
const checkouts = [otherCheckout(), thisCheckout] as const;

const bothBuilds = (): Promise<readonly Build[]> =>
  Promise.all(checkouts.map((checkout) => Build.start(checkout)));

async function expectSame(builds: readonly Build[], script: SessionScript): Promise<void> {
  const [before, after] = await Promise.all(builds.map((build) => build.run(script)));
  expect(differences(before, after)).toEqual([]);
}

describe("Both builds", () => {
  it.each([
    ["new session is used", fc.constant(undefined)],
    ["stored session is continued", storedSession(true).map(({ text }) => text)],
  ])("give the same results when a %s at random", async (_, origin) => {
    const builds = await bothBuilds();
    const property = fc.asyncProperty(origin, sessionSteps, (stored, script) =>
      expectSame(builds, { stored, steps: script }),
    );
    await fc.assert(property, { numRuns });
  });

  it.each([false, true])(
    "give the same results when pi's drop-in is used at random (in memory: %s)",
    async (isInMemory) => {
      const managers = await Promise.all(
        checkouts.map((checkout) => {
          const face = builtModule(checkout, "branchlog/pi");
          if (face === undefined) throw new Error(`${checkout} has no branchlog/pi`);
          return Implementation.start(face, []);
        }),
      );
      const nowMs = startMs();
      const property = fc.asyncProperty(
        steps(true),
        fc.option(storedSession(true), { nil: undefined }),
        async (script, stored) => {
          const given =
            isInMemory || stored === undefined ? {} : { stored: stored.text, isOld: stored.isOld };
          const [before, after] = await Promise.all(
            managers.map((manager) => manager.run({ nowMs, steps: script, isInMemory, ...given })),
          );
          expect(differences(before, after)).toEqual([]);
        },
      );
      await fc.assert(property, { numRuns });
    },
  );
});

const fixtures = join(workspace, "fixtures");
const fixtureFiles = readdirSync(fixtures, { recursive: true, encoding: "utf8" })
  .filter((name) => /\.(?:jsonl|yaml)$/u.test(name))
  .map((name) => join(fixtures, name));
const corpus = process.env["BRANCHLOG_CORPUS"];
const corpusFiles =
  corpus === undefined || !existsSync(corpus)
    ? []
    : readdirSync(corpus)
        .filter((name) => name.endsWith(".jsonl"))
        .map((name) => join(corpus, name));

it.each([...fixtureFiles, ...corpusFiles])(
  "Every command of both builds prints and leaves the same for %s",
  async (file) => {
    const bytes = readFileSync(file);
    for (const words of commandLines) {
      const [before, after] = await Promise.all(
        checkouts.map((checkout) => outcomesOf(checkout, words, { file, bytes })),
      );
      expect.soft(after, words.join(" ")).toEqual(before);
    }
  },
);
