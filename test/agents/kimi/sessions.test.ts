/** A session of Kimi Code as its version 2.1.0 wrote it, with a model that answers by a script. */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { openSession } from "@branchlog/core";
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
