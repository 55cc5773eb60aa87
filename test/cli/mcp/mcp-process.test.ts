/** `branchlog mcp` as agents start it: a process, its streams and its end. */
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { expect, it, onTestFinished } from "vitest";
import { fieldOf } from "../../../packages/cli/src/text/stored-field.ts";
import { directoryState } from "../../support/directory-state.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { program, runProcess, startCommand } from "../command-process.ts";
import { jsonLines } from "../command-run.ts";
import { answered, asked, callTool, listIn, texts, writeSession } from "./mcp-client.ts";

/** A home with a session of pi. */
function homeOf(): string {
  const home = temporaryDirectory();
  const sessions = join(home, ".pi/agent/sessions/--work-app--");
  mkdirSync(sessions, { recursive: true });
  const drafts = [asked("Why is the build red?"), answered("A test fails.")];
  writeSession(sessions, { id: "0197aaaa-0001", drafts });
  return home;
}

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "test", version: "1" },
  },
};

const called = (id: number, name: string, given: object = {}): object => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: given },
});

const lines = (messages: readonly (object | string)[]): string =>
  messages.map((one) => `${typeof one === "string" ? one : JSON.stringify(one)}\n`).join("");

it("the official client finds and reads a session of this machine", async () => {
  const home = homeOf();
  const before = directoryState(join(home, ".pi"));
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program, "mcp"],
    env: { HOME: home, BRANCHLOG_CACHE_DIR: join(home, "cache") },
    stderr: "pipe",
  });
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport);
  onTestFinished(() => client.close());
  expect(client.getServerVersion()).toMatchObject({ name: "branchlog" });
  const { data } = await callTool(client, "search_sessions", { query: "build" });
  const [session = ""] = texts(listIn(data, "sessions"), "session");
  const read = await callTool(client, "read_session", { session });
  expect(read.text).toContain("user: Why is the build red?\nassistant: A test fails.");
  expect(directoryState(join(home, ".pi"))).toEqual(before);
});

it("prints only answers, skips other lines, and ends with its input", async () => {
  const env = { HOME: homeOf() };
  const other = { jsonrpc: "2.0", id: 9, method: "tools/none" };
  const input = lines([
    initialize,
    "not JSON",
    "",
    '{"jsonrpc":"2.0"}',
    "[1,2]",
    "\u0000\u001B[2J",
    { jsonrpc: "2.0", method: "notifications/initialized" },
    called(2, "list_sessions"),
    called(3, "read_session", { session: "0197aaaa-0001" }),
    called(4, "nope"),
    other,
  ]);
  const { code, out, err } = await runProcess(["mcp"], { env, input });
  expect(code).toBe(0);
  const answers = jsonLines(out);
  expect(new Set(answers.map((one) => fieldOf(one, "id")))).toEqual(new Set([1, 2, 3, 4, 9]));
  expect(answers.length).toBe(5);
  for (const one of answers) expect(fieldOf(one, "jsonrpc")).toBe("2.0");
  expect(err).toBe("a line is not an MCP message; it was skipped\n".repeat(5));
});

it("answers requests before the end of its input, except cancelled ones", async () => {
  const cancelled = {
    jsonrpc: "2.0",
    method: "notifications/cancelled",
    params: { requestId: 2, reason: "enough" },
  };
  const input = lines([
    initialize,
    called(2, "list_sessions"),
    cancelled,
    called(3, "list_sessions"),
  ]);
  const { code, out } = await runProcess(["mcp"], { env: { HOME: homeOf() }, input });
  expect([code, jsonLines(out).map((one) => fieldOf(one, "id"))]).toEqual([0, [1, 3]]);
});

it("ends when its client disconnects", async () => {
  const child = startCommand(["mcp"], { env: { HOME: homeOf() } });
  child.stdout?.destroy();
  child.stdin?.write(lines([initialize]));
  expect((await once(child, "exit"))[0]).toBe(0);
});

it("accepts a project with a tilde, as in a configuration", async () => {
  const home = homeOf();
  mkdirSync(join(home, "app"));
  const input = lines([initialize, called(2, "list_sessions")]);
  const { code, out } = await runProcess(["mcp", "--project", "~/app"], {
    env: { HOME: home },
    input,
  });
  expect([code, out]).toEqual([0, expect.stringContaining('"total":0') as unknown]);
});

it("rejects a directory or project that does not exist", async () => {
  for (const words of [["/nowhere"], ["--project", "/nowhere"], ["--project", ""]]) {
    const { code, out, err } = await runProcess(["mcp", ...words], { input: "" });
    expect([code, out]).toEqual([1, ""]);
    expect(err).toContain("is not a directory.");
  }
});
