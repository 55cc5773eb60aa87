/** Rollouts of Codex as people have them: what was said, by whom, and what it cost, once. */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { sessionTurns } from "@branchlog/agents/connectonion";
import { openSession } from "@branchlog/core";
import { findSessions, resolveSession, searchSessions } from "@branchlog/library";
import { sessions$ } from "@branchlog/library/live";
import { usageStatistics } from "@branchlog/tools";
import { collected } from "../../support/collected.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { fixturePath, spoken } from "../../tools/import/imported.ts";

const ids = {
  "codex-forked-parent": "019f1000-0000-7000-8000-0000000000a1",
  "codex-forked-child": "019f1000-0000-7000-8000-0000000000a2",
  "codex-review": "019f1000-0000-7000-8000-0000000000a3",
  "codex-script": "019f1000-0000-7000-8000-0000000000a4",
  "codex-context": "019f1000-0000-7000-8000-0000000000d0",
  "codex-copied": "019f1000-0000-7000-8000-0000000000d1",
  "codex-copy": "019f1000-0000-7000-8000-0000000000d2",
};

type Fixture = keyof typeof ids;

/** The home of an agent that has these sessions. */
function homeWith(...names: readonly Fixture[]): string {
  const home = temporaryDirectory();
  for (const name of names) {
    const path = rollout(home, name);
    mkdirSync(dirname(path), { recursive: true });
    copyFileSync(fixturePath(`transcripts/field/${name}.jsonl`), path);
  }
  return home;
}

function rollout(home: string, name: Fixture): string {
  return join(home, "sessions/2026/11/18", `rollout-2026-11-18T08-00-00-${ids[name]}.jsonl`);
}

async function idsIn(home: string, artifacts: boolean): Promise<readonly string[]> {
  const { sessions } = await findSessions([home], { artifacts });
  return sessions.map(({ header }) => header.id);
}

describe("a session started by another one", () => {
  it("is a subagent of any kind, below the one that started it", async () => {
    const home = homeWith("codex-forked-parent", "codex-review");
    expect(await idsIn(home, false)).toEqual([ids["codex-forked-parent"]]);
    expect(await idsIn(home, true)).toHaveLength(2);
    const session = await openSession(rollout(home, "codex-review"));
    expect(session.header.parentSession).toBe(ids["codex-forked-parent"]);
    await session.close();
  });

  it("counts in a list as the session above, also through another subagent", async () => {
    const home = homeWith("codex-forked-parent", "codex-review");
    const source = rollout(home, "codex-review");
    const [id, other] = [ids["codex-review"], "019f1000-0000-7000-8000-0000000000ef"];
    const text = readFileSync(source, "utf8").replaceAll(ids["codex-forked-parent"], id);
    const below = text.replace(`"id":"${id}"`, `"id":"${other}"`);
    writeFileSync(source.replace(id, other), below);
    const [all, one] = [await findSessions([home]), await findSessions([dirname(source)])];
    expect(all.sessions.map(({ header }) => header.id)).toEqual([ids["codex-forked-parent"]]);
    const spent = one.sessions[0]?.usage?.total.totalTokens ?? 0;
    const each = (await findSessions([home], { artifacts: true })).sessions;
    expect(each).toHaveLength(3);
    const sums = each.map(({ usage }) => usage?.total.totalTokens ?? 0);
    expect(spent).toBe(sums.reduce((sum, tokens) => sum + tokens, 0));
  });

  it("counts repeated entries only in their original session, whatever their time", async () => {
    const home = homeWith("codex-forked-parent", "codex-forked-child");
    const { total } = await usageStatistics([home]);
    const sums = { requests: 3, input: 800, output: 85, cacheRead: 1000, turns: 2 };
    expect(total).toMatchObject(sums);
    // Alone, it is all that is left of both.
    const alone = await usageStatistics([homeWith("codex-forked-child")]);
    expect(alone.total.requests).toBe(3);
  });
});

describe("data that only a completed item has", () => {
  it("is a message of the user, with its image, and an answer, each once", async () => {
    const session = await openSession(rollout(homeWith("codex-script"), "codex-script"));
    const { messages } = await session.context();
    const texts = spoken(messages).filter((line) => /^(?:user|assistant)/.test(line));
    expect(texts).toEqual([
      "user: What is in the cart folder?",
      expect.stringContaining("assistant: "),
      "assistant: One file, with the total of the basket.",
      expect.stringContaining("user: Is the total tested?"),
      "assistant: Not yet.",
    ]);
    const asked = messages.flatMap((one) => (one.role === "user" ? [one.content] : []));
    expect(asked.at(-1)).toContainEqual({
      type: "image",
      data: "iVBORw0KGgo=",
      mimeType: "image/png",
    });
    await session.close();
  });

  it("is found when it is the output of a command in a script", async () => {
    const home = homeWith("codex-script");
    const hits = await collected(searchSessions([home], "basket-total.ts"));
    expect(hits.map(({ kind }) => kind)).toEqual(["shell"]);
    const asked = await collected(searchSessions([home], "cart folder", { role: "user" }));
    expect(asked).toHaveLength(1);
  });
});

