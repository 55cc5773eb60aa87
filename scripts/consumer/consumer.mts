/** What a project does that depends on the packages: all of it must compile and run. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSession, isBranchlogError, memorySession } from "branchlog";
import type { EntryDraft, ErrorCode } from "branchlog";
import { isKnownEntry } from "branchlog/entries";
import { createConnectonion } from "branchlog/connectonion";
import { SessionManager as OmpSessionManager } from "branchlog/omp";
import { SessionManager } from "branchlog/pi";
import { findSessions } from "branchlog/library";
import { live } from "branchlog/live";
import { records } from "branchlog/streaming";
import { ManualClock } from "branchlog/testing";
import { exportMarkdown, verifySession } from "branchlog/tools";

const folder = mkdtempSync(join(tmpdir(), "branchlog-consumer-"));

async function appendAndRead(): Promise<void> {
  const session = await createSession(join(folder, "session.jsonl"));
  const draft: EntryDraft = {
    type: "message",
    message: { role: "user", content: "Hello", timestamp: 0 },
  };
  const { id } = await session.append(draft);
  assert.equal((await findSessions([folder])).sessions.length, 1);
  const entry = await session.entry(id);
  assert.ok(entry !== undefined && isKnownEntry(entry) && entry.type === "message");
  assert.equal((await session.context()).messages.length, 1);
  await session.close();
}

async function misspellType(): Promise<void> {
  const session = await memorySession();
  // @ts-expect-error -- an unknown type
  const attempt = session.append({ type: "mesage", text: "Hello" });
  await assert.rejects(attempt, (error) => isBranchlogError(error, "ERR_INVALID_ARGUMENT"));
  await session.append({ type: "x:note", text: "Hello" });
  await session.append({ type: "note", text: "Hello" }, { allowUnknownType: true });
}

async function matchOnCode(): Promise<void> {
  const session = await memorySession();
  const code: ErrorCode = "ERR_CONFLICT";
  const attempt = session.append({ type: "custom", customType: "x" }, { expectedTail: "none" });
  await assert.rejects(attempt, (error) => isBranchlogError(error, code) && error.tail === null);
}

function useDropIn(): void {
  const manager = SessionManager.inMemory(folder);
  const id = manager.appendMessage({ role: "user", content: "Hello", timestamp: 0 });
  assert.equal(manager.getLeafId(), id);
  const omp = OmpSessionManager.inMemory(folder);
  omp.appendModelChange("anthropic/claude-sonnet-4-5");
  const { models } = omp.buildSessionContext();
  assert.deepEqual(models, { default: "anthropic/claude-sonnet-4-5" });
}

async function keepTurns(): Promise<void> {
  const path = join(folder, "oo.yaml");
  const session = await createConnectonion(path, { name: "oo", systemPrompt: "Be brief." });
  const facts = { model: "co/x", duration_ms: 1, tokens: 2, cost: 0.0003, tools_called: [] };
  await session.appendTurn({ input: "Hello", result: "Hi", ...facts }, []);
  assert.equal(session.turns[0]?.input, "Hello");
}

async function streamLines(): Promise<void> {
  const path = join(folder, "lines.jsonl");
  writeFileSync(path, '{"a":1}\n');
  for await (const record of records(path)) assert.ok(record.ok && record.value["a"] === 1);
}

async function useTools(): Promise<void> {
  const path = join(folder, "tools.jsonl");
  const session = await createSession(path);
  assert.ok((await verifySession(session)).ok);
  assert.ok((await exportMarkdown(path, join(folder, "tools.md"))).sizeBytes > 0);
  assert.equal(typeof new ManualClock().now(), "number");
}

async function subscribe(): Promise<void> {
  const session = await memorySession();
  await session.setName("consumer");
  const name = await new Promise((resolve, reject) => {
    live(session).name$.subscribe({ next: ({ value }) => resolve(value), error: reject });
  });
  assert.equal(name, "consumer");
  await session.close();
}

try {
  await appendAndRead();
  await misspellType();
  await matchOnCode();
  useDropIn();
  await keepTurns();
  await streamLines();
  await useTools();
  await subscribe();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
