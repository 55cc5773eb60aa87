/** Sessions of OpenAI Agents: what comes back, what stays on branches, and what commands show. */
import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { MemorySession, RunContext, Usage } from "@openai/agents-core";
import type { AgentInputItem } from "@openai/agents-core";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { openSession } from "@branchlog/core";
import { openaiSession } from "@branchlog/sdks/openai";
import type { OpenaiSession } from "@branchlog/sdks/openai";
import { branchlog } from "../../cli/command-run.ts";
import { MemoryLogStore } from "../../support/memory-log-store.ts";
import { rejection, typedError } from "../../support/typed-errors.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const user = (content: string): AgentInputItem => ({ role: "user", content });
const call = (callId: string, text: string): AgentInputItem => ({
  type: "function_call",
  callId,
  name: "weather",
  status: "completed",
  arguments: text,
});
const result = (callId: string, output: string): AgentInputItem => ({
  type: "function_call_result",
  callId,
  name: "weather",
  status: "completed",
  output,
});
const answer = (text: string): AgentInputItem => ({
  id: "msg_1",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text, providerData: { annotations: [] } }],
});
const compaction: AgentInputItem = { type: "compaction", id: "c", encrypted_content: "x9" };

/** One of each kind. */
const items: readonly AgentInputItem[] = [
  { role: "system", content: "Be brief." },
  user("How is the weather?"),
  {
    role: "user",
    content: [
      { type: "input_text", text: "Here:" },
      { type: "input_image", image: "data:image/png;base64,AAAA" },
    ],
  },
  { type: "reasoning", id: "r", content: [{ type: "input_text", text: "Look outside" }] },
  call("1", '{"city":"Bonn"}'),
  result("1", "Rain"),
  call("2", "not JSON"),
  {
    type: "function_call_result",
    name: "weather",
    callId: "2",
    status: "incomplete",
    output: [{ type: "input_text", text: "Snow" }],
  },
  { type: "hosted_tool_call", id: "h", name: "web_search", arguments: "{}", output: "Found" },
  { type: "shell_call", callId: "3", action: { commands: ["ls -l"] } },
  {
    type: "shell_call_output",
    callId: "3",
    output: [{ stdout: "a.txt", stderr: "", outcome: { type: "exit", exitCode: 0 } }],
  },
  compaction,
  answer("It rains."),
  { type: "unknown", providerData: { deep: [{ "": null }] } },
];

function twoOn(path: string): readonly [OpenaiSession, OpenaiSession] {
  const sessions = [openaiSession(path), openaiSession(path)] as const;
  onTestFinished(async () => {
    for (const session of sessions) await session.close();
  });
  return sessions;
}

const newPath = (): string => join(temporaryDirectory(), "s.jsonl");

