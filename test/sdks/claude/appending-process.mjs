// Mirrors entries until it is told how many or killed; each acknowledgement is a line on stdout.
// Usage: node appending-process.mjs DIRECTORY SESSION NAME COUNT; "same" as NAME: uuids are shared.
import { writeSync } from "node:fs";
import { claudeSessionStore } from "branchlog/claude";

const [directory, sessionId, name, count] = process.argv.slice(2);
const store = claudeSessionStore(directory);
const key = { projectKey: "-work-app", sessionId };
for (let i = 0; i < Number(count); i += 1) {
  const entries = [0, 1, 2].map((n) => ({ type: "user", uuid: `${name}-${i}-${n}`, sessionId }));
  await store.append(key, [
    ...entries,
    { type: "mode", by: process.pid, i, text: "x".repeat(i % 999) },
  ]);
  writeSync(1, `${i}\n`);
}
