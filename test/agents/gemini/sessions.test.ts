/** A session of Gemini CLI as its program wrote it, with a model that answers by a script. */
import { copyFileSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { openSession } from "@branchlog/core";
import type { SessionEntry } from "@branchlog/core";
import { findSessions, searchSessions } from "@branchlog/library";
import { collected } from "../../support/collected.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { writeLines } from "../../library/catalog/session-lines.ts";
import { fixturePath, messagesOf, promptsOf, readSession, toolsOf } from "../read-session.ts";
import type { StoredTokens } from "../read-session.ts";

const fixture = "gemini/gemini-0.61.0.jsonl";

interface StoredMessage {
  readonly id?: string;
  readonly tokens?: { readonly input: number; readonly output: number; readonly thoughts: number };
}

/** By other means than ours: of each answer as it was written last. */
function storedTokens(): StoredTokens {
  const lines = readFileSync(fixturePath(fixture), "utf8").trimEnd().split("\n");
  const answers = new Map<string, StoredMessage["tokens"]>();
  for (const line of lines) {
    const { id, tokens } = JSON.parse(line) as StoredMessage;
    if (id !== undefined && tokens !== undefined) answers.set(id, tokens);
  }
  const all = [...answers.values()];
  return {
    input: all.reduce((sum, tokens) => sum + (tokens?.input ?? 0), 0),
    output: all.reduce((sum, tokens) => sum + (tokens?.output ?? 0) + (tokens?.thoughts ?? 0), 0),
  };
}

const idOf = (entry: SessionEntry | undefined): string | undefined => entry?.id;

describe("a session of Gemini CLI", () => {
  it("counts each token once, though answers are written again when they are updated", async () => {
    const { tokens } = await readSession(fixture);
    expect(tokens).toEqual(storedTokens());
  });

  it("has each prompt, call and result once, though lists repeat them", async () => {
    const { path, entries, header } = await readSession(fixture);
    const all = [
      "list: which files are here?",
      "change: raise the rate",
      "fail: show it",
      "both: say it",
      "delegate: where are the rates",
      "view: the rate",
      "list: files again",
    ];
    expect(promptsOf(entries).slice(0, all.length)).toEqual(all);
    const shell = "run_shell_command";
    const tools = [shell, "replace", shell, shell, shell, "read_file", shell, shell];
    expect(toolsOf(path)).toEqual(tools);
    expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length);
    expect(header.cwd).toBe("/home/dev/shop");
  });

  it("has rewound entries as a branch, and the compressed ones before its summary", async () => {
    const { path, entries } = await readSession(fixture);
    const onPath = new Set(path.map(({ id }) => id));
    const [rewound] = entries.filter(({ id }) => !onPath.has(id));
    expect(rewound?.id).toBe("461c4777-9331-4c3d-b339-1086fe3478d0");
    const again = path.find(({ parentId }) => parentId === rewound?.parentId);
    expect(promptsOf(again === undefined ? [] : [again])[0]).toContain("fail: and this");
    const at = path.findIndex(({ type }) => type === "compaction");
    expect(idOf(path[at])).toMatch(/^compressed:cca25d/);
    expect(promptsOf(path.slice(at))[0]).toBe("list: files again");
  });

  it("has commands that the user ran", async () => {
    const { entries } = await readSession(fixture);
    const runs = messagesOf(entries, "bashExecution").map(({ message }) => message);
    expect(runs).toMatchObject([
      { command: "ls", exitCode: 0, output: "vat.ts" },
      { command: "fail: and this", exitCode: 127 },
    ]);
  });
});

it("a subagent of Gemini CLI is below the session in whose directory it is", async () => {
  const id = "208108bc-e27f-47fb-9f7d-7e281f9de983";
  const chats = join(temporaryDirectory(), "chats");
  mkdirSync(join(chats, id), { recursive: true });
  const own = join(chats, "session-2026-11-29T05-07-208108bc.jsonl");
  copyFileSync(fixturePath("gemini/gemini-0.61.0-parent.jsonl"), own);
  const below = join(chats, id, "6b8eaf64-9d2e-4c7f-bcbe-40dacbbc3565.jsonl");
  copyFileSync(fixturePath("gemini/gemini-0.61.0-agent.jsonl"), below);
  const { sessions } = await findSessions([chats], { artifacts: true, catalog: "off" });
  const agent = sessions.find(({ path }) => path === below);
  expect(agent).toMatchObject({
    header: { parentSession: id, cwd: "/home/dev/shop" },
    transcript: { of: "gemini", isSubagent: true },
  });
  expect(sessions.some(({ header }) => header.id === id)).toBe(true);
});

