/** A process that appends: opens the session, waits for "go", appends, reports what it was told. */
import { once } from "node:events";

import { openSession } from "branchlog";

const [path, name, count] = process.argv.slice(2);
const session = await openSession(path);
process.send("ready");
await once(process, "message");

const ids = [];
const startMs = performance.now();
for (let i = 1; i <= Number(count); i += 1) {
  const content = [{ type: "text", text: `${name} says ${i} of ${count}` }];
  const message = { role: "user", content, timestamp: Date.now() };
  // Resolves once the entry is in the log: the acknowledgement.
  const { id } = await session.append({ type: "message", message });
  ids.push(id);
}
process.send({ name, ids, ms: performance.now() - startMs });
process.disconnect();