describe("a session of OpenAI Agents", () => {
  it("returns items of every kind unchanged, here and in another process", async () => {
    const [session, other] = twoOn(newPath());
    expect(await session.getItems()).toEqual([]);
    await session.addItems([...items]);
    await session.addItems([]);
    expect(await session.getItems()).toEqual(items);
    expect(await other.getItems()).toEqual(items);
    expect(await other.getItems(2)).toEqual(items.slice(-2));
    expect(await other.getItems(0)).toEqual([]);
    expect(await other.getItems(99)).toEqual(items);
    expect(await other.getSessionId()).toBe(await session.getSessionId());
  });

  it("behaves like the memory session of the SDK, in any process", async () => {
    const texts = fc.string({ maxLength: 3 });
    const item = fc.oneof(
      texts.map(user),
      texts.map((id) => call(id, "{}")),
    );
    const steps = fc.array(
      fc.oneof(
        fc.record({ kind: fc.constant("add" as const), given: fc.array(item, { maxLength: 3 }) }),
        fc.record({
          kind: fc.constant("append" as const),
          given: fc.array(item, { maxLength: 3 }),
        }),
        fc.record({
          kind: fc.constant("replace" as const),
          given: fc.array(item, { maxLength: 2 }),
          count: fc.nat(3),
        }),
        fc.record({ kind: fc.constant("pop" as const) }),
        fc.record({ kind: fc.constant("clear" as const) }),
        fc.record({ kind: fc.constant("rewrite" as const), callId: texts }),
      ),
      { maxLength: 12 },
    );
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const model = new MemorySession();
        const path = join(temporaryDirectory(), "s.jsonl");
        const sessions = [openaiSession(path), openaiSession(path)] as const;
        for (const [i, step] of all.entries()) {
          const session = sessions[i % 2 === 0 ? 0 : 1];
          const expectedSuffix =
            step.kind === "replace" ? (await model.getItems()).slice(-step.count || Infinity) : [];
          for (const one of [model, session]) {
            if (step.kind === "add") await one.addItems(step.given);
            if (step.kind === "clear") await one.clearSession();
            if (step.kind === "append") {
              const transaction = { type: "append_items", items: step.given } as const;
              await one.applyHistoryTransaction({ operationId: `${i}`, transaction });
            }
            if (step.kind === "replace") {
              const replaced = { expectedSuffix, replacement: step.given };
              const transaction = { type: "replace_suffix", ...replaced } as const;
              await one.applyHistoryTransaction({ operationId: `${i}`, transaction });
            }
            if (step.kind === "rewrite") {
              const { callId } = step;
              const type = "function_call";
              const replacement = { type, callId, name: "other", arguments: "{}" } as const;
              const mutation = { callId, replacement, type: "replace_function_call" } as const;
              await one.applyHistoryMutations({ mutations: [mutation] });
            }
          }
          if (step.kind === "pop") expect(await session.popItem()).toEqual(await model.popItem());
          expect(await sessions[i % 2 === 0 ? 1 : 0].getItems()).toEqual(await model.getItems());
        }
        for (const session of sessions) await session.close();
      }),
      { numRuns: 30 },
    );
  });

  it("keeps popped, cleared and replaced items on branches", async () => {
    const path = newPath();
    const [session] = twoOn(path);
    await session.addItems([user("one"), user("two")]);
    expect(await session.popItem()).toEqual(user("two"));
    await session.addItems([user("three")]);
    await session.clearSession();
    expect(await session.popItem()).toBeUndefined();
    await session.addItems([user("four")]);
    const log = await openSession(path, { access: "read" });
    onTestFinished(() => log.close());
    const { messages } = await log.context();
    expect(messages).toMatchObject([{ role: "user", content: "four" }]);
    const { out } = await branchlog(["tree", path, "--all"]).catch(() => ({ out: "" }));
    const shown = out === "" ? (await branchlog(["tree", path])).out : out;
    for (const text of ["one", "two", "three", "four"]) expect(shown).toContain(text);
  });

  it("keeps a compaction as one entry, with the earlier items above it", async () => {
    const path = newPath();
    const [session, other] = twoOn(path);
    await session.addItems([user("one"), user("two")]);
    await session.replaceHistoryWithCompaction([compaction, user("two")]);
    expect(await other.getItems()).toEqual([compaction, user("two")]);
    await other.addItems([answer("Yes.")]);
    expect(await session.getItems()).toEqual([compaction, user("two"), answer("Yes.")]);
    const log = await openSession(path, { access: "read" });
    onTestFinished(() => log.close());
    const { messages } = await log.context();
    expect(messages.map(({ role }) => role)).toEqual(["compactionSummary", "user", "assistant"]);
    for (const _ of [1, 2, 3]) await session.popItem();
    expect(await other.getItems()).toEqual([]);
  });

  it("is a session for every command", async () => {
    const path = newPath();
    const [session] = twoOn(path);
    const usage = new Usage({ inputTokens: 120, outputTokens: 30, totalTokens: 150 });
    const context = new RunContext();
    context.usage.add(usage);
    await session.addItems([user("How is it in Bonn?"), call("1", '{"city":"Bonn"}')], context);
    context.usage.add(usage);
    await session.addItems([result("1", "Rain"), answer("It rains.")], context);
    const turns = (await branchlog(["turns", path, "--json"])).out;
    expect(turns).toContain("How is it in Bonn?");
    expect(turns).toContain("It rains.");
    expect((await branchlog(["tree", path])).out).toContain("weather");
    expect((await branchlog(["search", "rain", path])).out).toMatch(/Rain[^]*It rains\./);
    const log = await openSession(path, { access: "read" });
    onTestFinished(() => log.close());
    expect((await log.usage).total).toMatchObject({ input: 240, output: 60 });
  });

  it("applies a transaction once, and rejects another one with the same id", async () => {
    const [session, other] = twoOn(newPath());
    const append = { type: "append_items", items: [user("one"), user("two")] } as const;
    const args = { operationId: "op", transaction: { ...append, items: [...append.items] } };
    await Promise.all([session.applyHistoryTransaction(args), other.applyHistoryTransaction(args)]);
    await other.applyHistoryTransaction(args);
    expect(await session.getItems()).toEqual(append.items);
    const otherArgs = { ...args, transaction: { ...append, items: [user("three")] } };
    const reused = await rejection(Promise.resolve(session.applyHistoryTransaction(otherArgs)));
    expect(typedError(reused).code).toBe("ERR_DUPLICATE_ID");
    const transaction = { expectedSuffix: [user("one")], replacement: [user("three")] };
    const suffix = { type: "replace_suffix", ...transaction } as const;
    const failed = session.applyHistoryTransaction({ operationId: "o2", transaction: suffix });
    expect(typedError(await rejection(Promise.resolve(failed))).code).toBe("ERR_CONFLICT");
    expect(await session.getItems()).toEqual(append.items);
  });

  it("shows nothing of a change of several items that was killed", async () => {
    const path = newPath();
    const [session] = twoOn(path);
    await session.addItems([user("one")]);
    const log = await openSession(path, { access: "read" });
    const parentId = log.tail;
    await log.close();
    const timestamp = "2026-01-01T00:00:00.000Z";
    const torn = { type: "message", id: "torn1", parentId, timestamp };
    const message = { role: "user", content: "two", timestamp: 0 };
    const beside = { openaiItem: user("two"), openaiChange: "never-ended" };
    appendFileSync(path, `${JSON.stringify({ ...torn, message, ...beside })}\n{"type":"mess`);
    expect(await session.getItems()).toEqual([user("one")]);
    await session.addItems([user("three")]);
    expect(await session.getItems()).toEqual([user("one"), user("three")]);
  });

  it.each([
    ["a function", () => 1],
    ["a BigInt", 1n],
    ["bytes", new Uint8Array(2)],
  ])("rejects items with %s, and writes none of them", async (_, value) => {
    const [session] = twoOn(newPath());
    const bad = { type: "unknown", providerData: { value } } as const;
    const failed = await rejection(session.addItems([user("one"), bad]));
    expect(typedError(failed).code).toBe("ERR_UNSERIALIZABLE");
    expect(await session.getItems()).toEqual([]);
  });

  it("is kept in a store as well", async () => {
    const store = new MemoryLogStore();
    const [one, other] = [1, 2].map(() => openaiSession({ store, id: "support" }, { cwd: "/w" }));
    await Promise.all([one?.addItems([user("one")]), other?.addItems([user("two")])]);
    expect(await one?.getItems()).toHaveLength(2);
    await other?.popItem();
    expect(await one?.getItems()).toHaveLength(1);
  });

  it("rejects what it cannot open, once for each call, and use after it was closed", async () => {
    const session = openaiSession(temporaryDirectory());
    for (const _ of [1, 2]) {
      expect(typedError(await rejection(session.getItems())).code).toBe("ERR_LOG_UNREADABLE");
    }
    await session.close();
    expect(typedError(await rejection(session.popItem())).code).toBe("ERR_CLOSED");
  });

  it("has all items that two processes add concurrently, also if one of them is killed", async () => {
    const path = newPath();
    const script = fileURLToPath(new URL("adding-process.mjs", import.meta.url));
    const adding = (name: string, killAfter = Infinity): Promise<number> => {
      const stdio = ["ignore", "pipe", "inherit"] as const;
      const child = spawn(process.execPath, [script, path, name, "25"], { stdio: [...stdio] });
      onTestFinished(() => void child.kill("SIGKILL"));
      let said = "";
      child.stdout?.setEncoding("utf8").on("data", (text: string) => {
        said += text;
        if (said.split("\n").length > killAfter) child.kill("SIGKILL");
      });
      return new Promise((done) => {
        child.on("close", () => done(said.split("\n").length - 1));
      });
    };
    expect(await Promise.all([adding("one"), adding("two")])).toEqual([25, 25]);
    const told = await adding("killed", 5);
    expect(told).toBeGreaterThanOrEqual(5);
    expect(await adding("killed")).toBe(25);
    const [session] = twoOn(path);
    const contents = (await session.getItems()).map((item) =>
      "content" in item ? item.content : "",
    );
    expect(contents).toHaveLength(150);
    const counts = new Map<unknown, number>();
    for (const content of contents) counts.set(content, (counts.get(content) ?? 0) + 1);
    expect(new Set(counts.values())).toEqual(new Set([2]));
  });

  it("rejects non-objects with a code, and writes nothing", async () => {
    const session = openaiSession(join(temporaryDirectory(), "s.jsonl"));
    for (const text of ['"text"', "null", "5", "[]"]) {
      // As a program without types does.
      const item = JSON.parse(text) as AgentInputItem;
      const error = typedError(await rejection(session.addItems([user("Hi"), item])));
      expect(error.code).toBe("ERR_INVALID_ARGUMENT");
    }
    expect(await session.getItems()).toEqual([]);
    await session.close();
  });
});
