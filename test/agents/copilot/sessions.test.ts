/** Sessions of Copilot CLI as three of its versions wrote them, with a model that answers by a script. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { forkSession, openSession } from "@branchlog/core";
import { agentNamed } from "@branchlog/core/rows";
import { findSessions, knownPlaces, searchSessions } from "@branchlog/library";
import { collected } from "../../support/collected.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { writeLines } from "../../library/catalog/session-lines.ts";
import { fixturePath, messagesOf, promptsOf, readSession, toolsOf } from "../read-session.ts";
import type { StoredTokens } from "../read-session.ts";

const read = (name: string): ReturnType<typeof readSession> => readSession(`copilot/${name}.jsonl`);

interface StoredEvent {
  readonly type: string;
  readonly data: {
    readonly usage?: StoredUsage;
    readonly compactionTokensUsed?: StoredUsage;
    readonly modelMetrics?: Readonly<Record<string, { readonly usage: StoredUsage }>>;
  };
}

interface StoredUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** By other means than ours: of each request, where they are recorded, else of each run. */
function storedTokens(name: string): StoredTokens {
  const text = readFileSync(fixturePath(`copilot/${name}.jsonl`), "utf8");
  const events = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as StoredEvent);
  const requests = events.flatMap(({ data }) => [
    ...(data.usage === undefined ? [] : [data.usage]),
    ...(data.compactionTokensUsed === undefined ? [] : [data.compactionTokensUsed]),
  ]);
  const runs = events.flatMap(({ data }) => Object.values(data.modelMetrics ?? {}));
  const all = requests.length > 0 ? requests : runs.map(({ usage }) => usage);
  return {
    input: all.reduce((sum, { inputTokens }) => sum + inputTokens, 0),
    output: all.reduce((sum, { outputTokens }) => sum + outputTokens, 0),
  };
}

afterEach(() => {
  vi.unstubAllEnvs();
});

describe("a session of Copilot CLI", () => {
  it.each(["copilot-1.0.20", "copilot-1.0.60", "copilot-1.0.102", "shell-command"])(
    "counts each token once, by the records of %s",
    async (name) => {
      const { tokens } = await read(name);
      expect(tokens).toEqual(storedTokens(name));
      expect(tokens.input).toBeGreaterThan(0);
    },
  );

  it("has prompts, answers with calls, and results with display text", async () => {
    const { path } = await read("copilot-1.0.102");
    expect(promptsOf(path)).toEqual([
      "list: which files are here?",
      "view: show the rate",
      "change: raise the rate",
      "fail: show a missing file",
      "both: say one and two",
      "delegate: find where rates are used",
      "view: again the rate",
      "list: and the files",
    ]);
    const results = messagesOf(path, "toolResult").map(({ message }) => message);
    expect(toolsOf(path)).toEqual([
      "bash",
      "view",
      "edit",
      "bash",
      "bash",
      "bash",
      "task",
      "view",
      "bash",
    ]);
    expect(JSON.stringify(results[2])).toContain("+export const vat = 0.20;");
    expect(JSON.stringify(results[3])).toContain('"exitCode":1');
  });

  it.each(["copilot-1.0.20", "copilot-1.0.60", "copilot-1.0.102"])(
    "has the entries of a subagent on a branch below its call, in %s",
    async (name) => {
      const { entries, path } = await read(name);
      const onPath = new Set(path.map(({ id }) => id));
      const beside = entries.filter(({ id }) => !onPath.has(id));
      const started = beside.find(
        (entry) => entry.type === "custom" && entry.customType === "copilot.subagent.started",
      );
      const call = path.find(({ id }) => id === started?.parentId);
      expect(JSON.stringify(call)).toContain('"name":"task"');
      expect(messagesOf(beside, "assistant").length).toBe(2);
      expect(messagesOf(beside, "user")).toEqual([]);
    },
  );

  it("has a compaction that keeps no entries", async () => {
    const { path } = await read("copilot-1.0.102");
    const [compaction] = path.filter(({ type }) => type === "compaction");
    expect(compaction).toMatchObject({ firstKeptEntryId: compaction?.id, tokensBefore: 5396 });
  });

  it("has a command that the user ran", async () => {
    const { path } = await read("shell-command");
    const [run] = messagesOf(path, "bashExecution");
    expect(run?.message).toMatchObject({
      command: "ls -a",
      exitCode: 0,
      output: ".\n..\n.git\nvat.ts",
    });
  });
});

it("Copilot CLI keeps sessions in its home, one a directory with the name that a user gave", async () => {
  const home = temporaryDirectory();
  vi.stubEnv("COPILOT_HOME", home);
  const id = "5ae96c50-ccb4-456a-b56f-17653f833540";
  const directory = join(home, "session-state", id);
  mkdirSync(directory, { recursive: true });
  writeFileSync(
    join(directory, "events.jsonl"),
    readFileSync(fixturePath("copilot/copilot-1.0.102.jsonl")),
  );
  const named = async (workspace: string): Promise<string | undefined> => {
    writeFileSync(join(directory, "workspace.yaml"), workspace);
    const { sessions } = await findSessions([join(home, "session-state")], { catalog: "off" });
    return sessions[0]?.name;
  };
  expect(knownPlaces()).toContain(join(home, "session-state"));
  expect(await named("name: 'Rates: all of them'\nuser_named: true\n")).toBe("Rates: all of them");
  expect(await named("name: list the files\nuser_named: false\n")).toBeUndefined();
  expect(await named("name: [\n")).toBeUndefined();
  expect(agentNamed("copilot")?.resume({ id, path: directory })).toEqual([
    "copilot",
    `--resume=${id}`,
  ]);
});

