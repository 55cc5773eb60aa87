// Opens a session, prints a line, and appends one entry once its standard input ends; then prints its id.
// Usage: node waiting-process.mjs FILE NAME LOCK_WAIT_MS
import { writeSync } from "node:fs";
import { openSession } from "@branchlog/core";

const [path, name, lockWaitMs] = process.argv.slice(2);
const session = await openSession(path, { lockWaitMs: Number(lockWaitMs) });
writeSync(1, "ready\n");
for await (const _ of process.stdin);
const { id } = await session.append({ type: "custom", customType: name });
writeSync(1, `${id}\n`);
await session.close();
