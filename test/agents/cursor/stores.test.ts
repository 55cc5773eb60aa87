/** The chats of Cursor's command, and the database of its editor. */
import { copyFileSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { forkSession } from "@branchlog/core";
import { agentNamed } from "@branchlog/core/rows";
import { archiveSessions, deleteSession, findSessions, searchSessions } from "@branchlog/library";
import { KeptCatalog, findAmong } from "@branchlog/library/catalogs";
import { collected } from "../../support/collected.ts";
import { writeDatabase, writing } from "../../support/database-file.ts";
import { directoryState } from "../../support/directory-state.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import {
  codeOf,
  entriesAt,
  fixturePath,
  listedIn,
  messagesOf,
  promptsOf,
  read,
  toolsOf,
} from "../read-session.ts";
import {
  chatId,
  chatIn,
  chatMessages,
  chatOf,
  chatPlace,
  editorChildId,
  editorId,
  editorIn,
} from "./cursor-fixtures.ts";

const secret = "not-to-be-read";

afterEach(() => {
  vi.unstubAllEnvs();
});

const bubbleKey = (id: string): string => `bubbleId:${editorId}:${id}`;

/** A transcript of a session below a home directory. */
function transcriptIn(home: string, id: string, below = `${id}/${id}.jsonl`): string {
  const path = join(home, ".cursor/projects/home-dev-shop/agent-transcripts", below);
  mkdirSync(dirname(path), { recursive: true });
  copyFileSync(fixturePath("cursor/transcript-2026-07.jsonl"), path);
  return path;
}

describe("a session of Cursor's editor", () => {
  it("has prompts, thoughts, calls with their results, models, tokens and times", async () => {
    const path = await editorIn(temporaryDirectory());
    await read(`${path}#${editorId}`, async (session) => {
      expect([session.name, session.header.cwd]).toEqual(["Rates of the shop", "/home/dev/shop"]);
      const entries = await session.branch();
      expect(promptsOf(entries)).toEqual([
        "Which rates are in the shop?",
        "Change the winter to 6.",
      ]);
      expect(toolsOf(entries)).toEqual([
        "read_file",
        "run_terminal_cmd",
        "task_v2",
        "search_replace",
      ]);
      expect(messagesOf(entries, "toolResult").map(({ message }) => message)).toMatchObject([
        { isError: false, content: [{ text: "winter 5, summer 7" }] },
        { isError: true, content: [{ text: "1 test failed" }] },
        { isError: false },
        { isError: true, content: [] },
      ]);
      expect(messagesOf(entries, "assistant").map(({ message }) => message)).toMatchObject([
        { model: "composer-2", content: [{ type: "thinking" }] },
        { content: [{ type: "text", text: "I read the file of the rates." }] },
        { content: [{ id: "call_read", arguments: { target_file: "rates.txt" } }] },
        { stopReason: "toolUse" },
        { content: [{ name: "task_v2", arguments: { input: '{"prompt":' } }] },
        { stopReason: "stop", usage: { input: 5200, output: 310 } },
        { content: [{ arguments: { relativeWorkspacePath: "rates.txt" } }] },
        { stopReason: "error", errorMessage: "The connection was lost." },
      ]);
      expect(entries.at(-1)?.timestamp).toBe("2026-11-20T09:05:09.000Z");
      expect((await session.usage).total).toMatchObject({ totalTokens: 5510, cost: 0 });
      // Of a bubble that was taken back, and of what is not of the session.
      expect(JSON.stringify(entries)).not.toMatch(/taken back|not-to-be-read/);
    });
  });

  it("of before 2025 has its bubbles in its own row", async () => {
    const path = await editorIn(temporaryDirectory());
    const old = (await listedIn(path)).find(({ name }) => name === "An old talk");
    const entries = await entriesAt(old?.path ?? "");
    expect(promptsOf(entries)).toEqual(["What is a cart?"]);
    expect(entries.at(-1)).toMatchObject({ timestamp: "2025-01-01T00:00:00.000Z" });
    expect(old?.usage?.total.totalTokens ?? 0).toBe(0);
  });

  it("of a sub-agent is below its session; a draft is none", async () => {
    const path = await editorIn(temporaryDirectory());
    const all = await listedIn(path);
    expect(all.map(({ header }) => header.parentSession)).toEqual([undefined, editorId, undefined]);
    expect(all[1]?.transcript).toEqual({ of: "cursor", isSubagent: true });
    expect(all[1]?.header.id).toBe(editorChildId);
  });

  it("has a bubble once it has ended, or was not changed for long", async () => {
    const path = await editorIn(temporaryDirectory());
    const running = (changedMs: number): string =>
      "UPDATE cursorDiskKV SET value = json_set(value, '$.generatingBubbleIds', json('[\"e1\"]'), " +
      `'$.lastUpdatedAt', ${changedMs}) WHERE key = 'composerData:${editorId}'`;
    const count = async (): Promise<number> => (await entriesAt(`${path}#${editorId}`)).length;
    const whole = await count();
    (await writing(path, running(Date.now())))();
    expect(await count()).toBe(whole - 1);
    (await writing(path, running(Date.now() - 3_600_000)))();
    expect(await count()).toBe(whole);
  });

  it("is listed from there, where there is a transcript of it, too", async () => {
    const home = temporaryDirectory();
    const path = await editorIn(home);
    const transcripts = [
      transcriptIn(home, editorId),
      transcriptIn(home, editorId, `${editorId}/subagents/${editorChildId}.jsonl`),
    ];
    const both = await listedIn(join(home, ".cursor/projects"), path);
    expect(both.map((one) => one.path.startsWith(path))).toEqual([true, true, true]);
    const hits = await collected(searchSessions([join(home, ".cursor/projects"), path], "rate"));
    expect(hits.filter((hit) => !hit.path.startsWith(path))).toEqual([]);
    expect(hits.length).toBeGreaterThan(0);
    const alone = await listedIn(join(home, ".cursor/projects"));
    expect(alone.map((one) => one.path)).toEqual(transcripts);
  });
});

