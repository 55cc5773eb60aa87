// Appends until it is told how much or killed; each acknowledgement is a line on stdout.
// Usage: node appending-process.mjs FILE NAME COUNT BATCH
import { writeSync } from "node:fs";
import { openSession } from "@branchlog/core";

const [path, name, count, batch] = process.argv.slice(2);
const session = await openSession(path);
for (let i = 0; i < Number(count); i += 1) {
  const drafts = Array.from({ length: Number(batch) }, (_, n) => ({
    type: "custom",
    customType: name,
    data: { i, n, padding: "x".repeat((i * 37) % 400) },
  }));
  const results = await session.appendAll(drafts);
  // Written at once: what the parent process has read was acknowledged.
  writeSync(1, `${results.map(({ id }) => id).join(" ")}\n`);
}
