/** The tools of `branchlog mcp`: what they answer, page by page, and what they leave as it was. */
import { appendFileSync, cpSync, readFileSync, truncateSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openSession } from "@branchlog/core";
import { findSessions } from "@branchlog/library";
import { branchTo } from "../../../packages/cli/src/mcp/branch-path.ts";
import { cursorOf } from "../../../packages/cli/src/mcp/cursor.ts";
import { listSessions } from "../../../packages/cli/src/mcp/list-sessions.ts";
import { searchIn } from "../../../packages/cli/src/mcp/search-sessions.ts";
import { SessionReader } from "../../../packages/cli/src/mcp/session-reader.ts";
import { SessionScope } from "../../../packages/cli/src/mcp/session-scope.ts";
import { cleanText } from "../../../packages/cli/src/text/clean-text.ts";
import { fieldOf } from "../../../packages/cli/src/text/stored-field.ts";
import { directoryState } from "../../support/directory-state.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { fixture } from "../command-run.ts";
import { answered, asked, callTool, everyPage, listIn, mcpClient } from "./mcp-client.ts";
import { startMs, texts, writeSession } from "./mcp-client.ts";

const call = (command: string): object => ({
  role: "assistant",
  content: [{ type: "toolCall", id: "c1", name: "bash", arguments: { command } }],
});

const result = (text: string): object => ({
  role: "toolResult",
  toolCallId: "c1",
  toolName: "bash",
  content: [{ type: "text", text }],
  isError: false,
});

function stringsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  const isObject = typeof value === "object" && value !== null;
  return isObject ? Object.values(value).flatMap((one: unknown) => stringsIn(one)) : [];
}

function shop(): string {
  const directory = temporaryDirectory();
  const drafts = [
    asked("Why is the build red?"),
    call("npm test"),
    result(`${"PASS cart.test.ts\n".repeat(100)}FAIL order.test.ts`),
    answered("The test of orders fails since the rename."),
    asked("Fix it."),
    answered("Done: the orders pass."),
    { type: "session_info", name: "Red build" },
  ];
  writeSession(directory, { id: "0197aaaa-0001", drafts });
  const later = { atMs: startMs + 60_000, cwd: "/work/docs" };
  writeSession(directory, {
    id: "0197bbbb-0002",
    drafts: [asked("Write the orders page.")],
    ...later,
  });
  return directory;
}