describe("a chat of Cursor's command", () => {
  const newChat = (): Promise<string> => chatIn(temporaryDirectory(), ...chatOf(chatMessages));

  it("has prompts, calls with their results, and a summary, without the system prompt", async () => {
    const path = await newChat();
    await read(path, async (session) => {
      expect([session.name, session.header]).toMatchObject([
        "Rates",
        { id: chatId, cwd: "/home/dev/the shop", timestamp: "2026-11-20T09:00:00.000Z" },
      ]);
      const entries = await session.branch();
      expect(promptsOf(entries)).toEqual([
        "Which rates are in the shop?",
        "Go on with the winter.",
        "Go on with the winter.",
      ]);
      expect(entries.map(({ type }) => type)).toContain("custom_message");
      expect(messagesOf(entries, "assistant").map(({ message }) => message)).toMatchObject([
        {
          model: "composer-2",
          content: [{ redacted: true }, { type: "text" }, { id: "tool_1" }, { name: "Shell" }],
        },
        { content: [{ thinkingSignature: "c2ln" }, { type: "text" }] },
        { stopReason: "stop" },
      ]);
      expect(messagesOf(entries, "toolResult").map(({ message }) => message)).toMatchObject([
        { toolName: "Read", isError: false, content: [{ text: "winter 5, summer 7" }] },
        { toolName: "Shell", isError: true },
      ]);
      const { messages } = await session.context();
      expect(messages.length).toBe(4);
      expect(JSON.stringify([session.header, entries])).not.toContain(secret);
    });
  });

  it("is below the session whose sub-agent it is, and has no name before it has one", async () => {
    const meta = { name: "New Agent", subagentInfo: { parentAgentId: editorId } };
    const path = await chatIn(temporaryDirectory(), ...chatOf(chatMessages, meta));
    const [listed] = await listedIn(dirname(dirname(dirname(path))));
    expect(listed?.header.parentSession).toBe(editorId);
    expect(listed?.name).toBeUndefined();
  });

  it("is listed by its transcript, if there is one, and by itself, if not", async () => {
    const home = temporaryDirectory();
    const path = await chatIn(home, ...chatOf(chatMessages));
    const places = [join(home, ".cursor/projects"), join(home, ".cursor/chats")];
    mkdirSync(places[0] ?? "");
    expect((await listedIn(...places)).map((one) => one.path)).toEqual([path]);
    const transcript = transcriptIn(home, chatId, `${chatId}.jsonl`);
    expect((await listedIn(...places)).map((one) => one.path)).toEqual([transcript]);
  });

  it("is archived with all in its directory", async () => {
    const path = await newChat();
    writeFileSync(join(dirname(path), "meta.json"), "{}");
    const options = { dataDir: temporaryDirectory(), force: true };
    expect((await archiveSessions([path], options)).failures).toEqual([]);
    expect(existsSync(join(dirname(path), "meta.json")) || existsSync(path)).toBe(false);
  });

  it("is followed, and has its other messages where one is damaged or encrypted", async () => {
    const path = await newChat();
    await read(path, async (session) => {
      const said = JSON.stringify({
        role: "user",
        content: "<user_query>\nAnd now?\n</user_query>",
      });
      (await writing(path, ...chatOf([...chatMessages, said])))();
      await session.refresh();
      expect(promptsOf(await session.branch()).at(-1)).toBe("And now?");
    });
    const damaged = Buffer.from([0x93, 0x01, 0xff, 0x7b]);
    (
      await writing(
        path,
        ...chatOf([...chatMessages.slice(0, 8), damaged, ...chatMessages.slice(9)]),
      )
    )();
    expect(promptsOf(await entriesAt(path)).length).toBe(2);
  });

  it("has an error with a code where it is damaged, or of another program", async () => {
    const path = await newChat();
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 80 }), async (bytes) => {
        const root = Buffer.from(bytes).toString("hex");
        const id = "(SELECT id FROM blobs WHERE substr(data, 1, 2) = x'0a20')";
        const copy = join(temporaryDirectory(), "chats/w", chatId, "store.db");
        mkdirSync(dirname(copy), { recursive: true });
        copyFileSync(path, copy);
        (await writing(copy, `UPDATE blobs SET data = x'${root}' WHERE id = ${id}`))();
        expect(promptsOf(await entriesAt(copy))).toEqual([]);
      }),
      { numRuns: 15 },
    );
    (await writing(path, "UPDATE meta SET value = '7b'"))();
    expect(await codeOf(path)).toBe("ERR_DOCUMENT_DAMAGED");
    const other = await chatIn(temporaryDirectory(), "CREATE TABLE meta (key TEXT, value TEXT);");
    const { sessions, unlisted } = await findSessions([dirname(other)], { catalog: "off" });
    expect([sessions, unlisted]).toEqual([[], [other]]);
  });
});

