/**
 * A guided run: opens a copy of a realistic session, shows what it holds, lets two processes append
 * to it at once while a third follows, and checks that nothing was lost. `npm start` runs it.
 * Ends with 0 if everything held, else with 1.
 */
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { openSession } from "branchlog";

import { Narrator } from "./narrator.mjs";
import { checkOutcome } from "./outcome.mjs";
import { showSession } from "./session-view.mjs";
import { runTogether } from "./together.mjs";

const fixture = fileURLToPath(new URL("../../fixtures/realistic-session.jsonl", import.meta.url));
const writers = ["ada", "grace"];
const entriesEach = 50;
const next = [
  ["npm run branchlog", "your sessions, of all agents on this machine"],
  ["npm run branchlog -- serve fixtures --open", "the session above in the browser"],
  [
    "npm run branchlog -- tree fixtures/realistic-session.jsonl",
    "all branches of the session above",
  ],
  ["npx tsx examples/agent-loop.ts", "the loop of an agent in 60 lines"],
];

const directory = mkdtempSync(join(tmpdir(), "branchlog-tour-"));
const narrator = new Narrator(process.stdout, process.env);
try {
  const path = join(directory, "session.jsonl");
  copyFileSync(fixture, path);
  const allHold = await tour(path);
  if (allHold) narrator.next(next);
  process.exitCode = allHold ? 0 : 1;
} catch (error) {
  console.error(error);
  narrator.conclude(false);
  process.exitCode = 1;
} finally {
  rmSync(directory, { recursive: true, force: true });
}

/** @param {string} path The session, which the tour may change. */
async function tour(path) {
  await showSession(path, narrator);

  narrator.chapter("Two processes append at once, a third follows");
  narrator.say(`Each of two processes appends ${entriesEach} entries; they do not communicate.`);
  narrator.say("A third has the file open for reading and checks it repeatedly.\n");
  const before = await openSession(path, { access: "read" });
  const outcome = await runTogether({ path, writers, entriesEach, from: before.revision });
  for (const { name, ids, ms } of outcome.written) {
    narrator.fact(name, `${ids.length} entries acknowledged in ${ms.toFixed(0)} ms`);
  }
  const { seen, looks } = outcome.followed;
  narrator.fact("follower", `${seen.length} entries seen in ${looks} checks`);

  narrator.chapter("The log afterwards");
  const after = await openSession(path, { access: "read" });
  narrator.fact("entries", `${before.revision} before, ${after.revision} after`);
  narrator.fact("branches", `${before.tips().length} before, ${after.tips().length} after`);
  narrator.say("");
  const checks = await checkOutcome(after, outcome, before.revision);
  for (const { claim, holds } of checks) narrator.check(claim, holds);
  const allHold = checks.every(({ holds }) => holds);
  narrator.conclude(allHold);
  return allHold;
}