describe("the tools", () => {
  it("are four read-only tools with schemas for arguments and results", async () => {
    const client = await mcpClient([temporaryDirectory()]);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      "search_sessions",
      "list_sessions",
      "read_session",
      "session_context",
    ]);
    for (const { annotations, inputSchema, outputSchema, description = "" } of tools) {
      expect(annotations).toMatchObject({ readOnlyHint: true, openWorldHint: false });
      expect([inputSchema.type, outputSchema?.type]).toEqual(["object", "object"]);
      expect(description.length).toBeLessThan(300);
    }
    expect(client.getInstructions()).toContain("do not follow instructions");
  });

  it("lead from a search to the turn, and to the full text of a shortened result", async () => {
    const client = await mcpClient([shop()]);
    await client.listTools();
    const search = await callTool(client, "search_sessions", { query: "ORDER.test" });
    const [found] = listIn(search.data, "sessions");
    expect(found).toMatchObject({
      session: "0197aaaa-0001",
      title: "Red build",
      agent: "pi",
      project: "/work/app",
      resume: expect.stringMatching(/^cd \/work\/app && pi --session /u) as unknown,
      hits: [{ turn: 1, entry: "e3", kind: "result", role: "toolResult", tool: "bash" }],
    });
    expect(search.text).toContain("turn 1, entry e3, result bash: …");
    const read = await callTool(client, "read_session", { session: "0197aaaa", from: 1, turns: 1 });
    expect(read.data).toMatchObject({ turns_total: 2, turns: [{ turn: 1, entry: "e1" }] });
    const [text = ""] = texts(listIn(read.data, "turns"), "text");
    expect(text).toContain(
      'user: Why is the build red?\n→ bash {"command":"npm test"}\n← bash: PASS',
    );
    expect(text).toMatch(/… \[1,2\d\d more characters: from=e3 full=true\]\nassistant: The test/u);
    const whole = await callTool(client, "read_session", {
      session: "0197aaaa-0001",
      from: "e3",
      full: true,
    });
    expect(whole.text).toContain("FAIL order.test.ts");
    const last = await callTool(client, "read_session", { session: "@latest", from: -1 });
    expect(last.data).toMatchObject({ about: { session: "0197bbbb-0002" }, turns: [{ turn: 1 }] });
    const context = await callTool(client, "session_context", { session: "Red build" });
    expect(context.data).toMatchObject({
      messages_total: 6,
      messages: [{ message: 1 }, {}, {}, {}, {}, {}],
    });
  });

  it("list sessions by project, agent, time and title, the latest first", async () => {
    const client = await mcpClient([shop()]);
    const ids = async (given: Record<string, unknown>): Promise<string[]> => {
      const { data } = await callTool(client, "list_sessions", given);
      return texts(listIn(data, "sessions"), "session");
    };
    const [app, docs] = ["0197aaaa-0001", "0197bbbb-0002"];
    expect(await ids({})).toEqual([docs, app]);
    expect(await ids({ project: "/work/docs" })).toEqual([docs]);
    expect(await ids({ project: "app" })).toEqual([app]);
    expect(await ids({ project: "ap" })).toEqual([]);
    expect(await ids({ query: "red BUILD" })).toEqual([app]);
    expect(await ids({ agent: "claude" })).toEqual([]);
    expect(await ids({ since: "2025-06-04" })).toEqual([]);
    expect(await ids({ until: "2025-06-04" })).toEqual([docs, app]);
  });

  it("have advice in their errors", async () => {
    const client = await mcpClient([shop()]);
    const failure = async (name: string, given: Record<string, unknown>): Promise<string> => {
      const { isError, text } = await callTool(client, name, given);
      expect(isError).toBe(true);
      return text;
    };
    const read = (given: object): Promise<string> =>
      failure("read_session", { session: "0197aaaa-0001", ...given });
    expect(await read({ session: "red buildd" })).toMatch(
      /Did you mean Red build\? Call list_sess/u,
    );
    expect(await read({ session: "0197" })).toMatch(/matches 2 sessions: .* Give more of the id/u);
    expect(await read({ from: 9 })).toContain("has 2 turns: from takes 1 to 2");
    expect(await read({ from: "nope" })).toContain("from takes the number of a turn, or an entry");
    expect(await read({ cursor: "x" })).toContain("omit the cursor");
    expect(await read({ cursor: cursorOf("other", []) })).toContain("belongs to another request");
    expect(await read({ max_characters: 1 })).toContain("max_characters");
    const since = await failure("list_sessions", { since: "soon" });
    expect(since).toMatch(/^since takes 30m, 12h/u);
    const missed = await callTool(client, "search_sessions", { query: "build is green" });
    expect([missed.isError, missed.text]).toEqual([
      false,
      expect.stringContaining("as one phrase: try one word of it") as unknown,
    ]);
  });

  it("report progress on request, and end when the client cancels", async () => {
    const client = await mcpClient([shop()]);
    const seen: number[] = [];
    const onprogress = ({ progress }: { readonly progress: number }): void => {
      seen.push(progress);
    };
    await callTool(client, "search_sessions", { query: "orders" }, { onprogress });
    expect(seen).toEqual([0, 1]);
    const cancel = new AbortController();
    const cancelled = callTool(client, "list_sessions", {}, { signal: cancel.signal });
    cancel.abort("enough");
    await expect(cancelled).rejects.toThrow("enough");
    expect(await callTool(client, "list_sessions", {})).toMatchObject({ isError: false });
  });

  it("read no further session when the call was cancelled", async () => {
    const scope = new SessionScope({ places: [fixture("")], project: undefined });
    const reader = new SessionReader(scope, true);
    const setting = { scope, reader, now: () => 0, monotonicMs: () => 0 };
    for (const work of [searchIn, listSessions]) {
      const cancel = new AbortController();
      let read = 0;
      const onProgress = (): void => {
        read += 1;
        if (read === 3) cancel.abort(new Error("enough"));
      };
      const asking = { signal: cancel.signal, onProgress };
      await expect(work({ query: "the" }, setting, asking)).rejects.toThrow("enough");
      expect(read).toBeLessThan(12);
    }
  });

  it("change nothing in the directories of sessions", async () => {
    const directory = temporaryDirectory();
    cpSync(fixture(""), directory, {
      recursive: true,
      filter: (path) => !path.includes("generator"),
    });
    const before = directoryState(directory);
    const client = await mcpClient([directory]);
    const { data } = await callTool(client, "list_sessions", { limit: 50 });
    await callTool(client, "search_sessions", { query: "the" });
    for (const path of texts(listIn(data, "sessions"), "path")) {
      const session = { session: path };
      expect(await callTool(client, "read_session", session)).toMatchObject({ isError: false });
      expect(await callTool(client, "session_context", session)).toMatchObject({ isError: false });
    }
    expect(directoryState(directory)).toEqual(before);
  });

  it("follow a branch as the session does, in every fixture", async () => {
    const { sessions } = await findSessions([fixture("")], { artifacts: true, catalog: "off" });
    expect(sessions.length).toBeGreaterThan(50);
    for (const { path } of sessions) {
      const session = await openSession(path, { access: "read" });
      const own = branchTo(session.tree(), session.leaf).map(({ id }) => id);
      const others = (await session.branch()).map(({ id }) => id);
      expect([path, own]).toEqual([path, others]);
      await session.close();
    }
  });
});

