/** A session of Kimi Code as its version 2.1.0 wrote it, with a model that answers by a script. */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { openSession } from "@branchlog/core";
import type { SessionEntry } from "@branchlog/core";
import { agentNamed } from "@branchlog/core/rows";
import { findSessions, knownPlaces } from "@branchlog/library";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { collected } from "../../support/collected.ts";
import { fixturePath, messagesOf, promptsOf, readSession, toolsOf } from "../read-session.ts";

const fixture = "kimi/kimi-2.1.0.jsonl";

afterEach(() => {
  vi.unstubAllEnvs();
});

describe("a session of Kimi Code", () => {
  it("counts each token once, by the records of its requests", async () => {
    const text = readFileSync(fixturePath(fixture), "utf8");
    // By other means than ours.
    const sums = { input: 0, output: 0 };
    const form =
      /^\{"type":"usage\.record".*"inputOther":(\d+),"output":(\d+),"inputCacheRead":(\d+)/;
    for (const line of text.split("\n")) {
      const [, other = "0", output = "0", read = "0"] = form.exec(line) ?? [];
      sums.input += Number(other) + Number(read);
      sums.output += Number(output);
    }
    const { tokens } = await readSession(fixture);
    expect(tokens).toEqual(sums);
    expect(tokens).toEqual({ input: 12_272, output: 512 });
  });

  it("continues from before the undone entries, which stay as a branch", async () => {
    const { path, entries } = await readSession(fixture);
    expect(promptsOf(path)).toEqual([
      "list: and view: what is in the shop?",
      "change: and fail: please",
      "delegate: where are the rates?",
      "a second try",
      "and in the end",
    ]);
    expect(promptsOf(entries)).toContain("what of the first try");
    expect(promptsOf(entries)).toContain("list: after it");
    expect(toolsOf(path)).toEqual(["Bash", "Read", "Bash", "Edit", "Agent"]);
    const failed = messagesOf(path, "toolResult").map(({ message }): unknown =>
      Reflect.get(message, "isError"),
    );
    expect(failed).toEqual([false, false, true, false, false]);
    const [compaction] = path.filter(({ type }) => type === "compaction");
    expect(compaction).toMatchObject({
      summary: "Summary: the files were listed and changed.",
      tokensBefore: 20_956,
    });
  });

  it("joins the parts of an answer, for the model and in turns", async () => {
    const options = { access: "read", checkpoint: "off" } as const;
    const session = await openSession(fixturePath(fixture), options);
    try {
      const { messages } = await session.context();
      expect(messages.map(({ role }) => role)).toEqual(["compactionSummary", "user", "assistant"]);
      expect(messages.at(-1)).toMatchObject({
        content: [
          { type: "thinking", thinking: "Thinking about it." },
          { type: "text", text: "Answer 29 to: and in the end" },
        ],
      });
    } finally {
      await session.close();
    }
  });

  it("keeps a prompt that was compacted before its answer", async () => {
    const lines = readFileSync(fixturePath(fixture), "utf8").trimEnd().split("\n");
    const compaction = lines.find((line) => line.includes('"context.apply_compaction"')) ?? "";
    const path = join(temporaryDirectory(), "wire.jsonl");
    // Before the answers of the last prompt.
    const at = lines.findLastIndex((line) => line.startsWith('{"type":"context.append_message"'));
    writeFileSync(path, `${[...lines.slice(0, at + 1), compaction].join("\n")}\n`);
    const session = await openSession(path, { access: "read", checkpoint: "off" });
    try {
      const { messages } = await session.context();
      expect(messages.map(({ role }) => role)).toEqual(["compactionSummary", "user"]);
      expect(messages.at(-1)).toMatchObject({ content: [{ text: "and in the end" }] });
    } finally {
      await session.close();
    }
  });

  it("restarts after a cleared context, with the earlier entries as a branch", async () => {
    const lines = readFileSync(fixturePath(fixture), "utf8").trimEnd().split("\n");
    const last = lines.findLastIndex((line) => line.startsWith('{"type":"turn.prompt"'));
    const path = join(temporaryDirectory(), "wire.jsonl");
    const clear = '{"type":"context.clear","agentId":"main","time":1795940539000}';
    writeFileSync(path, `${lines.toSpliced(last, 0, clear).join("\n")}\n`);
    const session = await openSession(path, { access: "read", checkpoint: "off" });
    try {
      expect(promptsOf(await session.branch())).toEqual(["and in the end"]);
      expect(promptsOf(await collected(session.entries()))).toHaveLength(7);
    } finally {
      await session.close();
    }
  });

  it("goes back by the prompts of an undo without a switch", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 4 }), async (count) => {
        const lines = readFileSync(fixturePath(fixture), "utf8").trimEnd().split("\n");
        const end = lines.findIndex((line) => line.startsWith('{"type":"agent.switched"'));
        const undo = JSON.stringify({ type: "context.undo", agentId: "main", count, time: 1 });
        const path = join(temporaryDirectory(), "wire.jsonl");
        writeFileSync(path, `${[...lines.slice(0, end), undo].join("\n")}\n`);
        const session = await openSession(path, { access: "read", checkpoint: "off" });
        try {
          expect(promptsOf(await session.branch())).toHaveLength(4 - count);
        } finally {
          await session.close();
        }
      }),
    );
  });

  it("goes back before a prompt that a damaged file repeats", async () => {
    const lines = readFileSync(fixturePath(fixture), "utf8").trimEnd().split("\n");
    const end = lines.findIndex((line) => line.startsWith('{"type":"agent.switched"'));
    const before = lines.slice(0, end);
    const prompt = before.findLast((line) => line.startsWith('{"type":"context.append_message"'));
    const undo = JSON.stringify({ type: "context.undo", agentId: "main", count: 1, time: 1 });
    const path = join(temporaryDirectory(), "wire.jsonl");
    writeFileSync(path, `${[...before, prompt ?? "", undo].join("\n")}\n`);
    const session = await openSession(path, { access: "read", checkpoint: "off" });
    try {
      expect(promptsOf(await session.branch())).toHaveLength(3);
    } finally {
      await session.close();
    }
  });

  it("has all entries when a time is out of range", async () => {
    const text = readFileSync(fixturePath(fixture), "utf8");
    const path = join(temporaryDirectory(), "wire.jsonl");
    let count = 0;
    // Of each third record, the first included.
    writeFileSync(
      path,
      text.replaceAll(/"(time|created_at)":\d+/g, (found, key: string) =>
        count++ % 3 === 0 ? `"${key}":1e300` : found,
      ),
    );
    const { entries } = await readSession(fixture);
    const session = await openSession(path, { access: "read", checkpoint: "off" });
    try {
      const found = await collected(session.entries());
      expect(found.map(({ id }) => id)).toEqual(entries.map(({ id }) => id));
    } finally {
      await session.close();
    }
  });

  it("is listed by the name that its user gave, with its subagents below it", async () => {
    const home = temporaryDirectory();
    vi.stubEnv("KIMI_CODE_HOME", home);
    const id = "session_e361c273-f638-41cc-8c93-2710a00dcdc6";
    const directory = join(home, "sessions", "wd_shop_77b27a6388c4", id);
    const copies = { main: fixture, "agent-0": "kimi/kimi-2.1.0-agent.jsonl" };
    for (const [agent, name] of Object.entries(copies)) {
      const path = join(directory, "agents", agent, "wire.jsonl");
      mkdirSync(dirname(path), { recursive: true });
      copyFileSync(fixturePath(name), path);
    }
    const state = { title: "Rates of the shop", isCustomTitle: true };
    writeFileSync(join(directory, "state.json"), JSON.stringify(state));
    const places = [join(home, "sessions")];
    expect(knownPlaces()).toContain(places[0]);
    const { sessions } = await findSessions(places, { artifacts: true, catalog: "off" });
    const facts = sessions.map(({ header, name, transcript }) => ({
      id: header.id,
      name,
      cwd: header.cwd,
      parent: header.parentSession,
      isSubagent: transcript?.isSubagent,
    }));
    const cwd = "/home/dev/shop";
    expect(facts).toContainEqual({
      id,
      name: "Rates of the shop",
      cwd,
      parent: undefined,
      isSubagent: false,
    });
    expect(facts).toContainEqual({
      id: `${id}.agent-0`,
      name: undefined,
      cwd,
      parent: id,
      isSubagent: true,
    });
    expect(agentNamed("kimi")?.resume({ id: `${id}.agent-0`, path: "" })).toEqual([
      "kimi",
      "--session",
      id,
    ]);
  });
});

