// Goes over a session in every way that reads many entries, and tells what that took.
// Usage: node huge-entry-process.mjs FILE [LINE_BYTES_MAX]
import { openSession } from "@branchlog/core";
import { SessionManager } from "@branchlog/agents/pi";
import { verifySession } from "@branchlog/tools";
import { peakRssBytes } from "./peak-memory.mjs";

const [path, lineBytesMax] = process.argv.slice(2);
const options = lineBytesMax === undefined ? {} : { lineBytesMax: Number(lineBytesMax) };
const session = await openSession(path, { access: "read", bodyCacheBytesMax: 0, ...options });
const ids = [];
for await (const { id } of session.entries()) ids.push(id);
const facts = {
  leaf: session.leaf,
  ids,
  messages: (await session.context()).messages.length,
  count: (await session.summary).messageCount,
  verified: await verifySession(session),
  reported: session.diagnostics.map(({ kind, id }) => `${kind} ${id}`),
  pi: SessionManager.open(path).buildSessionContext().messages.length,
};
process.stdout.write(JSON.stringify({ ...facts, maxRssKb: peakRssBytes() / 1024 }));
