/** A CommonJS project: its imports become `require()`, of each entry point of the packages. */
import assert from "node:assert/strict";
import { memorySession } from "branchlog";
import type { EntryDraft } from "branchlog";
import { createConnectonion } from "branchlog/connectonion";
import { SessionManager as OmpSessionManager } from "branchlog/omp";
import { SessionManager } from "branchlog/pi";
import { lines } from "branchlog/streaming";

async function appendOnce(): Promise<void> {
  const session = await memorySession();
  const draft: EntryDraft = {
    type: "message",
    message: { role: "user", content: "Hello", timestamp: 0 },
  };
  const { id } = await session.append(draft);
  assert.equal((await session.entry(id))?.id, id);
}

assert.equal(typeof require, "function");
for (const open of [createConnectonion, SessionManager.create, OmpSessionManager.create, lines]) {
  assert.equal(typeof open, "function");
}
void appendOnce();
