/** Rollouts of Codex that begin with a copy of another session: what that spent counts there only. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findSessions } from "@branchlog/library";
import { openSession } from "@branchlog/core";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { linesOf } from "../copies/session-files.ts";

const startedMs = Date.UTC(2026, 8, 1, 12);
const timestamp = (second: number): string => new Date(startedMs + second * 1000).toISOString();

interface Copied {
  readonly ordinal: number;
  readonly second: number;
}

function spent(tokens: number, total: number, { ordinal, second }: Copied): object {
  const last_token_usage = { input_tokens: tokens, output_tokens: 0, total_tokens: tokens };
  const info = { last_token_usage, total_token_usage: { total_tokens: total } };
  return {
    timestamp: timestamp(second),
    ordinal,
    type: "event_msg",
    payload: { type: "token_count", info },
  };
}

function said(text: string, { ordinal, second }: Copied): object {
  const content = [{ type: "output_text", text }];
  const payload = { type: "message", role: "assistant", content };
  return { timestamp: timestamp(second), ordinal, type: "response_item", payload };
}

async function tokensOf(
  meta: object,
  secondOfCopy: number,
): Promise<[listed: number, own: number]> {
  const directory = temporaryDirectory();
  const path = join(
    directory,
    "rollout-2026-09-01T12-00-00-0199aaaa-0000-7000-8000-000000000001.jsonl",
  );
  const id = "0199aaaa-0000-7000-8000-000000000001";
  const payload = { id, timestamp: timestamp(0), cwd: "/w", ...meta };
  writeFileSync(
    path,
    linesOf([
      { timestamp: timestamp(0), ordinal: 0, type: "session_meta", payload },
      said("Of the parent.", { ordinal: 1, second: secondOfCopy }),
      spent(5000, 5000, { ordinal: 2, second: secondOfCopy }),
      said("Of its own.", { ordinal: 3, second: 5 }),
      spent(30, 5030, { ordinal: 4, second: 6 }),
    ]),
  );
  const { sessions } = await findSessions([directory], { artifacts: true });
  await using session = await openSession(path);
  expect((await session.branch()).filter(({ type }) => type === "message")).toHaveLength(2);
  return [sessions[0]?.usage?.total.totalTokens ?? 0, (await session.usage).total.totalTokens];
}

describe("usage of a copied history", () => {
  const spawned = { subagent: { thread_spawn: { parent_thread_id: "0199bbbb" } } };

  it("is not counted for a subagent with a recorded start of its own history", async () => {
    const meta = { source: spawned, subagent_history_start_ordinal: 3 };
    expect(await tokensOf(meta, 1)).toEqual([30, 30]);
  });

  it("is not counted for a fork, whose copied records are older than it is", async () => {
    expect(await tokensOf({ forked_from_id: "0199bbbb" }, -60)).toEqual([30, 30]);
  });

  it("is counted for a session that copies nothing", async () => {
    expect(await tokensOf({ source: "cli" }, -60)).toEqual([5030, 5030]);
  });
});
