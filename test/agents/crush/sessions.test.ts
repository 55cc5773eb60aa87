/** Sessions of Crush as the migrations in its source describe them. */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { forkSession } from "@branchlog/core";
import { agentNamed } from "@branchlog/core/rows";
import { archiveSessions, findSessions, knownPlaces, searchSessions } from "@branchlog/library";
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

const prices = "0b6e3c1a-7a52-4c0e-9d6f-2f1f0c9a1b11";
const carts = "2d8f5e3c-7a52-4c0e-9d6f-2f1f0c9a1b33";
const dump = readFileSync(fixturePath("crush/crush-20260127.sql"), "utf8");

afterEach(() => {
  vi.unstubAllEnvs();
});

/** That of a project in a directory. */
const databaseIn = (project: string, ...statements: readonly string[]): Promise<string> =>
  writeDatabase(join(project, ".crush/crush.db"), ...statements);

const newDatabase = (): Promise<string> => databaseIn(temporaryDirectory(), dump);

describe("a session of Crush", () => {
  it("has prompts, calls, failures, a compaction, a command and its project", async () => {
    const project = temporaryDirectory();
    await read(`${await databaseIn(project, dump)}#${prices}`, async (session) => {
      expect([session.name, session.header.cwd]).toEqual(["Prices of the shop", project]);
      const entries = await session.branch();
      expect(promptsOf(entries)).toEqual([
        "Please list the prices",
        "Change the rates of the winter",
        "Go on with the winter",
      ]);
      expect(messagesOf(entries, "user")[0]?.message).toMatchObject({
        content: [{ type: "text" }, { type: "image", mimeType: "image/png" }],
      });
      expect(toolsOf(entries)).toEqual(["bash", "view", "agent"]);
      const results = messagesOf(entries, "toolResult").map(({ message }) => message);
      expect(results).toMatchObject([{ isError: false }, { isError: true }, { isError: false }]);
      const answers = messagesOf(entries, "assistant").map(({ message }) => message);
      expect(answers).toMatchObject([
        {
          provider: "fake",
          model: "scripted-1",
          stopReason: "toolUse",
          content: [
            { type: "thinking", thinkingSignature: "c2ln" },
            { type: "text" },
            { type: "toolCall", arguments: { command: "ls prices" } },
            { type: "toolCall", arguments: { input: '{"file_path":' } },
          ],
        },
        { stopReason: "toolUse" },
        { stopReason: "stop" },
        { stopReason: "error", errorMessage: "Summarization Error: no model" },
        { model: "scripted-2", stopReason: "aborted" },
        { stopReason: "error", errorMessage: "Provider Error: rate limit" },
      ]);
      const [command] = messagesOf(entries, "bashExecution");
      expect(command?.message).toMatchObject({ command: "pwd", output: "/home/dev/shop" });
      const { messages } = await session.context();
      expect(messages[0]).toMatchObject({
        role: "compactionSummary",
        summary: "Summary: the prices and rates were listed.",
      });
      expect(messages.length).toBe(6);
      // What is stored is the last request alone.
      expect((await session.usage).total).toMatchObject({ totalTokens: 0, cost: 0 });
    });
  });

  it("has its last compaction when summaries have no column yet", async () => {
    const column = "ALTER TABLE messages DROP COLUMN";
    const older = `${column} is_summary_message; ${column} provider;`;
    const path = await databaseIn(temporaryDirectory(), dump, older);
    const entries = await entriesAt(`${path}#${prices}`);
    expect(entries.filter(({ type }) => type === "compaction").length).toBe(1);
  });

  it("of a subagent is below its session, also when its id contains that of a call", async () => {
    const path = await newDatabase();
    const all = await listedIn(path);
    expect(all.length).toBe(3);
    const [subagent] = all.filter(({ transcript }) => transcript?.isSubagent === true);
    expect(subagent?.header.parentSession).toBe(prices);
    expect(subagent?.header.id).toMatch(/\$\$functions\.agent:0$/);
    expect(promptsOf(await entriesAt(subagent?.path ?? ""))).toEqual([
      "Find the rates of the shop",
    ]);
    const { sessions } = await findSessions([path], { catalog: "off" });
    expect(sessions.map(({ header }) => header.id).toSorted()).toEqual([prices, carts]);
    const call = `UPDATE sessions SET id = id || ' /' WHERE id LIKE '%$$%'; `;
    (await writing(path, `${call} UPDATE messages SET session_id = session_id || ' /'`))();
    expect((await listedIn(path)).filter(({ path: one }) => one.includes("$$"))).toEqual([]);
  });

  it("has an answer once it ended, or stayed unchanged", async () => {
    const path = await newDatabase();
    const count = async (): Promise<number> => (await entriesAt(`${path}#${carts}`)).length;
    const whole = await count();
    const change = (seconds: number): string =>
      `UPDATE messages SET updated_at = ${Math.floor(seconds)} WHERE session_id = '${carts}'`;
    (await writing(path, change(Date.now() / 1000)))();
    // Without the answer and its model.
    expect(await count()).toBe(whole - 2);
    (await writing(path, change(Date.now() / 1000 - 3600)))();
    expect(await count()).toBe(whole);
  });

  it("is found by the registry of projects, and continued by its id", async () => {
    const home = temporaryDirectory();
    const project = join(home, "shop");
    const path = await writeDatabase(join(home, "data/crush.db"), dump);
    const registry = { projects: [{ path: project, data_dir: dirname(path) }, { path: 3 }] };
    vi.stubEnv("CRUSH_GLOBAL_DATA", undefined);
    vi.stubEnv("XDG_DATA_HOME", home);
    mkdirSync(join(home, "crush"));
    writeFileSync(join(home, "crush/projects.json"), JSON.stringify(registry));
    expect(knownPlaces()).toContain(path);
    const { header } = (await listedIn(path))[0] ?? {};
    expect(header?.cwd).toBe(project);
    vi.stubEnv("CRUSH_GLOBAL_DATA", temporaryDirectory());
    expect(knownPlaces()).not.toContain(path);
    vi.stubEnv("CRUSH_GLOBAL_DATA", join(home, "crush"));
    expect(knownPlaces()).toContain(path);
    writeFileSync(join(home, "crush/projects.json"), "{");
    expect(knownPlaces()).not.toContain(path);
    const command = agentNamed("crush")?.resume({ id: prices, path: `crush.db#${prices}` });
    expect(command).toEqual(["crush", "--session", prices]);
  });
});

