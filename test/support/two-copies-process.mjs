// Appends to one log with two copies of the package in one process: blocking with one, and many in
// flight with the other. Prints what was acknowledged, by copy, as JSON.
// Usage: node two-copies-process.mjs LOG DIST_OF_ONE DIST_OF_THE_OTHER ROUNDS
import { writeSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [path, one, other, rounds] = process.argv.slice(2);
// On the copy that the workspace links, which is the one.
const { SessionManager } = await import("../../packages/agents/dist/pi/index.js");
const { openSession } = await import(pathToFileURL(`${other}/index.js`).href);

const manager = SessionManager.open(path);
const session = await openSession(path);
const acknowledged = { blocking: [], inFlight: [] };

for (let round = 0; round < Number(rounds); round += 1) {
  const appends = Array.from({ length: 8 }, (_, n) =>
    session.append({ type: "custom", customType: "in flight", data: { round, n } }),
  );
  // The first while the others wait for their turn, the rest while they wait for the lock.
  for (let n = 0; n < 20; n += 1) {
    acknowledged.blocking.push(manager.appendCustomEntry("blocking", { round, n }));
    if (n % 5 === 4) await Promise.resolve();
  }
  for (const { id } of await Promise.all(appends)) acknowledged.inFlight.push(id);
}

const isShared = Symbol.for("branchlog.lock-sharing.6") in globalThis;
const isOneModule =
  (await import(pathToFileURL(`${one}/index.js`).href)).openSession === openSession;
writeSync(1, JSON.stringify({ ...acknowledged, isShared, isOneModule }));
