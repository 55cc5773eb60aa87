/** Threads of LangGraph as sessions: real graphs, branches, and what faults leave. */
import { spawn } from "node:child_process";
import { appendFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import {
  Annotation,
  Command,
  END,
  MessagesAnnotation,
  START,
  StateGraph,
  interrupt,
} from "@langchain/langgraph";
import { describe, expect, it, onTestFinished } from "vitest";
import { openSession } from "@branchlog/core";
import { undoOperation } from "@branchlog/library";
import { BranchlogSaver } from "@branchlog/sdks/langgraph";
import { branchlog } from "../../cli/command-run.ts";
import { rejection, typedError } from "../../support/typed-errors.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

function saverIn(directory: string, dataDir: string = temporaryDirectory()): BranchlogSaver {
  const saver = new BranchlogSaver(directory, { dataDir });
  onTestFinished(() => saver.end());
  return saver;
}

/** A graph that asks a tool once, then answers with how many messages it has. */
function chat(checkpointer: BranchlogSaver) {
  const usage_metadata = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };
  const said = (given: object) => {
    const fields: object = { content: "", usage_metadata, ...given };
    return new AIMessage(fields);
  };
  return new StateGraph(MessagesAnnotation)
    .addNode("model", ({ messages }) => {
      const last = messages.at(-1);
      if (last?.type === "tool") {
        const text = `It is ${last.text}, after ${messages.length} messages.`;
        return { messages: [said({ content: text })] };
      }
      const tool_calls = [{ id: "call", name: "weather", args: { city: "Bonn" } }];
      return { messages: [said({ tool_calls })] };
    })
    .addNode("tool", () => {
      const fields = { content: "rainy", tool_call_id: "call", name: "weather" };
      return { messages: [new ToolMessage(fields)] };
    })
    .addEdge(START, "model")
    .addConditionalEdges("model", ({ messages }) => (messages.at(-1)?.text === "" ? "tool" : END))
    .addEdge("tool", "model")
    .compile({ checkpointer });
}

type CompiledChat = ReturnType<typeof chat>;

const onThread = (thread_id: string) => ({ configurable: { thread_id } });

