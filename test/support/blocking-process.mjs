// Appends without a pause, blocking, for so many milliseconds or until killed; then exits in the
// midst of it, with the lock kept. Each acknowledged id is a line on stdout.
// Usage: node blocking-process.mjs LOG MILLISECONDS
import { writeSync } from "node:fs";
import { SessionManager } from "@branchlog/agents/pi";

const [path, ms] = process.argv.slice(2);
const manager = SessionManager.open(path);
const end = performance.now() + Number(ms);
const ids = [];
while (performance.now() < end) ids.push(manager.appendCustomEntry("blocking", { n: ids.length }));
for (let n = 0; n < 5; n += 1) ids.push(manager.appendCustomEntry("last", { n }));
for (let at = 0; at < ids.length; at += 500)
  writeSync(1, `${ids.slice(at, at + 500).join("\n")}\n`);
process.exit(0);
