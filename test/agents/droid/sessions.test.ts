/** A session of Droid as its version 0.215.0 wrote it, with a model that answers by a script. */
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { openSession } from "@branchlog/core";
import { agentNamed } from "@branchlog/core/rows";
import { archiveSessions, findSessions, knownPlaces } from "@branchlog/library";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { fixturePath, messagesOf, promptsOf, readSession, toolsOf } from "../read-session.ts";

const fixture = "droid/droid-0.215.0.jsonl";
const id = "6c378d42-94d2-421d-aa58-5f4b2061e840";

afterEach(() => {
  vi.unstubAllEnvs();
});

describe("a session of Droid", () => {
  it("has prompts without the text that Droid adds, and results with the names of their tools", async () => {
    const { header, path } = await readSession(fixture);
    expect(header).toMatchObject({
      id,
      cwd: "/home/dev/shop",
      timestamp: "2026-11-29T08:15:10.426Z",
    });
    expect(promptsOf(path)).toEqual([
      "list: and view: what is here",
      "change: and fail: please",
      "delegate: please",
    ]);
    expect(toolsOf(path)).toEqual(["Execute", "Read", "Execute", "Edit", "Task"]);
    const failed = messagesOf(path, "toolResult").map(({ message }): unknown =>
      Reflect.get(message, "isError"),
    );
    expect(failed).toEqual([false, false, true, false, true]);
  });

  it("keeps the entries after the anchor of a compaction", async () => {
    const text = readFileSync(fixturePath(fixture), "utf8");
    const path = join(temporaryDirectory(), `${id}.jsonl`);
    const anchor = { id: "4fc09497-94ec-4f7d-bbd8-deba6d3a762b" };
    const compaction = {
      type: "compaction_state",
      id: "00000000-0000-4000-8000-000000000002",
      timestamp: "2026-11-29T08:16:00.000Z",
      summaryText: "The files were listed.",
      summaryTokens: 12,
      removedCount: 4,
      anchorMessage: anchor,
    };
    writeFileSync(path, `${text}${JSON.stringify(compaction)}\n`);
    const session = await openSession(path, { access: "read", checkpoint: "off" });
    try {
      const { messages } = await session.context();
      const [first, second] = messages;
      expect(first).toMatchObject({ role: "compactionSummary", summary: "The files were listed." });
      expect(second).toMatchObject({ content: [{ text: "change: and fail: please" }] });
      expect(messages).toHaveLength(10);
    } finally {
      await session.close();
    }
  });

  it("has each result once, also of a message without an id", async () => {
    const text = readFileSync(fixturePath(fixture), "utf8");
    const path = join(temporaryDirectory(), `${id}.jsonl`);
    const results = ["one", "two"].map((content, at) => {
      return { type: "tool_result", tool_use_id: `call_9_${at}`, content };
    });
    const content = [...results, { type: "text", text: "three" }];
    const record = { type: "message", message: { role: "user", content } };
    writeFileSync(path, `${text}${JSON.stringify(record)}\n`);
    const session = await openSession(path, { access: "read", checkpoint: "off" });
    try {
      const last = (await session.branch()).slice(-3).map((entry) => JSON.stringify(entry));
      const found = last.map((entry) => /one|two|three/.exec(entry)?.[0]);
      expect(found).toEqual(["one", "two", "three"]);
    } finally {
      await session.close();
    }
  });

  it("is listed with the sessions that it called below it, and archived with its settings", async () => {
    const home = temporaryDirectory();
    vi.stubEnv("FACTORY_HOME_OVERRIDE", home);
    const directory = join(home, ".factory", "sessions", "-home-dev-shop");
    mkdirSync(directory, { recursive: true });
    const path = join(directory, `${id}.jsonl`);
    const settings = join(directory, `${id}.settings.json`);
    copyFileSync(fixturePath(fixture), path);
    writeFileSync(settings, "{}");
    const called = "00000000-0000-4000-8000-000000000003";
    const start = { type: "session_start", id: called, title: "", owner: "unknown", version: 2 };
    const of = { callingSessionId: id, callingToolUseId: "call_5_0" };
    const calledPath = join(directory, `${called}.jsonl`);
    writeFileSync(calledPath, `${JSON.stringify({ ...start, ...of })}\n`);
    const places = [join(home, ".factory", "sessions")];
    expect(knownPlaces()).toContain(places[0]);
    const { sessions } = await findSessions(places, { artifacts: true, catalog: "off" });
    const facts = sessions.map(({ header, transcript }) => ({
      id: header.id,
      parent: header.parentSession,
      isSubagent: transcript?.isSubagent,
    }));
    expect(facts).toContainEqual({ id, parent: undefined, isSubagent: false });
    expect(facts).toContainEqual({ id: called, parent: id, isSubagent: true });
    expect(agentNamed("droid")?.resume({ id, path })).toEqual(["droid", "--resume", id]);
    const { failures } = await archiveSessions([path], {
      dataDir: temporaryDirectory(),
      force: true,
    });
    expect(failures).toEqual([]);
    expect([path, settings, calledPath].filter((file) => existsSync(file))).toEqual([]);
  });
});
