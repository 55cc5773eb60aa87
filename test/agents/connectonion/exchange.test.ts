/** Documents as logs, and logs as documents: data is kept, and losses are reported. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSession, openSession } from "@branchlog/core";
import type { AgentMessage, EntryDraft } from "@branchlog/core";
import {
  exportConnectonion,
  importConnectonion,
  messagesForResume,
  openConnectonion,
  sessionTurns,
} from "@branchlog/agents/connectonion";
import type { SessionTurn } from "@branchlog/agents/connectonion";
import { MemoryFileSystem, createMemoryPorts } from "@branchlog/core/testing";
import { fixture } from "../../cli/command-run.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { arbitraryData, textOf } from "./documents.ts";

const usage = { input: 10, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 10 };
const costs = { input: 0.0012, output: 0, cacheRead: 0, cacheWrite: 0, total: 0.0012 };

const user = (content: string): AgentMessage => ({ role: "user", content, timestamp: 1 });
const answer = (content: (AgentMessage & { role: "assistant" })["content"]): AgentMessage => ({
  role: "assistant",
  content,
  api: "openai-completions",
  provider: "co",
  model: "gemini-2.5-pro",
  usage: { ...usage, cost: costs },
  stopReason: "stop",
  timestamp: 2,
});
const said = (message: AgentMessage): EntryDraft => ({ type: "message", message });

/** What of a turn a document can say; times go to the second, numbers to where they may differ. */
const shown = ({ input, result, model, tokens, cost, tools_called }: SessionTurn): unknown => {
  return { input, result, model, tokens, cost: Number(cost.toFixed(4)), tools_called };
};

/** JSON that cannot be written again by `JSON.stringify`. */
const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
const deepCall = `turns:
- turn: 1
  input: a
messages:
  1:
  - {role: user, content: a}
  - role: assistant
    content: null
    tool_calls:
    - {id: c1, type: function, function: {name: f, arguments: '{"a":${deep}}'}}
`;

/** Places of a document, of the log that it becomes, and of what that becomes. */
function newPlaces(): Readonly<Record<"directory" | "source" | "log" | "copy" | "again", string>> {
  const directory = temporaryDirectory();
  const at = (name: string): string => join(directory, name);
  const documents = { source: at("source.yaml"), copy: at("copy.yaml") };
  return { directory, ...documents, log: at("log.jsonl"), again: at("again.jsonl") };
}