describe("the name that Codex stores next to its sessions", () => {
  it("is the last one of the session, in lists, when it is opened, and in searches", async () => {
    const home = homeWith("codex-forked-parent", "codex-script");
    const named = (name: string): string =>
      `${JSON.stringify({ id: ids["codex-script"], thread_name: name })}\n`;
    const index = `${named("first")}not json\n${named("Basket totals")}${named("")}`;
    writeFileSync(join(home, "session_index.jsonl"), index);
    const { sessions } = await findSessions([home]);
    expect(sessions.map(({ name }) => name)).toEqual(["Basket totals", undefined]);
    const found = await resolveSession("basket totals", [home]);
    expect(found.header.id).toBe(ids["codex-script"]);
    const session = await openSession(found.path);
    expect(session.name).toBe("Basket totals");
    await session.close();
    const hits = await collected(searchSessions([home], "basket totals", { kinds: ["name"] }));
    expect(hits.map(({ header }) => header.id)).toEqual([ids["codex-script"]]);
    writeFileSync(join(home, "session_index.jsonl"), `${index}${named("Totals of baskets")}`);
    const again = await findSessions([home]);
    expect(again.sessions[0]?.name).toBe("Totals of baskets");
  });
});

const record = (type: string, payload: object): object => ({
  timestamp: "2026-11-18T12:00:00.000Z",
  type,
  payload,
});
const event = (type: string, fields: object = {}): object =>
  record("event_msg", { type, ...fields });
const text = (said: string): object => ({ type: "input_text", text: said });
const item = (role: string, ...content: readonly object[]): object =>
  record("response_item", { type: "message", role, content });
const completed = (type: string, said: string): object =>
  event("item_completed", { item: { type, id: "i", content: [{ type: "text", text: said }] } });
const image = item(
  "user",
  text("<image name=[Image #1]>"),
  { type: "input_image", image_url: "data:image/png;base64,AA" },
  text("</image>"),
  text("look"),
);
const seen = event("user_message", { message: "look" });
const done = completed("UserMessage", "look");
const answer = (said: string): object => completed("AgentMessage", said);

describe("a message that a rollout holds several times", () => {
  it.each([
    ["an item, an event and a completed item", [image, seen, done], ["user"]],
    ["an event, an item and a completed item", [seen, image, done], ["user"]],
    ["a completed item, an item and an event", [done, image, seen], ["user"]],
    [
      "the same prompt in turns that completed items hold alone",
      [
        event("task_started"),
        done,
        answer("a"),
        event("task_complete"),
        event("task_started"),
        done,
        answer("a"),
      ],
      ["user", "assistant", "user", "assistant"],
    ],
    [
      "the same prompt again after a rollback",
      [done, answer("a"), event("thread_rolled_back", { num_turns: 1 }), done],
      ["user", "assistant", "user"],
    ],
    [
      "an answer in parts, and whole",
      [
        item("user", text("look")),
        item("assistant", text("one")),
        item("assistant", text("two")),
        answer("onetwo"),
      ],
      ["user", "assistant", "assistant"],
    ],
    [
      "a command after a script that never ended",
      [
        item("user", text("look")),
        record("response_item", {
          type: "custom_tool_call",
          call_id: "s",
          name: "exec",
          input: "",
        }),
        event("turn_aborted"),
        item("user", text("again")),
        event("item_completed", { item: { type: "CommandExecution", id: "c", command: ["ls"] } }),
      ],
      ["user", "assistant", "user"],
    ],
  ] as const)("is one: %s", async (_title, records, roles) => {
    const path = join(temporaryDirectory(), `rollout-x-${ids["codex-script"]}.jsonl`);
    const meta = record("session_meta", { id: ids["codex-script"], cwd: "/w" });
    writeFileSync(path, [meta, ...records].map((one) => `${JSON.stringify(one)}\n`).join(""));
    const session = await openSession(path);
    const entries = await collected(session.entries());
    const found = entries.flatMap((one) => (one.type === "message" ? [one.message.role] : []));
    expect(found).toEqual(roles);
    await session.close();
  });
});