describe("events of Copilot CLI in other orders", () => {
  let events = 0;

  function event(type: string, data: object, agentId?: string): object {
    events += 1;
    const parentId = events === 1 ? null : `e${events - 1}`;
    const timestamp = new Date(Date.UTC(2026, 0, 1) + events * 1000).toISOString();
    const agent = agentId === undefined ? {} : { agentId };
    return { type, data, ...agent, id: `e${events}`, timestamp, parentId };
  }

  const start = (): object => {
    events = 0;
    return event("session.start", { sessionId: "a1b2c3", version: 1, context: { cwd: "/work" } });
  };
  const prompt = (content: string): object => event("user.message", { content });
  const answer = (content: string, more: object = {}, agentId?: string): object =>
    event("assistant.message", { content, model: "m", ...more }, agentId);
  const request = (apiCallId: string, tokens: number, agentId?: string): object => {
    const usage = { model: "m", inputTokens: tokens, outputTokens: 1, apiCallId };
    return event("session.usage_record", { usage }, agentId);
  };

  async function tokensOf(lines: readonly object[]): Promise<readonly (number | undefined)[]> {
    const path = writeLines(temporaryDirectory(), "events.jsonl", lines);
    const session = await openSession(path, { access: "read", checkpoint: "off" });
    const opened = (await session.usage).total.totalTokens;
    await session.close();
    const { sessions } = await findSessions([dirname(path)], { catalog: "off" });
    return [opened, sessions[0]?.usage?.total.totalTokens];
  }

  it("keep the entries before a failed compaction, also in a copy", async () => {
    const failed = { success: false, error: "no room" };
    const path = writeLines(temporaryDirectory(), "events.jsonl", [
      start(),
      prompt("one"),
      answer("first"),
      event("session.compaction_complete", failed),
      prompt("two"),
      answer("second"),
    ]);
    const target = join(temporaryDirectory(), "copy.jsonl");
    await forkSession(path, { target });
    for (const one of [path, target]) {
      const session = await openSession(one, { access: "read", checkpoint: "off" });
      expect((await session.context()).messages.length).toBe(4);
      await session.close();
    }
  });

  it("count an answer once, wherever the record of its request is", async () => {
    const spent = (apiCallId: string): object => ({ apiCallId, outputTokens: 1 });
    const agents = [start(), prompt("both"), answer("I delegate.")];
    for (const agent of ["x", "y"]) {
      agents.push(event("subagent.started", { toolCallId: agent }, agent));
    }
    agents.push(request("r1", 20, "x"), request("r2", 20, "y"));
    agents.push(answer("of x", spent("r1"), "x"), answer("of y", spent("r2"), "y"));
    expect(await tokensOf(agents)).toEqual([42, 42]);
    const without = [start(), prompt("one"), request("r1", 10), prompt("two")];
    expect(await tokensOf([...without, answer("late", spent("r1"))])).toEqual([11, 11]);
  });

  it("name the tool of each result, however many calls there are", async () => {
    const calls = Array.from({ length: 60 }, (_, at) => `c${at}`);
    const toolRequests = calls.map((toolCallId) => ({ toolCallId, name: "grep", arguments: {} }));
    const path = writeLines(temporaryDirectory(), "events.jsonl", [
      start(),
      prompt("many"),
      answer("", { toolRequests }),
      ...calls.map((toolCallId) => event("tool.execution_start", { toolCallId })),
      ...calls.map((toolCallId) =>
        event("tool.execution_complete", {
          toolCallId,
          success: true,
          result: { content: "needle" },
        }),
      ),
    ]);
    const found = await collected(searchSessions([dirname(path)], "needle", { tool: "grep" }));
    expect(found.length).toBe(calls.length);
  });

  it("are not a session when other programs write similar records", async () => {
    const order = { type: "order.created", id: "1", parentId: null, data: {} };
    const path = writeLines(temporaryDirectory(), "events.jsonl", [order, order]);
    const { sessions } = await findSessions([dirname(path)], { catalog: "off" });
    expect(sessions).toEqual([]);
  });

  it("have no exit code when it is unknown", async () => {
    const ran = { toolCallId: "c1", toolName: "local_shell", arguments: { command: "ls" } };
    const end = { toolCallId: "c1", isUserRequested: true, success: false };
    const path = writeLines(temporaryDirectory(), "events.jsonl", [
      start(),
      event("tool.user_requested", ran),
      event("tool.execution_complete", { ...end, error: { message: "boom" } }),
    ]);
    const session = await openSession(path, { access: "read", checkpoint: "off" });
    const [, run] = await session.branch();
    await session.close();
    expect(run).toMatchObject({ message: { command: "ls", output: "boom" } });
    expect(JSON.stringify(run)).not.toContain("exitCode");
  });
});