describe("a database of Crush", () => {
  it("is not changed, and its sessions are neither archived nor deleted", async () => {
    const root = temporaryDirectory();
    const path = await databaseIn(root, dump);
    const before = directoryState(root);
    await findSessions([root], { catalog: "read" });
    await collected(searchSessions([root], "rates"));
    await forkSession(`${path}#${prices}`, { target: join(temporaryDirectory(), "fork.jsonl") });
    const dataDir = temporaryDirectory();
    const archived = archiveSessions([`${path}#${prices}`], { dataDir, force: true });
    await expect(archived).rejects.toMatchObject({ code: "ERR_READ_ONLY" });
    expect(directoryState(root)).toEqual(before);
  });

  it("is followed, and listed again after each change", async () => {
    const path = await newDatabase();
    const address = `${path}#${carts}`;
    const stampOf = async (): Promise<unknown> =>
      (await agentNamed("crush")?.documents?.sessionsIn?.(path))?.find(({ id }) => id === carts);
    const stamps = [await stampOf()];
    const said = '[{"type":"text","data":{"text":"And now?"}}]';
    await read(address, async (session) => {
      for (const step of [
        "INSERT INTO messages (id, session_id, role, parts, created_at, updated_at) " +
          `VALUES ('m1', '${carts}', 'user', '${said}', 1795861000, 1795861000)`,
        `UPDATE sessions SET completion_tokens = 7 WHERE id = '${carts}'`,
        "DELETE FROM messages WHERE id = 'm1'",
      ]) {
        (await writing(path, step))();
        await session.refresh();
        expect(await collected(session.entries())).toEqual(await entriesAt(address));
        stamps.push(await stampOf());
      }
    });
    expect(new Set(stamps.map((stamp) => JSON.stringify(stamp))).size).toBe(stamps.length);
  });

  it("is read with a damaged row, except that row", async () => {
    const path = await newDatabase();
    const good = await entriesAt(`${path}#${prices}`);
    await fc.assert(
      fc.asyncProperty(
        fc.nat(),
        fc.oneof(fc.string(), fc.json(), fc.constant('[{"type":"tool_call","data":3}]')),
        async (seed, text) => {
          const copy = join(temporaryDirectory(), "crush.db");
          copyFileSync(path, copy);
          const data = text.replaceAll("'", "''").replaceAll("\0", "");
          const row = `(SELECT id FROM messages LIMIT 1 OFFSET ${seed % 14})`;
          (await writing(copy, `UPDATE messages SET parts = '${data}' WHERE id = ${row}`))();
          const found = new Set((await entriesAt(`${copy}#${prices}`)).map(({ id }) => id));
          const lost = good.filter(({ id }) => !found.has(id) && !/:|#/.test(id));
          expect(lost.length).toBeLessThanOrEqual(1);
        },
      ),
      { numRuns: 15 },
    );
  });

  it("has an error with a code when damaged, and is ignored when it is not from Crush", async () => {
    const path = await newDatabase();
    expect(await codeOf(path)).toBe("ERR_NOT_A_SESSION");
    expect(await codeOf(`${path}#missing`)).toBe("ERR_LOG_MISSING");
    const other = await databaseIn(temporaryDirectory(), "CREATE TABLE sessions (id integer);");
    const { sessions, unlisted } = await findSessions([dirname(other)], { catalog: "off" });
    expect([sessions, unlisted]).toEqual([[], []]);
    writeFileSync(path, "SQLite format 3\0 and no more");
    expect(await codeOf(`${path}#${prices}`)).toBe("ERR_DOCUMENT_DAMAGED");
    const damaged = await findSessions([dirname(path)], { catalog: "off" });
    expect([damaged.sessions, damaged.unlisted]).toEqual([[], [path]]);
  });
});