it("sums of unrelated sessions count each, though they are equal, and so do those of one", async () => {
  const home = temporaryDirectory();
  const count = (input_tokens: number, total: number): object =>
    event("token_count", {
      info: { last_token_usage: { input_tokens }, total_token_usage: { total_tokens: total } },
    });
  const [a, b] = [count(10, 10), count(20, 30)];
  const write = (name: string, ...records: readonly object[]): void =>
    writeFileSync(join(home, name), records.map((one) => `${JSON.stringify(one)}\n`).join(""));
  write("rollout-a.jsonl", record("turn_context", { cwd: "/w", model: "m" }), a, b, a);
  write("rollout-b.jsonl", record("turn_context", { cwd: "/w", model: "n" }), {
    ...b,
    timestamp: "2026-11-18T13:00:00Z",
  });
  const { total } = await usageStatistics([home]);
  expect([total.requests, total.input]).toEqual([4, 60]);
});

describe("text that Codex writes as the user", () => {
  it("is not a typed prompt, and a command that a person ran is one", async () => {
    const session = await openSession(rollout(homeWith("codex-context"), "codex-context"));
    const { messages } = await session.context();
    expect(messages.map(({ role }) => role)).toEqual([
      "custom",
      "user",
      "assistant",
      "bashExecution",
      "custom",
      "user",
      "assistant",
    ]);
    expect(messages[3]).toMatchObject({
      command: "npm test",
      output: "one test failed",
      exitCode: 1,
    });
    const turns = await sessionTurns(session);
    expect(turns.map(({ input }) => input)).toEqual(["Rename the total", "Fix the test"]);
    await session.close();
  });

  it("is distinguished from a person who mentions it", async () => {
    const home = homeWith("codex-context");
    const path = rollout(home, "codex-context");
    const stored = readFileSync(path, "utf8");
    const typed = "What does ## My request for Codex: mean, and <context_window> tags?";
    writeFileSync(path, stored.replaceAll("Fix the test", typed));
    const session = await openSession(path);
    expect((await sessionTurns(session)).map(({ input }) => input)).toContain(typed);
    await session.close();
  });

  it("is not a prompt in a search and in statistics", async () => {
    const home = homeWith("codex-context");
    const hits = async (query: string, role?: string): Promise<number> =>
      (await collected(searchSessions([home], query, { role }))).length;
    expect(await hits("Rename the total", "user")).toBe(1);
    expect(await hits("cart.ts", "user")).toBe(0);
    expect(await hits("cart.ts")).toBe(1);
    expect(await hits("one test failed")).toBe(1);
    expect((await usageStatistics([home])).total.turns).toBe(2);
  });
});

describe("a fork that stamped its copies with its own time", () => {
  it("adds only its own turns, requests and hits, even if they have the same text", async () => {
    const home = homeWith("codex-copied", "codex-copy");
    const sums = { turns: 3, requests: 3, input: 1200, output: 150, cacheRead: 300 };
    expect((await usageStatistics([home])).total).toMatchObject(sums);
    const hits = await collected(searchSessions([home], "Continue"));
    expect(hits.map(({ entryId }) => entryId)).toEqual(["line:4", "line:9", "line:14"]);
    expect(new Set(hits.map(({ header }) => header.id))).toEqual(new Set([ids["codex-copy"]]));
  });
});

it("an open list shows a name that Codex sets later", async () => {
  const home = homeWith("codex-copied");
  const read = await findSessions([home]);
  expect(read.sessions[0]?.name).toBeUndefined();
  const lists = liveNames(home);
  expect(await lists.next()).toBeUndefined();
  const name = {
    id: ids["codex-copied"],
    thread_name: "Orders",
    updated_at: "2026-11-20T10:00:00Z",
  };
  writeFileSync(join(home, "session_index.jsonl"), `${JSON.stringify(name)}\n`);
  expect(await lists.next()).toBe("Orders");
  lists.end();
});

/** The name of the only session below a directory, as often as it changes. */
function liveNames(home: string): {
  readonly next: () => Promise<string | undefined>;
  readonly end: () => void;
} {
  const names: (string | undefined)[] = [];
  let wake: () => void = () => undefined;
  const subscription = sessions$([home], { pollMs: 20 }).subscribe(({ sessions, status }) => {
    const [session] = sessions;
    if (session === undefined || status.kind !== "live") return;
    if (names.length > 0 && names.at(-1) === session.name) return;
    names.push(session.name);
    wake();
  });
  let taken = 0;
  const next = async (): Promise<string | undefined> => {
    while (names.length <= taken) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    taken += 1;
    return names[taken - 1];
  };
  return { next, end: () => subscription.unsubscribe() };
}
