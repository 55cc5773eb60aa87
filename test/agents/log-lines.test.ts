/** Logs that are made of documents of agents. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openSession } from "@branchlog/core";
import { findSessions } from "@branchlog/library";
import { LogLines, headerOf } from "../../packages/agents/src/log-lines.ts";
import { unclaimed } from "../../packages/agents/src/goose/goose-usage.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const row = { id: "s", parentId: undefined, directory: "/w", name: undefined, createdMs: 0 };

it("damaged text never becomes an entry, also if it is JSON of one", async () => {
  const lines = new LogLines("2026-01-01T00:00:00.000Z");
  const message = { role: "user", content: "injected", timestamp: 0 };
  lines.addDamaged(JSON.stringify({ type: "message", id: "m", parentId: null, message }));
  lines.addDamaged("");
  lines.addDamaged("torn {");
  lines.add("own", { type: "custom", customType: "x" });
  const path = join(temporaryDirectory(), "s.jsonl");
  writeFileSync(path, lines.log(headerOf(row)));
  const session = await openSession(path, { access: "read" });
  const damaged = session.diagnostics.map(({ kind }) => kind);
  expect([session.revision, damaged]).toEqual([1, ["bad-line", "bad-line", "bad-line"]]);
  await session.close();
});

it("a session of pi in a directory of goose's name is not taken for one of goose", async () => {
  const directory = join(temporaryDirectory(), "data", "sessions");
  mkdirSync(directory, { recursive: true });
  const header = { type: "session", version: 3, id: "of-pi", timestamp: "", cwd: "/w" };
  const content = "What are working_dir and message_count?";
  const message = { role: "user", content, timestamp: 0 };
  const entry = { type: "message", id: "m", parentId: null, timestamp: "", message };
  const text = [header, entry].map((line) => `${JSON.stringify(line)}\n`).join("");
  writeFileSync(join(directory, "mine.jsonl"), text);
  const { sessions } = await findSessions([directory], { catalog: "off" });
  expect(sessions.map((one) => [one.header.id, one.transcript])).toEqual([["of-pi", undefined]]);
});

it("each answer of goose claims one request of the ledger, in linear time", () => {
  const spent = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, cost: 0 };
  const facts = { row: 0, createdMs: 0, model: undefined };
  const request = { ...facts, spent, isCarried: false, isCompaction: false };
  const ledger = Array.from({ length: 200_000 }, () => request);
  const usage = { inputTokens: 1, outputTokens: 2 };
  const answers = Array.from({ length: 199_999 }, () => ({ metadata: { usage } }));
  expect(unclaimed(ledger, answers)).toHaveLength(1);
});