describe("a thread of LangGraph", () => {
  it("continues in another process, and is a session for every command", async () => {
    const directory = temporaryDirectory();
    const config = onThread("weather");
    const ask = (text: string) =>
      chat(saverIn(directory)).invoke({ messages: [new HumanMessage(text)] }, config);
    await ask("How is the weather?");
    const { messages } = await ask("And now?");
    expect(messages.at(-1)?.content).toBe("It is rainy, after 7 messages.");
    const path = join(directory, "weather.jsonl");
    const turns = (await branchlog(["turns", path])).out;
    expect(turns).toMatch(/How is the weather\?[^]*And now\?[^]*after 7 messages/);
    expect((await branchlog(["search", "rainy", path])).out).toContain("weather.jsonl");
    expect((await branchlog(["verify", path])).code).toBe(0);
    const log = await openSession(path, { access: "read" });
    onTestFinished(() => log.close());
    const roles = (await log.context()).messages.map(({ role }) => role);
    const turn = ["user", "assistant", "toolResult", "assistant"];
    expect(roles).toEqual([...turn, ...turn]);
    expect((await log.usage).total).toMatchObject({ input: 40, output: 20 });
  });

  it("has a branch for each fork, with the values of that branch", async () => {
    const directory = temporaryDirectory();
    const graph = chat(saverIn(directory));
    const config = onThread("fork");
    await graph.invoke({ messages: [new HumanMessage("first")] }, config);
    const states = [];
    for await (const state of graph.getStateHistory(config)) states.push(state);
    const after = states.find(({ next }) => next.includes("tool"));
    const fork = await graph.updateState(
      after?.config ?? config,
      { messages: [new ToolMessage({ content: "sunny", tool_call_id: "call" })] },
      "tool",
    );
    const forked = await graph.invoke(null, fork);
    expect(forked.messages.at(-1)?.content).toBe("It is sunny, after 3 messages.");
    const saidIn = async (one: CompiledChat, at: typeof fork): Promise<unknown> => {
      const { messages } = (await one.getState(at)).values as typeof forked;
      return messages.at(-1)?.content;
    };
    const before = { ...config, ...states[0]?.config };
    expect(await saidIn(graph, before)).toBe("It is rainy, after 3 messages.");
    const again = chat(saverIn(directory));
    expect(await saidIn(again, config)).toBe("It is sunny, after 3 messages.");
    const log = await openSession(join(directory, "fork.jsonl"), { access: "read" });
    onTestFinished(() => log.close());
    expect(log.tips()).toHaveLength(2);
  });

  it("is interrupted, and resumed from another process, with subgraphs", async () => {
    const State = Annotation.Root({ answer: Annotation<string> });
    const directory = temporaryDirectory();
    const build = () => {
      const inner = new StateGraph(State)
        .addNode("ask", () => ({ answer: interrupt<string, string>("Which city?") }))
        .addEdge(START, "ask")
        .compile();
      return new StateGraph(State)
        .addNode("inner", inner)
        .addNode("end", ({ answer }) => ({ answer: `${answer}!` }))
        .addEdge(START, "inner")
        .addEdge("inner", "end")
        .compile({ checkpointer: saverIn(directory) });
    };
    const config = onThread("interrupted");
    await build().invoke({ answer: "" }, config);
    const state = await build().getState(config, { subgraphs: true });
    expect(state.tasks[0]?.interrupts[0]?.value).toBe("Which city?");
    const resumed = await build().invoke(new Command({ resume: "Bonn" }), config);
    expect(resumed).toEqual({ answer: "Bonn!" });
  });

  const put = (saver: BranchlogSaver, id: string, value: unknown, parent?: string) => {
    const configurable = { thread_id: "t", ...(parent && { checkpoint_id: parent }) };
    const channels = { channel_values: { x: value }, channel_versions: { x: 1 } };
    const checkpoint = { ...emptyCheckpoint(), id, ts: "", ...channels };
    const metadata = { source: "loop", step: 0, parents: {} } as const;
    return saver.put({ configurable }, checkpoint, metadata, { x: 1 });
  };

  it("writes nothing twice when a call is repeated, here or in another process", async () => {
    const directory = temporaryDirectory();
    const [saver, other] = [saverIn(directory), saverIn(directory)];
    for (const one of [saver, other, saver]) {
      const config = await put(one, "1", { a: [1] });
      await one.putWrites(config, [["x", 1]], "task", "path");
      await one.putWrites(config, [["__error__", "bad"]], "task", "path");
      // Of a task that is run again, the first write counts; of its errors the last.
      await one.putWrites(config, [["x", 2]], "task", "path");
    }
    const tuple = await other.getTuple(onThread("t"));
    expect(tuple?.pendingWrites).toEqual([
      ["task", "__error__", "bad"],
      ["task", "x", 1],
    ]);
    const log = await openSession(join(directory, "t.jsonl"), { access: "read" });
    onTestFinished(() => log.close());
    expect(log.revision).toBe(3);
  });

  it("keeps separate values of one version on each branch", async () => {
    const saver = saverIn(temporaryDirectory());
    await put(saver, "1", "root");
    await put(saver, "2", "left", "1");
    await put(saver, "3", "right", "1");
    const values = [];
    for await (const { checkpoint } of saver.list(onThread("t"))) {
      values.push(checkpoint.channel_values["x"]);
    }
    expect(values).toEqual(["right", "left", "root"]);
  });

  it("orders writes by the paths of their tasks", async () => {
    const saver = saverIn(temporaryDirectory());
    const config = await put(saver, "1", 1);
    await saver.putWrites(config, [["x", "b"]], "a-task", "~2");
    await saver.putWrites(config, [["x", "a"]], "b-task", "~1");
    await saver.putWrites(config, [["x", "input"]], "c-task");
    const tuple = await saver.getTuple(config);
    expect(tuple?.pendingWrites?.map(([, , value]) => value)).toEqual(["input", "a", "b"]);
  });

  it("is archived when it is deleted, and restored", async () => {
    const [directory, dataDir] = [temporaryDirectory(), temporaryDirectory()];
    const [saver, other] = [saverIn(directory, dataDir), saverIn(directory, dataDir)];
    await put(saver, "1", 1);
    await put(other, "2", 2, "1");
    await saver.deleteThread("t");
    await saver.deleteThread("t");
    expect(await saver.getTuple(onThread("t"))).toBeUndefined();
    expect(await other.getTuple(onThread("t"))).toBeUndefined();
    expect(readdirSync(directory)).toEqual([]);
    await undoOperation(undefined, { dataDir });
    expect((await other.getTuple(onThread("t")))?.checkpoint.id).toBe("2");
    await other.deleteThread("t");
    await put(other, "3", 3);
    expect((await saver.getTuple(onThread("t")))?.checkpoint.id).toBe("3");
  });

  it("keeps threads of any name apart, and lists them all", async () => {
    const saver = saverIn(temporaryDirectory());
    const names = ["a", "A", "../up", "ü/ä", "a.jsonl", "__proto__", "-", "x".repeat(150)];
    const all = emptyCheckpoint();
    const metadata = { source: "input", step: -1, parents: {} } as const;
    for (const name of names) await saver.put(onThread(name), { ...all, id: "1" }, metadata, {});
    const listed: string[] = [];
    for await (const { config } of saver.list({})) {
      listed.push(JSON.stringify(config.configurable?.["thread_id"]));
    }
    expect(listed.toSorted()).toEqual(names.map((name) => JSON.stringify(name)).toSorted());
  });

  it("rejects values that it cannot store, once for each call, and writes nothing", async () => {
    const directory = temporaryDirectory();
    const saver = saverIn(directory);
    const codeOf = async (call: Promise<unknown>) => typedError(await rejection(call)).code;
    expect(await codeOf(put(saver, "1", () => 1))).toBe("ERR_UNSERIALIZABLE");
    const metadata = { source: "input", step: -1, parents: {} } as const;
    const bad = [{}, onThread(""), onThread("x".repeat(300)), { configurable: { thread_id: 7 } }];
    for (const config of bad) {
      const call = saver.put(config, emptyCheckpoint(), metadata, {});
      expect(await codeOf(call)).toBe("ERR_INVALID_ARGUMENT");
    }
    expect(await codeOf(saver.putWrites(onThread("t"), [], "task"))).toBe("ERR_INVALID_ARGUMENT");
    expect(readdirSync(directory)).toEqual([]);
  });

  it("has concurrent writes of several processes, and acknowledged ones of a killed one", async () => {
    const directory = temporaryDirectory();
    const script = fileURLToPath(new URL("appending-process.mjs", import.meta.url));
    const appending = (name: string, killAfter = Infinity): Promise<number> => {
      const words = [script, directory, "t", name, "15"];
      const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"] });
      onTestFinished(() => void child.kill("SIGKILL"));
      let said = "";
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        said += text;
        if (said.split("\n").length > killAfter) child.kill("SIGKILL");
      });
      return new Promise((done) => {
        child.on("close", () => done(said.split("\n").length - 1));
      });
    };
    const all = await Promise.all([appending("a"), appending("b"), appending("c", 3)]);
    expect(all.slice(0, 2)).toEqual([15, 15]);
    appendFileSync(join(directory, "t.jsonl"), '{"type":"custom","customType":"langgraph.ch');
    expect(await appending("c")).toBe(15);
    const saver = saverIn(directory);
    const ids = [];
    for await (const { checkpoint, pendingWrites } of saver.list(onThread("t"))) {
      ids.push(checkpoint.id);
      expect(pendingWrites).toHaveLength(2);
    }
    expect(new Set(ids).size).toBe(45);
    expect(ids).toHaveLength(45);
  });

  it("keeps the writes of channels named like inherited members", async () => {
    const saver = saverIn(temporaryDirectory());
    const config = { configurable: { thread_id: "t", checkpoint_ns: "" } };
    const checkpoint = await saver.put(
      config,
      emptyCheckpoint(),
      {
        source: "loop",
        step: 0,
        parents: {},
      },
      {},
    );
    const names = ["toString", "valueOf", "constructor"];
    await saver.putWrites(
      checkpoint,
      names.map((name) => [name, name]),
      "task",
    );
    const { pendingWrites } = (await saver.getTuple(checkpoint)) ?? {};
    expect(pendingWrites).toEqual(names.map((name) => ["task", name, name]));
  });

  it("rejects a thread whose id has a lone surrogate, which cannot be encoded as UTF-8", async () => {
    const saver = saverIn(temporaryDirectory());
    const error = typedError(await rejection(saver.getTuple(onThread("\ud800"))));
    expect(error.code).toBe("ERR_INVALID_ARGUMENT");
  });
});