describe("a database of Cursor's editor", () => {
  it("is left as it is, and its sessions are neither archived nor deleted", async () => {
    const root = temporaryDirectory();
    const path = await editorIn(root);
    const before = directoryState(root);
    await findSessions([root], { catalog: "read" });
    await collected(searchSessions([root], "rates"));
    await forkSession(`${path}#${editorId}`, { target: join(temporaryDirectory(), "fork.jsonl") });
    const options = { dataDir: temporaryDirectory(), force: true };
    await expect(archiveSessions([`${path}#${editorId}`], options)).rejects.toMatchObject({
      code: "ERR_READ_ONLY",
    });
    await expect(deleteSession(path, options)).rejects.toMatchObject({ code: "ERR_READ_ONLY" });
    expect(directoryState(root)).toEqual(before);
  });

  it("has a session listed by its new name, where its time is the same", async () => {
    const path = await editorIn(temporaryDirectory());
    const catalog = new KeptCatalog("off");
    await findAmong([dirname(path)], {}, () => true, catalog);
    const renamed = "json_set(CAST(value AS TEXT), '$.name', 'Rates of hotels')";
    const key = `composerData:${editorId}`;
    (await writing(path, `UPDATE cursorDiskKV SET value = ${renamed} WHERE key = '${key}'`))();
    const { sessions } = await findAmong([dirname(path)], {}, () => true, catalog);
    expect(sessions.map((one) => one.name)).toContain("Rates of hotels");
  });

  it("is not searched where it is not of sessions", async () => {
    const path = await editorIn(temporaryDirectory());
    expect(await collected(searchSessions([path], secret))).toEqual([]);
  });

  it("has its other rows read where one is damaged", async () => {
    const path = await editorIn(temporaryDirectory());
    const good = await entriesAt(`${path}#${editorId}`);
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom("u1", "t1", "c1", "a2", "e1"),
        fc.oneof(fc.string(), fc.json(), fc.constant('{"type":2,"toolFormerData":{"name":3}}')),
        async (id, text) => {
          const copy = join(temporaryDirectory(), "state.vscdb");
          copyFileSync(path, copy);
          const value = text.replaceAll("'", "''").replaceAll("\0", "");
          const key = bubbleKey(id);
          (
            await writing(copy, `UPDATE cursorDiskKV SET value = '${value}' WHERE key = '${key}'`)
          )();
          const found = new Set((await entriesAt(`${copy}#${editorId}`)).map((one) => one.id));
          const lost = good.filter((one) => !found.has(one.id) && !/[:#]/.test(one.id));
          expect(lost.every((one) => one.id === id)).toBe(true);
        },
      ),
      { numRuns: 15 },
    );
  });

  it("has an error with a code when damaged, and is passed over if not of Cursor", async () => {
    const path = await editorIn(temporaryDirectory());
    expect(await codeOf(path)).toBe("ERR_NOT_A_SESSION");
    expect(await codeOf(`${path}#missing`)).toBe("ERR_LOG_MISSING");
    const key = `composerData:${editorId}`;
    (await writing(path, `UPDATE cursorDiskKV SET value = '{' WHERE key = '${key}'`))();
    expect((await listedIn(path)).length).toBe(2);
    const other = join(temporaryDirectory(), "globalStorage/state.vscdb");
    await writeDatabase(other, "CREATE TABLE ItemTable (key TEXT);");
    const { sessions, unlisted } = await findSessions([dirname(other)], { catalog: "off" });
    expect([sessions, unlisted]).toEqual([[], []]);
    writeFileSync(path, "SQLite format 3\0 and no more");
    expect(await codeOf(`${path}#${editorId}`)).toBe("ERR_DOCUMENT_DAMAGED");
    const damaged = await findSessions([dirname(path)], { catalog: "off" });
    expect([damaged.sessions, damaged.unlisted]).toEqual([[], [path]]);
  });
});

