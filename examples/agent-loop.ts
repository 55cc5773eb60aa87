/**
 * The loop of an agent: what the model gets comes from the session, what it answers goes there. The
 * context is watched, so that building it again costs what was appended.
 *
 * Prints:
 *   1 message: How do I list files?
 *   3 messages: And the hidden ones?
 *   after a summary 4 messages: Thanks.
 */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSession } from "branchlog";
import type { EntryDraft } from "branchlog";
import type { AgentMessage } from "branchlog/entries";

const directory = mkdtempSync(join(tmpdir(), "branchlog-example-"));
const session = await createSession(join(directory, "session.jsonl"), { cwd: directory });

/** Stands for a model. */
const answer = (messages: readonly AgentMessage[]) => `An answer to ${messages.length} messages.`;

const user = (content: string): EntryDraft => ({
  type: "message",
  message: { role: "user", content, timestamp: 0 },
});
const none = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
const assistant = (text: string): EntryDraft => ({
  type: "message",
  message: {
    role: "assistant",
    content: [{ type: "text", text }],
    api: "example",
    provider: "example",
    model: "parrot",
    usage: { ...none, totalTokens: 0, cost: { ...none, total: 0 } },
    stopReason: "stop",
    timestamp: 0,
  },
});

/** One turn: what the user says, what the model makes of everything so far. */
async function turn(text: string, note = "") {
  const { id } = await session.append(user(text));
  const { messages } = await session.context();
  const count = messages.length === 1 ? "1 message" : `${messages.length} messages`;
  console.log(`${note}${count}: ${text}`);
  await session.append(assistant(answer(messages)));
  return id;
}

await turn("How do I list files?");
const kept = await turn("And the hidden ones?");
await session.append({
  type: "compaction",
  summary: "We talked about ls.",
  firstKeptEntryId: kept,
  tokensBefore: 1000,
});
await session.append({ type: "session_info", name: "Listing files" });
// What came before the kept message is the summary now.
await turn("Thanks.", "after a summary ");
await session.close();
