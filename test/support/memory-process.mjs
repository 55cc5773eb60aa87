// Opens a session, builds its context, and tells what that took. Usage: node … FILE
import { openSession } from "@branchlog/core";
import { peakRssBytes } from "./peak-memory.mjs";

const session = await openSession(process.argv[2], { access: "read" });
const { messages } = await session.context();
const usage = await session.usage;
const facts = {
  entries: session.revision,
  messages: messages.length,
  usage: usage.total.totalTokens,
};
process.stdout.write(JSON.stringify({ ...facts, maxRssKb: peakRssBytes() / 1024 }));
