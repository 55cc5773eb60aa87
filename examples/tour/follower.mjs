/** A process that follows: reads what others append until it has seen so many entries. */
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";

import { openSession } from "branchlog";

const [path, from, count] = process.argv.slice(2);
const pauseMs = 2;
const session = await openSession(path, { access: "read" });
process.send("ready");
await once(process, "message");

const seen = [];
let looks = 0;
while (seen.length < Number(count)) {
  await session.refresh();
  looks += 1;
  const next = Number(from) + seen.length + 1;
  for await (const { id } of session.entries({ from: next })) seen.push(id);
  await pause(pauseMs);
}
process.send({ seen, looks });
process.disconnect();