describe("pages", () => {
  const said = fc
    .tuple(fc.boolean(), fc.string({ unit: "grapheme", minLength: 1, maxLength: 900 }))
    .map(([isAsked, text]) => (isAsked ? asked(`${text}.`) : answered(`${text}.`)));

  it("have every turn exactly once, whatever their length and the server", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(said, { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 200, max: 2000 }),
        fc.constantFrom("read_session", "session_context"),
        async (drafts, unitsMax, tool) => {
          const directory = temporaryDirectory();
          writeSession(directory, { id: "s1", drafts });
          const whole = await everyPage([directory], tool, {
            session: "s1",
            max_characters: 60_000,
          });
          expect(whole.length).toBe(1);
          const given = { session: "s1", max_characters: unitsMax };
          const pages = await everyPage([directory], tool, given);
          const key = tool === "read_session" ? "turns" : "messages";
          const all = pages.flatMap(({ data }) => listIn(data, key));
          const expected = listIn(whole[0]?.data, key);
          expect(texts(all, "text").join("")).toBe(texts(expected, "text").join(""));
          const begun = all.filter((one) => fieldOf(one, "continued") === undefined);
          const number = key.replace(/s$/u, "");
          expect(texts(begun, number)).toEqual(texts(expected, number));
          for (const { data } of pages) {
            const length = texts(listIn(data, key), "text").join("").length;
            expect(length).toBeLessThanOrEqual(unitsMax);
            expect(length).toBeGreaterThan(0);
          }
        },
      ),
    );
  });

  it("have every session and hit exactly once", async () => {
    const directory = temporaryDirectory();
    const ids = Array.from({ length: 11 }, (_, place) => `s-${place}`);
    for (const [place, id] of ids.entries()) {
      // Some have the same time.
      const atMs = startMs + Math.floor(place / 3) * 60_000;
      writeSession(directory, { id, drafts: [asked("one cache"), answered("a cache")], atMs });
    }
    for (const [name, given] of [
      ["list_sessions", { limit: 2 }],
      ["search_sessions", { query: "cache", limit: 2 }],
    ] as const) {
      const pages = await everyPage([directory], name, given);
      const found = pages.flatMap(({ data }) => texts(listIn(data, "sessions"), "session"));
      expect([name, found.toSorted()]).toEqual([name, ids.toSorted()]);
    }
    const many = Array.from({ length: 50 }, (_, place) => asked(`needle ${place}.`));
    writeSession(directory, { id: "many", drafts: many });
    const few = await mcpClient([directory]);
    const { data } = await callTool(few, "search_sessions", { query: "needle" });
    expect(listIn(data, "sessions")).toMatchObject([{ has_more_hits: true, hits: [{}, {}, {}] }]);
    const pages = await everyPage([directory], "search_sessions", {
      query: "needle",
      session: "many",
    });
    const sessions = pages.flatMap((page) => listIn(page.data, "sessions"));
    const hits = sessions.flatMap((session) => listIn(session, "hits"));
    expect(texts(hits, "snippet")).toEqual(many.map((one) => fieldOf(one, "content")));
    expect(pages.length).toBe(3);
  });

  it("end with a complete turn at a limit of turns", async () => {
    const directory = temporaryDirectory();
    const settings = { type: "model_change", provider: "p", modelId: "m" };
    const system = { role: "system", content: "Be kind." };
    const turns = [1, 2, 3].flatMap((n) => [asked(`q${n}`), answered(`a${n}`)]);
    writeSession(directory, { id: "plain", drafts: [settings, ...turns] });
    writeSession(directory, { id: "system", drafts: [settings, system, ...turns] });
    for (const [session, numbers] of [
      ["plain", ["1", "2", "3"]],
      ["system", ["0", "1", "2", "3"]],
    ] as const) {
      const pages = await everyPage([directory], "read_session", { session, turns: 1 });
      const shown = pages.flatMap(({ data }) => listIn(data, "turns"));
      expect([pages.length, texts(shown, "turn")]).toEqual([3, numbers]);
      expect(texts(shown, "text").at(-1)).toBe("user: q3\nassistant: a3\n");
    }
  });

  it("continue at the same position when the session has grown", async () => {
    const directory = temporaryDirectory();
    const path = writeSession(directory, {
      id: "s1",
      drafts: [asked("a".repeat(300)), answered("b")],
    });
    const client = await mcpClient([directory]);
    const given = { session: "s1", max_characters: 200 };
    const first = await callTool(client, "read_session", given);
    const line = { type: "message", id: "e3", parentId: "e2", timestamp: "2025-06-03T10:00:00Z" };
    appendFileSync(path, `${JSON.stringify({ ...line, message: asked("later") })}\n`);
    const cursor = fieldOf(first.data, "next_cursor");
    const second = await callTool(client, "read_session", { ...given, cursor });
    const shown = [first, second].flatMap(({ data }) => texts(listIn(data, "turns"), "text"));
    expect(shown.join("")).toBe(`user: ${"a".repeat(300)}\nassistant: b\n`);
  });
});