describe("a document that becomes a log", () => {
  it.each(["ideal", "dumped", "nested"])(
    "has the same data as a document again: %s",
    async (name) => {
      const { directory, log, copy } = newPlaces();
      const source = fixture(`connectonion-${name}.yaml`);
      const before = readFileSync(source);
      const imported = await importConnectonion(source, log);
      const exported = await exportConnectonion(log, copy);
      expect(exported).toEqual({ path: copy, turns: imported.turns, lost: [] });
      const [one, other] = [await openConnectonion(source), await openConnectonion(copy)];
      expect(other.document).toEqual(one.document);
      expect(JSON.stringify(other.document.data)).toBe(JSON.stringify(one.document.data));
      expect(readFileSync(source)).toEqual(before);
      expect(readdirSync(directory).toSorted()).toEqual(["copy.yaml", "log.jsonl"]);
    },
  );

  it("is a session like any other: turns, context, usage", async () => {
    const { log } = newPlaces();
    await importConnectonion(fixture("connectonion-ideal.yaml"), log, { cwd: "/work", id: "oo-1" });
    const session = await openSession(log, { access: "read" });
    const { turns: found } = await openConnectonion(fixture("connectonion-ideal.yaml"));
    expect(session.header).toMatchObject({ id: "oo-1", cwd: "/work", version: 3 });
    const turns = await sessionTurns(session);
    const facts = [
      "input",
      "result",
      "model",
      "duration_ms",
      "tokens",
      "cost",
      "tools_called",
    ] as const;
    for (const [place, turn] of turns.entries()) {
      for (const key of facts) expect(turn[key], key).toEqual(found[place]?.[key]);
    }
    expect((await session.usage).total).toMatchObject({
      input: 33_500,
      cost: 0.0152 + 0.0371 + 0.0289,
    });
    const { messages, model } = await session.context();
    expect(messages.map(({ role }) => role).slice(0, 4)).toEqual([
      "system",
      "user",
      "assistant",
      "toolResult",
    ]);
    expect(model).toEqual({ provider: "co", modelId: "gemini-2.5-pro" });
    const result = messages.find(({ role }) => role === "toolResult");
    expect(result).toMatchObject({ toolCallId: "call_abc123", toolName: "run", isError: false });
  });

  it("keeps eval fields, and loads later notes", async () => {
    const { log, copy } = newPlaces();
    await importConnectonion(fixture("connectonion-dumped.yaml"), log);
    const session = await openSession(log);
    const [first, second] = await sessionTurns(session);
    expect(second).toMatchObject({ passed: true, expected: "A time of day" });
    const data = { targetId: first?.entryId, fields: { passed: false, grade: 3 } };
    await session.append({ type: "custom", customType: "branchlog.turn", data });
    await session.append(said(user("again")));
    await session.append(said(answer([{ type: "text", text: "done" }])));
    await session.close();
    const { lost } = await exportConnectonion(log, copy);
    expect(lost).toEqual([{ reason: "times of messages", count: 2 }]);
    const document = await openConnectonion(copy);
    const { turns, storedTotals, totals } = document;
    expect(turns[0]).toMatchObject({
      passed: false,
      grade: 3,
      input: "greet Alice in two lines\nand be kind",
    });
    expect(turns[2]).toMatchObject({
      turn: 3,
      input: "again",
      result: "done",
      cost: 0.0012,
      tokens: 10,
    });
    expect(storedTotals).toEqual({ total_cost: 0.0034, total_tokens: 862 });
    expect(totals).toMatchObject({ passed: 1, failed: 1 });
    expect(document.messagesOfTurn(3)).toEqual([
      { role: "user", content: "again" },
      { role: "assistant", content: "done" },
    ]);
  });

  it("has the same data after a round trip. Law", async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryData, async (data) => {
        const fs = new MemoryFileSystem();
        const ports = createMemoryPorts({ fs });
        fs.writeFileSync("/a.yaml", Buffer.from(textOf(data)));
        await importConnectonion("/a.yaml", "/a.jsonl", { ports });
        const { lost } = await exportConnectonion("/a.jsonl", "/b.yaml", { ports });
        const { document } = await openConnectonion("/b.yaml", { ports });
        expect(document.data).toEqual(data);
        expect(Object.keys(document.data)).toEqual(Object.keys(data));
        expect(lost).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });

  it.each([
    [
      "turns that share a number",
      "turns:\n- turn: 1\n- turn: 1\nmessages:\n  1:\n  - role: user\n    content: a\n",
    ],
    ["messages of no turn", "turns: []\nmessages:\n  7:\n  - role: user\n  x: 5\n"],
    [
      "messages that begin with no user",
      "turns:\n- turn: 1\n  input: a\nmessages:\n  1:\n  - role: assistant\n    content: hi\n",
    ],
    ["lists that are none", "turns:\n- turn: 1\nmessages:\n  1: {a: b}\n"],
    ["keys without values", "turns:\nmessages:\nsystem_prompt:\n"],
    ["no turns at all", "name: a\nmessages: {}\n"],
    ["arguments of a tool that are nested 20,000 levels deep", deepCall],
    [
      "messages in a text nested as deeply",
      `turns:\n- messages: '${deep}'\n  turn: 1\n  input: x\n`,
    ],
    ["JSON that does not parse", "turns:\n- messages: '[{'\n  turn: 1\n  input: x\n"],
    [
      "numbers that are none",
      "turns:\n- turn: one\n  cost: much\n  tokens: null\n  timestamp: never\n",
    ],
    [
      "further users, systems and developers",
      "turns:\n- turn: 1\nmessages:\n  1:\n  - {role: user, content: a}\n  - {role: user, content: b}\n  - {role: system, content: c}\n  - {role: developer, content: d}\n",
    ],
  ])("keeps %s", async (_, text) => {
    const { source, log, copy } = newPlaces();
    writeFileSync(source, text);
    await importConnectonion(source, log);
    await exportConnectonion(log, copy);
    const [one, other] = [await openConnectonion(source), await openConnectonion(copy)];
    expect(other.document.data).toEqual(one.document.data);
    const turns = await sessionTurns(await openSession(log, { access: "read" }));
    expect(turns).toHaveLength(one.turns.length);
  });

  it("gets its working directory from its path, and never replaces a file", async () => {
    const ports = createMemoryPorts({ fs: new MemoryFileSystem() });
    const { fs } = ports;
    fs.makeDirectorySync("/home/me/.co/sessions");
    (fs as MemoryFileSystem).writeFileSync(
      "/home/me/.co/sessions/oo.yaml",
      Buffer.from("turns: []\n"),
    );
    await importConnectonion("/home/me/.co/sessions/oo.yaml", "/a.jsonl", { ports });
    expect((await openSession("/a.jsonl", { ports })).header.cwd).toBe("/home/me");
    const again = importConnectonion("/home/me/.co/sessions/oo.yaml", "/a.jsonl", { ports });
    await expect(again).rejects.toMatchObject({ code: "ERR_LOG_EXISTS" });
    const back = exportConnectonion("/a.jsonl", "/home/me/.co/sessions/oo.yaml", { ports });
    await expect(back).rejects.toMatchObject({ code: "ERR_LOG_EXISTS" });
  });
});

