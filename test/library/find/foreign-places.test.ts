/** Transcripts of Claude Code and Codex in lists, from directories as these agents keep them. */
import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  rmSync,
  rmdirSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { findSessions, sessionGroups } from "@branchlog/library";
import { SessionManager } from "@branchlog/agents/pi";
import { sessions$ } from "@branchlog/library/live";
import { firstValueFrom, map, filter } from "rxjs";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { directoryState } from "../../support/directory-state.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const fixtures = join(import.meta.dirname, "../../../fixtures");
const sessionId = "c1a0de00-0000-4000-8000-000000000001";

function claudeDirectory(): string {
  const root = temporaryDirectory();
  const project = join(root, "-home-dev-shop");
  mkdirSync(project);
  copyFileSync(join(fixtures, "claude/conversation.jsonl"), join(project, `${sessionId}.jsonl`));
  return root;
}

/** A transcript of a subagent of that session, as Claude Code writes it. */
function subagentLines(agentId: string, text: string, tokens: number): string {
  const shared = {
    sessionId,
    agentId,
    isSidechain: true,
    cwd: "/home/dev/shop",
    timestamp: "2025-11-03T10:00:05.000Z",
  };
  const usage = { input_tokens: tokens, output_tokens: 1 };
  const message = { id: `msg_${agentId}`, model: "claude-haiku-4-5", usage };
  return [
    { ...shared, type: "user", uuid: `${agentId}-1`, parentUuid: null, message: { content: text } },
    {
      ...shared,
      type: "assistant",
      uuid: `${agentId}-2`,
      parentUuid: `${agentId}-1`,
      message: { ...message, content: [{ type: "text", text: "Done." }] },
    },
  ]
    .map((record) => `${JSON.stringify(record)}\n`)
    .join("");
}

async function listed(root: string, options = {}) {
  return (await findSessions([root], options)).sessions;
}

describe("a transcript of Claude Code", () => {
  it("is listed with title, messages, models and tokens; nothing is written next to it", async () => {
    const root = claudeDirectory();
    const before = directoryState(root);
    for (const catalog of ["auto", "auto", "read"] as const) {
      const [session] = await listed(root, { catalog });
      expect(session).toMatchObject({
        header: { id: sessionId, cwd: "/home/dev/shop" },
        name: "Checkout clock",
        summary: { messageCount: 9, firstMessage: "Why does the checkout test fail?" },
        usage: { total: { totalTokens: 3566 } },
        transcript: { of: "claude", isSubagent: false },
      });
      expect(session?.usage?.models).toEqual(["claude-sonnet-4-5", "claude-opus-4-5"]);
    }
    expect(directoryState(root)).toEqual(before);
  });

  it("counts its subagents as its own, once, wherever their files are", async () => {
    const root = claudeDirectory();
    const [alone] = await listed(root);
    const project = join(root, "-home-dev-shop");
    mkdirSync(join(project, sessionId, "subagents"), { recursive: true });
    const below = join(project, sessionId, "subagents", "agent-b2.jsonl");
    writeFileSync(join(project, "agent-a1.jsonl"), subagentLines("a1", "Look.", 1000));
    writeFileSync(below, subagentLines("b2", "Count.", 300));
    const sessions = await listed(root);
    expect(sessions.map(({ header }) => header.id)).toEqual([sessionId]);
    const own = alone?.usage?.total.totalTokens ?? Number.NaN;
    expect(sessions[0]?.usage?.total.totalTokens).toBe(own + 1001 + 301);
    expect(sessions[0]?.usage?.models.at(-1)).toBe("claude-haiku-4-5");

    const all = await listed(root, { artifacts: true });
    const [group] = sessionGroups(all);
    expect(group?.sessions.map(({ session, depth }) => [session.header.id, depth])).toEqual([
      [sessionId, 0],
      [`${sessionId}.a1`, 1],
      [`${sessionId}.b2`, 1],
    ]);
    expect(all.find(({ header }) => header.id === sessionId)?.usage?.total.totalTokens).toBe(own);
  });

  it("is not among the sessions of pi in the same directory", async () => {
    const project = join(claudeDirectory(), "-home-dev-shop");
    expect(await SessionManager.list("/home/dev/shop", project)).toEqual([]);
  });

  it("is followed as it grows, also through a partial line", async () => {
    const project = join(claudeDirectory(), "-home-dev-shop");
    const path = join(project, `${sessionId}.jsonl`);
    const lists = sessions$(project, { pollMs: 20 }).pipe(
      map(({ sessions }) => sessions[0]?.summary.messageCount ?? 0),
    );
    expect(await firstValueFrom(lists.pipe(filter((count) => count > 0)))).toBe(9);
    const next = firstValueFrom(lists.pipe(filter((count) => count > 9)));
    const line = subagentLines("c3", "And now?", 5).split("\n", 1)[0] ?? "";
    appendFileSync(path, line.slice(0, 40));
    appendFileSync(path, `${line.slice(40)}\n`);
    expect(await next).toBe(10);
  });

  it("is among the sessions of several directories, also in later ones", async () => {
    const [claude, codex] = [claudeDirectory(), join(temporaryDirectory(), "sessions")];
    const lists = sessions$([claude, codex], { pollMs: 20 });
    const waitFor = (ids: readonly string[]): Promise<unknown> =>
      firstValueFrom(
        lists.pipe(
          filter(({ sessions }) => ids.every((id) => sessions.some((one) => one.header.id === id))),
        ),
      );
    await waitFor([sessionId]);
    const later = waitFor([sessionId, "019aed00-0000-7000-8000-000000000001"]);
    const day = join(codex, "2025/11/03");
    mkdirSync(day, { recursive: true });
    copyFileSync(join(fixtures, "codex/conversation.jsonl"), join(day, "rollout-1.jsonl"));
    await later;
  });

  it.each([
    ["<command-name>/clear</command-name>\n<command-args></command-args>", "Then this."],
    ["Caveat: The messages below were generated by the user while running", "Then this."],
    ["<system-reminder>Be brief.</system-reminder> Fix it.", "Fix it."],
    ["<b>Bold</b> is broken", "<b>Bold</b> is broken"],
  ])("has the first user text as title: %s", async (text, title) => {
    const root = temporaryDirectory();
    const [first = ""] = subagentLines("a", text, 1).split("\n");
    const second = first.replace('"a-1"', '"a-9"').replace(JSON.stringify(text), '"Then this."');
    writeFileSync(
      join(root, "s.jsonl"),
      `${first}\n${second}\n`.replaceAll(',"isSidechain":true', ""),
    );
    const [session] = await listed(root);
    expect(session?.summary.firstMessage).toBe(title);
  });
});