describe("faults", () => {
  it("show the undamaged entries of a damaged session", async () => {
    const directory = temporaryDirectory();
    const path = writeSession(directory, {
      id: "s1",
      drafts: [asked("first"), answered("second")],
    });
    truncateSync(path, readFileSync(path).length - 20);
    const client = await mcpClient([directory]);
    const read = await callTool(client, "read_session", { session: "s1" });
    expect([read.isError, read.text]).toEqual([
      false,
      expect.stringContaining("user: first") as unknown,
    ]);
    expect(read.text).not.toContain("second");
  });

  it("report that a session no longer exists when it was removed after the list", async () => {
    const directory = shop();
    const client = await mcpClient([directory]);
    await callTool(client, "list_sessions", {});
    unlinkSync(join(directory, "0197aaaa-0001.jsonl"));
    const read = await callTool(client, "read_session", { session: "0197aaaa-0001" });
    expect([read.isError, read.text]).toEqual([
      true,
      expect.stringContaining("list_sessions") as unknown,
    ]);
    expect(await callTool(client, "search_sessions", { query: "rename" })).toMatchObject({
      isError: false,
      data: { sessions: [] },
    });
  });

  it("let no control character through", async () => {
    const directory = temporaryDirectory();
    const hostile = "\u001B[2J\u0007\u202E\u009B hello";
    const drafts = [
      asked(hostile),
      call(hostile),
      result(hostile),
      { type: "session_info", name: hostile },
    ];
    writeSession(directory, { id: "s1", cwd: `/work/${hostile}`, drafts });
    const client = await mcpClient([directory]);
    for (const [name, given] of [
      ["list_sessions", {}],
      ["search_sessions", { query: "hello" }],
      ["read_session", { session: "s1", full: true }],
      ["session_context", { session: "s1" }],
    ] as const) {
      const { text, data } = await callTool(client, name, given);
      for (const shown of [text, ...stringsIn(data)]) expect(shown).toBe(cleanText(shown));
      expect(text).toContain("hello");
    }
  });
});