describe("a log that becomes a document", () => {
  it("has what a document can hold, and reports the rest", async () => {
    const { log, copy, again } = newPlaces();
    const session = await createSession(log, { cwd: "/w" });
    const thinking = { type: "thinking", thinking: "hm" } as const;
    const call = {
      type: "toolCall",
      id: "c1",
      name: "run",
      arguments: { command: "ls -la" },
    } as const;
    await session.append(said({ role: "system", content: "Be brief.", timestamp: 1 }));
    const first = await session.append(said(user("one")));
    await session.append(said(answer([thinking, { type: "text", text: "I look." }, call])));
    const result = {
      role: "toolResult",
      toolCallId: "c1",
      toolName: "run",
      isError: false,
    } as const;
    const content = [{ type: "text", text: "total 0" } as const];
    await session.append(said({ ...result, content, timestamp: 3 }));
    await session.append(said(answer([{ type: "text", text: "Empty." }])));
    await session.append({ type: "label", targetId: first.id, label: "start" });
    const image = { type: "image", data: "aGk=", mimeType: "image/png" } as const;
    const picture = [{ type: "text", text: "two" } as const, image];
    await session.append(said({ role: "user", content: picture, timestamp: 4 }));
    await session.append({
      type: "compaction",
      summary: "s",
      firstKeptEntryId: null,
      tokensBefore: 9,
    });
    await session.append(said(answer([{ type: "text", text: "Nice." }])));
    const { lost, turns } = await exportConnectonion(session, copy, { name: "oo" });
    expect(turns).toBe(2);
    expect(lost).toEqual([
      { reason: "compactions and branch summaries", count: 1 },
      { reason: "labels", count: 1 },
      { reason: "thinking", count: 1 },
      { reason: "times of messages", count: 6 },
    ]);
    const document = await openConnectonion(copy);
    expect(document.document).toMatchObject({
      name: "oo",
      systemPrompt: "Be brief.",
      diagnostics: [],
    });
    expect(document.turns[0]?.tools_called).toEqual(["run(command='ls -la')"]);
    expect(document.messagesOfTurn(2)[0]?.content).toEqual([
      { type: "text", text: "two" },
      { type: "image_url", image_url: { url: "data:image/png;base64,aGk=" } },
    ]);
    await importConnectonion(copy, again);
    const back = await openSession(again, { access: "read" });
    expect((await sessionTurns(back)).map(shown)).toEqual((await sessionTurns(session)).map(shown));
    const bare = (messages: readonly AgentMessage[]): unknown[] =>
      messages.map((message) => ({
        role: message.role,
        content: "content" in message && message.content,
      }));
    const [users, others] = [await messagesForResume(back), await messagesForResume(session)].map(
      bare,
    );
    expect(users?.filter((_, at) => at !== 2)).toEqual(others?.filter((_, at) => at !== 2));
  });

  it.each([
    "pi-linear",
    "pi-branches",
    "pi-compactions-overlapping",
    "pi-v1",
    "pi-system-messages",
    "realistic-session",
  ])("gives a document without findings: %s", async (name) => {
    const { copy } = newPlaces();
    const source = await openSession(fixture(`${name}.jsonl`), { access: "read" });
    await exportConnectonion(source, copy);
    const { diagnostics, turns } = await openConnectonion(copy);
    expect(diagnostics).toEqual([]);
    const known = await sessionTurns(source);
    expect(turns.map(({ input, result }) => [input, result])).toEqual(
      known.map(({ input, result }) => [input, result]),
    );
  });
});

it("a session rewritten during its export gives no document", async () => {
  const fs = new MemoryFileSystem();
  const ports = createMemoryPorts({ fs });
  const session = await createSession("/s.jsonl", { cwd: "/w", id: "s", ports });
  await session.append(said(user("What is it?")));
  await session.append(said(answer([{ type: "text", text: "It is old." }])));
  await session.close();
  const text = fs.readFileSync("/s.jsonl").toString();
  for (const rewritten of [text.replace("What", "WHAT"), text.split("\n", 1).join("")]) {
    fs.writeFileSync("/s.jsonl", Buffer.from(text));
    const opened = await openSession("/s.jsonl", { access: "read", ports });
    fs.onCall = ({ name }) => {
      if (name !== "read") return;
      fs.onCall = undefined;
      fs.writeFileSync("/s.jsonl", Buffer.from(rewritten));
    };
    const exported = exportConnectonion(opened, "/d.yaml", { ports });
    await expect(exported).rejects.toMatchObject({ code: "ERR_LOG_CHANGED" });
    expect(fs.listSync("/")).toEqual(["s.jsonl"]);
  }
});