describe("a place of another agent", () => {
  const text = "x".repeat(2 * 1024 * 1024);

  it.each<readonly [name: string, record: unknown]>([
    ["records of an agent that is not known", ["event", text]],
    ["a transcript that names no session", { type: "summary", summary: text, leafUuid: "u" }],
  ])("gets no catalog when it holds only %s", async (_name, record) => {
    const root = temporaryDirectory();
    writeFileSync(join(root, "log.jsonl"), `${JSON.stringify(record)}\n`);
    const before = directoryState(root);
    expect(await listed(root)).toEqual([]);
    expect(directoryState(root)).toEqual(before);
    expect(await SessionManager.list("/w", root)).toEqual([]);
    expect(directoryState(root)).toEqual(before);
  });

  it.each(["CLAUDE_CONFIG_DIR", "CODEX_HOME"])(
    "by %s is not written to by any list, also with sessions of pi in it",
    async (variable) => {
      const home = temporaryDirectory();
      const project = join(home, variable === "CODEX_HOME" ? "sessions" : "projects", "p");
      mkdirSync(project, { recursive: true });
      vi.stubEnv(variable, home);
      onTestFinished(() => void vi.unstubAllEnvs());
      const header = { type: "session", version: 3, id: "s", timestamp: "", cwd: "/w" };
      writeFileSync(join(project, "s.jsonl"), `${JSON.stringify(header)}\n{"text":"${text}"}\n`);
      mkdirSync(join(project, "gone.jsonl.branchlog-queue"));
      const before = directoryState(project);
      expect(await listed(home)).toHaveLength(1);
      const lists = sessions$(project).pipe(filter(({ status }) => status.kind === "live"));
      expect((await firstValueFrom(lists)).sessions).toHaveLength(1);
      await SessionManager.list("/w", project);
      expect(directoryState(project)).toEqual(before);
      vi.unstubAllEnvs();
      expect(await listed(home)).toHaveLength(1);
      expect(directoryState(project)).not.toEqual(before);
    },
  );

  it("replaced by a file is reported by a live list, and read again", async () => {
    const root = temporaryDirectory();
    const place = join(root, "sessions");
    mkdirSync(place);
    const seen = sessions$([place], { pollMs: 20 });
    const waitFor = (kind: string): Promise<unknown> =>
      firstValueFrom(seen.pipe(filter(({ status }) => status.kind === kind)));
    await waitFor("live");
    rmdirSync(place);
    writeFileSync(place, "");
    await waitFor("stalled");
    rmSync(place);
    mkdirSync(place);
    await waitFor("live");
  });
});

describe("a rollout of Codex", () => {
  it("is listed in its directory by date, and its forks below it", async () => {
    const root = temporaryDirectory();
    const day = join(root, "sessions/2025/11/03");
    mkdirSync(day, { recursive: true });
    const lines = readFileSync(join(fixtures, "codex/conversation.jsonl"), "utf8");
    writeFileSync(join(day, "rollout-a.jsonl"), lines);
    const [meta = "", ...rest] = lines.split("\n");
    const record = JSON.parse(meta) as { payload: { id: string } };
    const fork = { ...record.payload, id: "fork", forked_from_id: record.payload.id };
    const forkMeta = JSON.stringify({ ...record, payload: fork });
    writeFileSync(join(day, "rollout-b.jsonl"), [forkMeta, ...rest].join("\n"));
    const before = directoryState(root);
    const sessions = await listed(root);
    expect(directoryState(root)).toEqual(before);
    expect(sessions[0]?.transcript).toMatchObject({ of: "codex", isSubagent: false });
    const [group] = sessionGroups(sessions);
    expect(group?.sessions.map(({ session, depth }) => [session.header.id, depth])).toEqual([
      [record.payload.id, 0],
      ["fork", 1],
    ]);
  });

  it("of a subagent counts as part of the session that started it", async () => {
    const root = temporaryDirectory();
    const lines = readFileSync(join(fixtures, "codex/conversation.jsonl"), "utf8");
    writeFileSync(join(root, "rollout-a.jsonl"), lines);
    const [alone] = await listed(root);
    const [meta = "", ...rest] = lines.split("\n");
    const record = JSON.parse(meta) as { payload: { id: string } };
    const source = {
      subagent: { thread_spawn: { parent_thread_id: record.payload.id, depth: 1 } },
    };
    const child = { ...record, payload: { ...record.payload, id: "child", source } };
    writeFileSync(join(root, "rollout-b.jsonl"), [JSON.stringify(child), ...rest].join("\n"));
    const sessions = await listed(root);
    expect(sessions.map(({ header }) => header.id)).toEqual([record.payload.id]);
    expect(sessions[0]?.usage?.total.totalTokens).toBe(
      2 * (alone?.usage?.total.totalTokens ?? Number.NaN),
    );
  });
});