describe("a chat of Gemini CLI in one JSON file", () => {
  const document = "gemini/session-0.30.0.json";

  it("has prompts, calls with results, and each token once", async () => {
    const { path, tokens } = await readSession(document);
    expect(promptsOf(path)).toEqual([
      "list: which files are here?",
      "change: raise the rate",
      "both: say it",
      "fail: show",
    ]);
    const shell = "run_shell_command";
    expect(toolsOf(path)).toEqual([shell, "replace", shell, shell, shell]);
    const chat = JSON.parse(readFileSync(fixturePath(document), "utf8")) as {
      readonly messages: readonly StoredMessage[];
    };
    const sum = (of: (tokens: NonNullable<StoredMessage["tokens"]>) => number): number =>
      chat.messages.reduce((all, message) => all + (message.tokens ? of(message.tokens) : 0), 0);
    expect(tokens.input).toBe(sum(({ input }) => input));
    expect(tokens.output).toBe(sum(({ output, thoughts }) => output + thoughts));
  });

  it("has the last version of a message that is stored twice", async () => {
    const chat = JSON.parse(readFileSync(fixturePath(document), "utf8")) as {
      readonly messages: StoredMessage[];
    };
    const before = (await readSession(document)).tokens;
    const at = chat.messages.findIndex(({ tokens }) => tokens !== undefined);
    const again = structuredClone<StoredMessage>(chat.messages[at] ?? {});
    Object.assign(again.tokens ?? {}, { input: (again.tokens?.input ?? 0) + 1000 });
    chat.messages.splice(at + 1, 0, again);
    const path = join(temporaryDirectory(), "session-x.json");
    writeFileSync(path, JSON.stringify(chat));
    await using session = await openSession(path, { access: "read" });
    const { total } = await session.usage;
    expect(total.input + total.cacheRead - before.input).toBe(1000);
    expect(total.output).toBe(before.output);
  });

  it("works in the directory that Gemini CLI wrote down, if it has its hash", async () => {
    const project = join(temporaryDirectory(), "shop");
    mkdirSync(join(project, "chats"), { recursive: true });
    const chat = join(project, "chats", "session-2026-11-29T04-49-709623df.json");
    copyFileSync(fixturePath(document), chat);
    const cwd = async (root: string): Promise<unknown> => {
      writeFileSync(join(project, ".project_root"), root);
      const { sessions } = await findSessions([project], { catalog: "off" });
      return sessions[0]?.header.cwd;
    };
    expect(await cwd("/home/dev/shop")).toBe("/home/dev/shop");
    expect(await cwd("/home/dev/other")).toBe("");
  });

  it("is reported, and not changed, while it is partly written", async () => {
    const path = join(temporaryDirectory(), "session-x.json");
    writeFileSync(path, readFileSync(fixturePath(document)).subarray(0, 3000));
    utimesSync(path, 1, 1);
    await expect(openSession(path, { access: "read" })).rejects.toMatchObject({
      code: "ERR_DOCUMENT_DAMAGED",
    });
  });
});

describe("records of Gemini CLI in other orders", () => {
  const at = "2026-01-01T00:00:00.000Z";
  const head = { sessionId: "a1b2c3", projectHash: "0", startTime: at, kind: "main" };
  const typed = (id: string, text: string): object => {
    return { id, timestamp: at, type: "user", content: [{ text }] };
  };
  const call = (id: string, file: string, result?: readonly object[]): object => {
    return { id, name: "read_file", args: { file_path: file }, ...(result && { result }) };
  };
  const output = (id: string, text: string): object => {
    return { functionResponse: { id, name: "read_file", response: { output: text } } };
  };
  const answer = (id: string, toolCalls: readonly object[] = []): object => {
    const tokens = { input: 100, output: 10, cached: 0, thoughts: 0, tool: 0 };
    const said = { id, timestamp: at, type: "gemini", content: "So.", model: "m", tokens };
    return toolCalls.length === 0 ? said : { ...said, toolCalls };
  };

  interface Opened {
    readonly path: string;
    readonly results: readonly string[];
    readonly tokens: readonly (number | undefined)[];
  }

  async function opened(lines: readonly object[]): Promise<Opened> {
    const path = writeLines(temporaryDirectory(), "session-a.jsonl", [head, ...lines]);
    const session = await openSession(path, { access: "read", checkpoint: "off" });
    const entries = await session.branch();
    const own = (await session.usage).total.totalTokens;
    await session.close();
    const { sessions } = await findSessions([dirname(path)], { catalog: "off" });
    const results = messagesOf(entries, "toolResult").map(({ message }) =>
      JSON.stringify("content" in message ? message.content : ""),
    );
    return { path, results, tokens: [own, sessions[0]?.usage?.total.totalTokens] };
  }

  it("count an answer once, though notes and other answers are between its states", async () => {
    const note = { id: "n1", timestamp: at, type: "info", content: "Wait." };
    const ended = answer("a1", [call("c1", "a.ts", [output("c1", "ONE")])]);
    const first = [typed("u1", "look"), answer("a1")];
    const cases = [
      [...first, note, ended],
      [...first, answer("a2"), ended],
      [typed("u1", "look"), { $set: { messages: [typed("u1", "look"), answer("a1")] } }, ended],
    ];
    for (const lines of cases) {
      const { results, tokens } = await opened(lines);
      const count = lines.filter((line) => "type" in line && line.type === "gemini").length;
      const all = 110 * (count > 2 ? 2 : 1);
      expect(tokens).toEqual([all, all]);
      expect(results.join("")).toContain("ONE");
    }
  });

  it("give each call its own result, though both have all", async () => {
    const both = [output("c1", "ONE"), output("c2", "TWO")];
    const { results } = await opened([
      typed("u1", "look"),
      answer("a1", [call("c1", "a.ts", both), call("c2", "b.ts", both)]),
    ]);
    expect(results.map((text) => /ONE|TWO/.exec(text)?.[0])).toEqual(["ONE", "TWO"]);
  });

  it("are found in the entry that has them", async () => {
    const { path } = await opened([
      typed("u1", "look"),
      answer("a1", [call("c1", "alpha.ts")]),
      { $set: { lastUpdated: at } },
      answer("a1", [call("c1", "alpha.ts"), call("c2", "beta.ts")]),
    ]);
    const found = async (text: string): Promise<string[]> =>
      (await collected(searchSessions([dirname(path)], text))).map(({ entryId }) => entryId);
    expect(await found("alpha.ts")).toEqual(["a1"]);
    expect(await found("beta.ts")).toEqual(["a1@5"]);
  });

  it("are not a session when other programs write similar records", async () => {
    const log = { id: "1", type: "error", content: "no", timestamp: at };
    const path = writeLines(temporaryDirectory(), "log.jsonl", [log, log]);
    const { sessions } = await findSessions([dirname(path)], { catalog: "off" });
    expect(sessions).toEqual([]);
  });
});