describe("a session of kimi-cli", () => {
  const bucket = "11e9fe063b91149eb10c6daf331adfaa";
  const id = "0b9f0a52-0000-4000-8000-000000000001";

  /** In a share directory. */
  function sessionIn(share: string): string {
    const path = join(share, "sessions", bucket, id, "wire.jsonl");
    const agent = join(dirname(path), "subagents/a1b2c3/wire.jsonl");
    mkdirSync(dirname(agent), { recursive: true });
    copyFileSync(fixturePath("kimi/kimi-cli-1.49.jsonl"), path);
    copyFileSync(fixturePath("kimi/kimi-cli-1.49-agent.jsonl"), agent);
    const context = { role: "user", content: [{ type: "text", text: "The rates are 5 and 7." }] };
    writeFileSync(join(dirname(path), "context.jsonl"), `${JSON.stringify(context)}\n`);
    return path;
  }

  async function entriesAt(path: string): Promise<readonly SessionEntry[]> {
    const session = await openSession(path, { access: "read", checkpoint: "off" });
    try {
      return await collected(session.entries());
    } finally {
      await session.close();
    }
  }

  it("has prompts, answers, results, a compaction, and the tokens of each request", async () => {
    const path = sessionIn(temporaryDirectory());
    const entries = await entriesAt(path);
    expect(promptsOf(entries)).toEqual(["Which rates are in the shop?", "Change the winter to 6."]);
    expect(messagesOf(entries, "assistant").map(({ message }) => message)).toMatchObject([
      {
        stopReason: "toolUse",
        content: [
          { type: "thinking" },
          { type: "text" },
          { id: "ReadFile:0", arguments: { path: "rates.txt" } },
          { id: "Shell:1", arguments: { input: '{"command":' } },
        ],
      },
      { stopReason: "stop" },
      { stopReason: "stop" },
    ]);
    expect(messagesOf(entries, "toolResult").map(({ message }) => message)).toMatchObject([
      { toolName: "ReadFile", isError: false, content: [{ text: "winter 5, summer 7" }] },
      { toolName: "Shell", isError: true, content: [{ text: "The arguments are no JSON." }] },
    ]);
    expect(entries.find(({ type }) => type === "compaction")).toMatchObject({
      summary: "The rates are 5 and 7.",
    });
    expect(entries.at(-1)).toMatchObject({ type: "custom", customType: "kimi.StepInterrupted" });
    const { sessions } = await findSessions([dirname(path)], { artifacts: true, catalog: "off" });
    expect(sessions.map(({ usage }) => usage?.total)).toMatchObject([
      { input: 550, output: 85, cacheRead: 1000 },
      { input: 999, output: 9, cacheRead: 0 },
    ]);
  });

  it("is listed with its directory and name, above its sub-agent", async () => {
    const share = temporaryDirectory();
    const path = sessionIn(share);
    vi.stubEnv("KIMI_SHARE_DIR", share);
    expect(knownPlaces()).toContain(join(share, "sessions"));
    writeFileSync(
      join(share, "kimi.json"),
      '{"work_dirs":[{"path":"/"},{"path":"/home/dev/shop"}]}',
    );
    writeFileSync(join(dirname(path), "state.json"), '{"custom_title":"Rates"}');
    const { sessions } = await findSessions([share], { artifacts: true, catalog: "off" });
    expect(sessions.map(({ header, name }) => [header.id, header.cwd, name])).toEqual([
      [id, "/home/dev/shop", "Rates"],
      [`${id}.a1b2c3`, "/home/dev/shop", undefined],
    ]);
    expect(sessions[1]).toMatchObject({ header: { parentSession: id } });
    expect(agentNamed("kimi")?.resume({ id, path })).toEqual(["kimi", "--session", id]);
  });

  it("is not listed once Kimi Code took it over", async () => {
    const [share, home] = [temporaryDirectory(), temporaryDirectory()];
    sessionIn(share);
    vi.stubEnv("KIMI_CODE_HOME", home);
    const ids = async (): Promise<readonly string[]> => {
      const { sessions } = await findSessions([share], { artifacts: true, catalog: "off" });
      return sessions.map(({ header }) => header.id);
    };
    expect((await ids()).length).toBe(2);
    mkdirSync(join(home, "sessions/wd_shop_1", `ses_${id}`), { recursive: true });
    expect(await ids()).toEqual([]);
  });

  it("has its other entries where a line is damaged, and an answer once it has ended", async () => {
    const path = sessionIn(temporaryDirectory());
    const good = await entriesAt(path);
    const lines = readFileSync(path, "utf8").trim().split("\n");
    for (const at of lines.keys()) {
      const bad = lines[at]?.slice(0, -9) ?? "";
      writeFileSync(path, [...lines.slice(0, at), bad, ...lines.slice(at + 1)].join("\n"));
      const found = new Set((await entriesAt(path)).map((entry) => entry.id));
      expect(good.filter((entry) => !found.has(entry.id)).length).toBeLessThanOrEqual(1);
    }
    const now = { timestamp: Date.now() / 1000 };
    const part = { type: "ContentPart", payload: { type: "text", text: "And" } };
    writeFileSync(path, [...lines, JSON.stringify({ ...now, message: part })].join("\n"));
    expect((await entriesAt(path)).length).toBe(good.length);
  });
});