it("keeps its sessions where its variables say, and continues those of its command", () => {
  const home = temporaryDirectory();
  for (const name of ["HOME", "USERPROFILE"]) vi.stubEnv(name, home);
  for (const name of ["CURSOR_CONFIG_DIR", "CURSOR_DATA_DIR", "XDG_CONFIG_HOME"]) {
    vi.stubEnv(name, undefined);
  }
  const agent = agentNamed("cursor");
  const places = (): readonly string[] => agent?.places() ?? [];
  expect(places().slice(0, 3)).toEqual([
    join(homedir(), ".cursor/projects"),
    join(homedir(), ".cursor/chats"),
    join(homedir(), ".cursor/acp-sessions"),
  ]);
  expect(places()[3]).toMatch(/Cursor.User.globalStorage.state\.vscdb$/);
  vi.stubEnv("XDG_CONFIG_HOME", "/config");
  expect(places()).toContain("/config/cursor/chats");
  vi.stubEnv("CURSOR_CONFIG_DIR", "/cursor-config");
  vi.stubEnv("CURSOR_DATA_DIR", "/cursor-data");
  expect(places()).toEqual(
    expect.arrayContaining(["/cursor-config/chats", "/cursor-data/projects"]),
  );
  const command = ["cursor-agent", `--resume=${chatId}`];
  expect(agent?.resume({ id: chatId, path: join("/", chatPlace) })).toEqual(command);
  expect(agent?.resume({ id: editorId, path: `/state.vscdb#${editorId}` })).toBeNull();
});

it("reads a database behind a link, and its write-ahead log", async () => {
  const path = await editorIn(temporaryDirectory());
  const link = join(temporaryDirectory(), "state.vscdb");
  symlinkSync(path, link);
  const close = await writing(
    path,
    `UPDATE cursorDiskKV SET value = json_set(value, '$.text', 'Now?') WHERE key = '${bubbleKey("u2")}'`,
  );
  try {
    expect(promptsOf(await entriesAt(`${link}#${editorId}`)).at(-1)).toBe("Now?");
  } finally {
    close();
  }
});

it("lists a session without the time of its last change among those that changed now", async () => {
  const key = `composerData:${editorId}`;
  const path = await editorIn(
    temporaryDirectory(),
    `UPDATE cursorDiskKV SET value = json_remove(value, '$.lastUpdatedAt') WHERE key = '${key}';`,
  );
  const { sessions } = await findSessions([path], {
    sinceMs: Date.parse("2026-11-20T00:00:00Z"),
    limit: 1,
    catalog: "off",
  });
  expect(sessions.map(({ header }) => header.id)).toEqual([editorId]);
});

it.each(["'abc'", "1e300", "-1e300"])("lists every session if one changed at %s", async (time) => {
  const key = `composerData:${editorChildId}`;
  const changed = `UPDATE cursorDiskKV SET value = json_set(value, '$.lastUpdatedAt', ${time}) `;
  const path = await editorIn(temporaryDirectory(), `${changed} WHERE key = '${key}';`);
  const ids = (await listedIn(path)).map(({ header }) => header.id);
  expect(ids).toEqual(expect.arrayContaining([editorId, editorChildId]));
});

it("has each bubble once, however often the session names it", async () => {
  const key = `composerData:${editorId}`;
  const before = await entriesAt(`${await editorIn(temporaryDirectory())}#${editorId}`);
  const list = '"fullConversationHeadersOnly":[';
  const again = `${list}{"bubbleId":"u1","type":1},`;
  const repeated = `UPDATE cursorDiskKV SET value = replace(value, '${list}', '${again}') WHERE key = '${key}';`;
  const path = await editorIn(temporaryDirectory(), repeated);
  const after = await entriesAt(`${path}#${editorId}`);
  expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id));
});

it("rejects a chat that names one large message so often that it would fill the memory", async () => {
  const large = "a".repeat(64);
  const root = `0a20${large}`.repeat(200);
  const message = `'{"role":"user","content":"' || hex(zeroblob(4000000)) || '"}'`;
  const path = await chatIn(
    temporaryDirectory(),
    ...chatOf(chatMessages),
    `UPDATE blobs SET data = x'${root}'; INSERT INTO blobs VALUES ('${large}', CAST(${message} AS BLOB));`,
  );
  expect(await codeOf(path)).toBe("ERR_DOCUMENT_DAMAGED");
});
