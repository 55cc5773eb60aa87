/**
 * Sessions of Claude Code in forms that people reported: they must say what the agent means by
 * them. The fixtures are described in fixtures/README.md.
 */
import { appendFileSync, copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { sessionTurns } from "@branchlog/agents/connectonion";
import type { SessionTurn } from "@branchlog/agents/connectonion";
import { forkSession, openSession } from "@branchlog/core";
import type { Session } from "@branchlog/core";
import type { AgentMessage } from "@branchlog/core/entries";
import { findSessions, sessionGroups, searchSessions } from "@branchlog/library";
import type { ListedSession } from "@branchlog/library";
import { importSession, markdownPieces, usageStatistics } from "@branchlog/tools";
import { htmlPieces } from "@branchlog/web";
import { typedText } from "../../../packages/agents/src/claude/claude-prompts.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { fixturePath } from "../../tools/import/imported.ts";

const thirdAnswer = "f1e1d004-0000-4000-8000-000000000111";

/** Copies of fixtures where the agent keeps sessions. */
function kept(...names: readonly string[]): { readonly root: string; readonly path: string } {
  const root = temporaryDirectory();
  const paths = names.map((name) => {
    const source = fixturePath(`transcripts/field/${name}.jsonl`);
    const [id = name] = /(?<="sessionId":")[^"]*/.exec(readFileSync(source, "utf8")) ?? [];
    const path = join(root, "projects/-home-dev-shop", `${id}.jsonl`);
    mkdirSync(dirname(path), { recursive: true });
    copyFileSync(source, path);
    return path;
  });
  return { root, path: paths[0] ?? root };
}

async function inPlace(name: string): Promise<Session> {
  return openSession(kept(name).path, { access: "read" });
}

async function listed(root: string): Promise<readonly ListedSession[]> {
  return (await findSessions([root], { artifacts: true, catalog: "off" })).sessions;
}

async function found(root: string, query: string, role?: string): Promise<number> {
  let count = 0;
  for await (const { entryId } of searchSessions([root], query, { role })) {
    if (entryId !== "") count += 1;
  }
  return count;
}

/** Role and text of each message; a compaction has its summary. */
function said(messages: readonly AgentMessage[]): string[] {
  return messages.map((message) => {
    if (message.role === "compactionSummary") return `summary: ${message.summary}`;
    const content = "content" in message ? message.content : [];
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
    const texts = blocks.map((block) => ("text" in block ? block.text : `(${block.type})`));
    return `${message.role}: ${texts.join(" ")}`;
  });
}

async function inputs(session: Session): Promise<string[]> {
  return (await sessionTurns(session)).map(({ input }: SessionTurn) => input);
}

describe("prompts that were queued while Claude Code worked", () => {
  const prompts = [
    "Run the whole suite of the shop",
    "Count the failures of the cart",
    "Name the failures of the tax",
    "Compare it with this picture",
    "And with that other picture",
    "Thank you for both of them",
  ];

  it("are messages of the user before the answers to them, each once", async () => {
    const { messages } = await (await inPlace("queued-prompts")).context();
    expect(said(messages)).toEqual([
      "user: Run the whole suite of the shop",
      "assistant: (toolCall)",
      "toolResult: two failures",
      "user: Count the failures of the cart",
      "assistant: Both failures are in the cart.",
      "user: Name the failures of the tax",
      "assistant: The tax has no failures.",
      "user: Compare it with this picture (image)",
      "assistant: The picture shows the old cart.",
      "user: And with that other picture",
      "custom: (image)",
      expect.stringContaining("custom: <task-notification>"),
      "assistant: That one shows the new cart.",
      "user: Thank you for both of them",
      "assistant: You are welcome to more.",
    ]);
  });

  it.each(prompts)("are found as messages of the user: %s", async (prompt) => {
    expect(await found(kept("queued-prompts").root, prompt, "user")).toBe(1);
  });

  it("are turns, counted in a list and in statistics", async () => {
    const { root, path } = kept("queued-prompts");
    const session = await openSession(path, { access: "read" });
    const turns = await inputs(session);
    expect(turns).toEqual(prompts);
    expect((await usageStatistics([root])).total.turns).toBe(turns.length);
    const [first] = await listed(root);
    expect(first?.summary.messageCount).toBe(13);
  });

  it("are left out when they were taken back", async () => {
    expect(await found(kept("queued-prompts").root, "This one is taken back")).toBe(0);
  });

  it("are in an import", async () => {
    const target = join(temporaryDirectory(), "import.jsonl");
    await importSession(kept("queued-prompts").path, target);
    const copy = await openSession(target);
    expect(said((await copy.context()).messages)).toEqual(
      said((await (await inPlace("queued-prompts")).context()).messages),
    );
  });
});

describe("texts that Claude Code writes for the user", () => {
  const asked = [
    "/watch the deployment of the shop",
    "! git status",
    "Explain the <cart-item> element of it",
    "/compact and continue",
  ];

  it("are not prompts, and commands are prompts as typed", async () => {
    const { root, path } = kept("injected-texts");
    const session = await openSession(path, { access: "read" });
    expect(await inputs(session)).toEqual(asked);
    expect((await usageStatistics([root])).total.turns).toBe(asked.length);
    const [first] = await listed(root);
    expect(first?.summary.firstMessage).toBe("/watch the deployment of the shop");
    expect((await session.summary).firstMessage).toBe("/watch the deployment of the shop");
  });

  it.each(asked)("are not user messages, which are found: %s", async (prompt) => {
    expect(await found(kept("injected-texts").root, prompt, "user")).toBe(1);
  });

  it("are not turns of an import either", async () => {
    const target = join(temporaryDirectory(), "import.jsonl");
    await importSession(kept("injected-texts").path, target);
    expect(await inputs(await openSession(target))).toEqual(asked);
  });

  it.each(["npm test", "<cart-item>a</cart-item>", "<div> is not closed", "[Request] for you"])(
    "are distinguished from typed text by their form: %s",
    (text) => {
      expect(typedText(text)).toBe(text);
    },
  );

  it.each([
    "<task-notification>done</task-notification>\n<system-reminder>go on</system-reminder>",
    "[Request interrupted by user]",
    "<local-command-stdout>Set model to opus</local-command-stdout>",
    "<command-name>/clear</command-name>\n<command-message>clear</command-message>",
  ])("are recognised by their form: %s", (text) => {
    expect(typedText(text)).toBeUndefined();
  });
});

describe("a compaction", () => {
  it("keeps the messages that it lists, also when the next one is below them", async () => {
    const session = await inPlace("preserved-messages");
    const { messages, approximate } = await session.context();
    expect(said(messages)).toEqual([
      "summary: The tests of the cart are slow.",
      "user: Which of them first?",
      "assistant: The test of the total.",
      "user: Make it faster.",
      "assistant: It takes half the time.",
    ]);
    expect(approximate).toBe(true);
    expect(await inputs(session)).toHaveLength(3);
  });

  it("keeps messages between those it lists only in the history", async () => {
    const session = await inPlace("partial-compaction");
    const expected = [
      "summary: Both pages were drawn.",
      "user: List the pages of the shop.",
      "assistant: Cart, tax and imprint.",
      "assistant: The imprint is one column.",
      "user: Now draw the page of the tax.",
      "assistant: It has two columns.",
    ];
    expect(said((await session.context()).messages)).toEqual(expected);
    expect(await inputs(session)).toHaveLength(4);
    const target = join(temporaryDirectory(), "import.jsonl");
    await importSession(kept("partial-compaction").path, target);
    expect(said((await (await openSession(target)).context()).messages)).toEqual(expected);
  });

  it("does not cut the history when its parent is below a copy, or missing", async () => {
    const session = await inPlace("second-compaction");
    expect(await inputs(session)).toEqual([
      "Rename the module of the tax.",
      "Rename its tests, too.",
      "Rename the page.",
      "Commit it now, please.",
    ]);
    const second = await session.context({ at: thirdAnswer });
    expect(said(second.messages)).toEqual([
      "summary: Module and tests were renamed.",
      "assistant: They are named vat, too.",
      "user: Rename the page.",
      "assistant: It is named vat as well.",
    ]);
    expect(said((await session.context()).messages)).toEqual([
      "summary: All three were renamed.",
      "user: Commit it now, please.",
      "assistant: It is in one commit.",
    ]);
  });
});

describe("an answer that another model continued", () => {
  it("has the model and the usage of its part with the most output", async () => {
    const { root, path } = kept("model-fallback");
    const { total, byModel } = await (await openSession(path, { access: "read" })).usage;
    const sums = { requests: 2, input: 6, output: 350, cacheRead: 280, cacheWrite: 90 };
    expect(total).toMatchObject(sums);
    expect([...(byModel.get("anthropic")?.keys() ?? [])]).toEqual(["claude-sonnet-4-6"]);
    expect((await usageStatistics([root])).total).toMatchObject(sums);
    expect((await listed(root))[0]?.usage?.total.totalTokens).toBe(total.totalTokens);
  });

  it("is one answer in the context, and in a turn", async () => {
    const session = await inPlace("model-fallback");
    const { messages } = await session.context();
    expect(said(messages).at(-1)).toBe("assistant: Nine carts are open at the moment.");
    expect(messages.at(-1)).toMatchObject({ model: "claude-sonnet-4-6" });
    const [turn] = await sessionTurns(session);
    expect(turn).toMatchObject({ model: "anthropic/claude-sonnet-4-6", tokens: 356 });
  });
});

describe("tools that run on the server", () => {
  it("are calls with results, in one record or in several", async () => {
    const { messages } = await (await inPlace("server-tools")).context();
    expect(said(messages)).toEqual([
      "user: Ask the advisor about the cart",
      expect.stringMatching(/^assistant: .*\(toolCall\) I split it by its owner\.$/),
      "toolResult: Split the cart by its owner",
      "user: Search for the rates of tax",
      "assistant: I search for them. (toolCall) The page of rates has them all.",
      "toolResult: Rates of tax by country\nhttps://example.com/rates",
    ]);
    expect(messages.map((message) => "toolName" in message && message.toolName)).toEqual(
      expect.arrayContaining(["advisor", "web_search"]),
    );
  });

  it.each(["Split the cart by its owner", "Rates of tax by country"])(
    "are found by their results: %s",
    async (text) => {
      expect(await found(kept("server-tools").root, text, "toolResult")).toBe(1);
    },
  );

  it("add nothing to the usage of their answer", async () => {
    const { total } = await (await inPlace("server-tools")).usage;
    expect(total).toMatchObject({ requests: 2, input: 30, output: 70 });
  });
});

describe("a result in a separate file", () => {
  function withResult(): { readonly root: string; readonly path: string } {
    const place = kept("large-result");
    const results = join(place.path.replace(/\.jsonl$/, ""), "tool-results");
    mkdirSync(results, { recursive: true });
    const source = "transcripts/field/large-result/tool-results/toolu_1.txt";
    copyFileSync(fixturePath(source), join(results, "toolu_1.txt"));
    return place;
  }

  it("is found by all of its text, once, as the result of its tool", async () => {
    const { root, path } = withResult();
    expect(await found(root, "declined by the bank", "toolResult")).toBe(1);
    expect(await found(root, "order 1 paid", "toolResult")).toBe(1);
    expect(await found(path, "declined by the bank")).toBe(1);
  });

  it("is complete in Markdown and HTML, and in the context as the model received it", async () => {
    const { path } = withResult();
    for (const pieces of [markdownPieces(path), htmlPieces(path)]) {
      let text = "";
      for await (const piece of pieces) text += piece;
      expect(text).toContain("order 7211 declined by the bank");
    }
    const { messages } = await (await openSession(path, { access: "read" })).context();
    expect(said(messages)[2]).toContain("Full output saved to:");
  });

  it("is only in results that are its beginning, and never a link", async () => {
    const { root, path } = withResult();
    const text = readFileSync(path, "utf8");
    writeFileSync(path, text.replace("<persisted-output>", "see "));
    expect(await found(root, "declined by the bank")).toBe(0);
    writeFileSync(path, text);
    const file = join(path.replace(/\.jsonl$/, ""), "tool-results/toolu_1.txt");
    const secret = join(temporaryDirectory(), "secret.txt");
    writeFileSync(secret, "a private key");
    rmSync(file);
    symlinkSync(secret, file);
    expect(await found(root, "a private key")).toBe(0);
  });

  it("is only its first part when the file is missing", async () => {
    const { root } = kept("large-result");
    expect(await found(root, "order 1 paid", "toolResult")).toBe(1);
    expect(await found(root, "declined by the bank")).toBe(0);
  });
});

describe("a file with titles only", () => {
  it("is not a session, and opening it fails with that reason", async () => {
    const { root, path } = kept("titles-only");
    expect(await listed(root)).toEqual([]);
    const opening = openSession(path, { access: "read" });
    await expect(opening).rejects.toThrow("without a conversation");
  });

  it("becomes one with the first record of a conversation, under its title", async () => {
    const { root, path } = kept("titles-only");
    const conversation = fixturePath("transcripts/field/attached-document.jsonl");
    appendFileSync(path, readFileSync(conversation));
    const [session] = await listed(root);
    expect(session).toMatchObject({ name: "Only a title", path });
  });
});

it("a prompt that repeats one queued before an interruption is a separate prompt", async () => {
  const { path } = kept("attached-document");
  const [one = ""] = readFileSync(path, "utf8").split("\n");
  const { sessionId, timestamp } = JSON.parse(one) as { sessionId: string; timestamp: string };
  const user = (uuid: string, content: string): object => ({
    parentUuid: null,
    type: "user",
    uuid,
    sessionId,
    timestamp,
    message: { role: "user", content },
  });
  const queued = { type: "queue-operation", operation: "remove", sessionId, timestamp };
  const records = [
    user("u1", "Start"),
    { ...queued, content: "continue" },
    user("u2", "[Request interrupted by user]"),
    user("u3", "continue"),
  ];
  writeFileSync(path, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
  const session = await openSession(path, { access: "read" });
  expect((await sessionTurns(session)).map(({ input }) => input)).toEqual(
    expect.arrayContaining(["continue"]),
  );
  expect(await session.entry("u3")).toMatchObject({ message: { role: "user" } });
});

it("an attached text is not a prompt, and is found", async () => {
  const { root, path } = kept("attached-document");
  expect(await found(root, "free for thirty days")).toBe(1);
  expect(await found(root, "free for thirty days", "user")).toBe(0);
  const session = await openSession(path, { access: "read" });
  expect((await sessionTurns(session)).map(({ input }) => input)).toEqual(["Shorten these terms"]);
});

it("an error that is the text of its answer is shown once", async () => {
  const { path } = kept("attached-document");
  let text = "";
  for await (const piece of markdownPieces(path)) text += piece;
  expect(text.match(/529 overloaded/g)).toHaveLength(1);
});

it("a subagent of a compaction is named so", async () => {
  const { root, path } = kept("attached-document");
  const agent = join(path.replace(/\.jsonl$/, ""), "subagents/agent-acompact-1f2e3d.jsonl");
  mkdirSync(dirname(agent), { recursive: true });
  const records = readFileSync(path, "utf8").replaceAll(
    '"isSidechain":false',
    '"isSidechain":true,"agentId":"acompact-1f2e3d"',
  );
  writeFileSync(agent, records);
  const agentSession = (await listed(root)).find((one) => one.path === agent);
  expect(agentSession).toMatchObject({ name: "compaction", transcript: { isSubagent: true } });
});

describe("a session that Claude Code branched from another", () => {
  it("is below that in a list, and copied entries count once", async () => {
    const { root } = kept("fork", "fork-origin");
    const [group] = sessionGroups(await listed(root));
    const places = group?.sessions.map(({ session, depth }) => [session.header.id, depth]);
    expect(places).toEqual([
      ["f1e1d007-0000-4000-8000-000000000001", 0],
      ["f1e1d008-0000-4000-8000-000000000001", 1],
    ]);
    const sums = { requests: 2, input: 500, output: 50, turns: 2 };
    expect((await usageStatistics([root])).total).toMatchObject(sums);
  });

  it.each(["a-fork.jsonl", "z-fork.jsonl"])(
    "has prompts that count once beside %s",
    async (name) => {
      const { root, path } = kept("fork");
      const { turns } = (await usageStatistics([root])).total;
      await forkSession(path, { target: join(root, name) });
      expect((await usageStatistics([root])).total.turns).toBe(turns);
    },
  );

  it("is found once where it copied", async () => {
    const { root } = kept("fork", "fork-origin");
    const [origin] = (await listed(root)).filter(({ header }) => !header.parentSession);
    const text = origin?.summary.firstMessage ?? "";
    expect(text).not.toBe("");
    expect(await found(root, text)).toBe(1);
  });

  it("counts the prompts of a resumed session once, whose copies have other ids", async () => {
    const { root, path } = kept("fork-origin");
    const { turns, requests } = (await usageStatistics([root])).total;
    const copied = readFileSync(path, "utf8").replaceAll(/f1e1d007-/g, "f1e1d0ff-");
    writeFileSync(join(root, "projects/-home-dev-shop/resumed.jsonl"), copied);
    expect((await usageStatistics([root])).total).toMatchObject({ turns, requests });
  });

  it("counts copied entries once, also with another time", async () => {
    const { root, path } = kept("fork", "fork-origin");
    const copied = readFileSync(path, "utf8").replaceAll("T09:00:", "T11:30:");
    writeFileSync(path, copied);
    const sums = { requests: 2, input: 500, output: 50, turns: 2 };
    expect((await usageStatistics([root])).total).toMatchObject(sums);
  });
});
