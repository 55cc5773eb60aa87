/**
 * Sessions of opencode as three of its versions wrote them, with a model that answers by a script,
 * and of its version 2 as it is described.
 */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { agentNamed } from "@branchlog/core/rows";
import {
  archiveSessions,
  deleteSession,
  findSessions,
  knownPlaces,
  planPrune,
} from "@branchlog/library";
import { readForeignDatabase } from "@branchlog/library/catalogs";
import { usageStatistics } from "@branchlog/tools";
import { collected } from "../../support/collected.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { listedIn, messagesOf, promptsOf, read, toolsOf } from "../read-session.ts";
import { databaseOf, dumpOf, newerForm, opencodeTree, writeTree } from "./opencode-fixtures.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

const versions = [
  ["1.2.27", "ses_dd9aa0da5ffeYEKJ4pMkjSlorR"],
  ["1.18.33", "ses_dd9aa6119ffe5CHsRM7LE678XU"],
] as const;

/** By other means than ours: sums of SQLite, over all messages of a session. */
const sums =
  "SELECT session_id AS id, sum(json_extract(data, '$.cost')) AS cost, " +
  "sum(json_extract(data, '$.tokens.input')) + sum(json_extract(data, '$.tokens.cache.read')) " +
  "+ sum(json_extract(data, '$.tokens.cache.write')) AS input, " +
  "sum(json_extract(data, '$.tokens.output')) + sum(json_extract(data, '$.tokens.reasoning')) " +
  "AS output FROM message GROUP BY session_id ORDER BY session_id";

/** Of all messages, one of those at a time. */
const sumsOfAll =
  "SELECT sum(cost) AS cost, sum(input) AS input FROM (SELECT DISTINCT time_created, " +
  "json_extract(data, '$.cost') AS cost, json_extract(data, '$.tokens.input') " +
  "+ json_extract(data, '$.tokens.cache.read') AS input FROM message)";

describe("a session of opencode", () => {
  it.each(versions)("has the tokens and costs of the rows written by %s", async (version) => {
    const path = await databaseOf(temporaryDirectory(), dumpOf(version));
    const stored = await readForeignDatabase(path, (query) => query(sums));
    expect(stored.length).toBe(4);
    for (const row of stored) {
      const { total } = await read(`${path}#${String(row["id"])}`, (session) => session.usage);
      expect(total.input + total.cacheRead + total.cacheWrite).toBe(row["input"]);
      expect(total.output).toBe(row["output"]);
      expect(total.cost).toBeCloseTo(Number(row["cost"]), 12);
      expect(row["input"]).toBeGreaterThan(0);
    }
  });

  it.each([...versions, ["1.1.65", "ses_dd9a9f4b9ffekIYuiOBwPiIy2x"] as const])(
    "of %s has its prompts, calls, failures, compaction, command and name",
    async (version, id) => {
      const path = await pathOf(version, id);
      await read(path, async (session) => {
        const entries = await collected(session.entries());
        expect(promptsOf(entries).map((text) => text.replaceAll('"', "").trim())).toEqual([
          "Please list files",
          "Change the greeting",
          "Let it fail",
          "Use a sub-agent",
          "Say what will be undone",
        ]);
        const tools = ["bash", "read", "edit", "bash", "nonexistent", "read", "task"];
        expect(toolsOf(entries)).toEqual(tools);
        const failed = messagesOf(entries, "toolResult").map(
          ({ message }) => "isError" in message && message.isError,
        );
        expect(failed).toEqual([false, false, false, true, true, true, false]);
        const commands = messagesOf(entries, "bashExecution");
        expect(commands.map(({ message }) => "command" in message && message.command)).toEqual([
          "echo from the user",
        ]);
        const [compaction] = entries.filter(({ type }) => type === "compaction");
        expect(compaction).toMatchObject({
          summary: "Summary: the notes were listed and changed.",
        });
        expect(session.name).toBe("Notes and greetings");
        expect(session.header.cwd).toBe("/home/dev/shop");
        const { messages } = await session.context();
        expect(messages[0]?.role).toBe("compactionSummary");
      });
    },
  );

  it.each(versions)("of %s has its subagent below it", async (version, id) => {
    const root = temporaryDirectory();
    const path = await databaseOf(root, dumpOf(version));
    const listed = await listedIn(root);
    const subagents = listed.filter(({ transcript }) => transcript?.isSubagent === true);
    expect(subagents.map(({ header }) => header.parentSession)).toEqual([id]);
    const { sessions } = await findSessions([path], { catalog: "off" });
    expect(sessions.length).toBe(3);
    const own = listed.find(({ header }) => header.id === id)?.usage?.total.totalTokens ?? 0;
    const with_ = sessions.find(({ header }) => header.id === id)?.usage?.total.totalTokens;
    expect(with_).toBe(own + (subagents[0]?.usage?.total.totalTokens ?? 0));
  });

  it.each(versions)("of %s counts once when a fork has a copy of it", async (version) => {
    const path = await databaseOf(temporaryDirectory(), dumpOf(version));
    const stored = await readForeignDatabase(path, (query) => query(sumsOfAll));
    const { total } = await usageStatistics([path]);
    expect(total.input + total.cacheRead).toBe(stored[0]?.["input"]);
    expect(total.cost).toBeCloseTo(Number(stored[0]?.["cost"]), 12);
    expect(total.turns).toBe(5 + 2);
  });

  it("has the tokens of each step of an answer, of which its row has the last", async () => {
    const step = (number: number, input: number): string =>
      "INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) " +
      `SELECT 'prt_zz${number}', id, session_id, 1, 1, json_object('type', 'step-finish', 'cost', ` +
      `0.5, 'tokens', json_object('input', ${input}, 'output', 10, 'reasoning', 2, 'cache', ` +
      "json_object('read', 7, 'write', 1))) FROM message WHERE id = (SELECT message_id FROM part " +
      `WHERE session_id = '${versions[1][1]}' AND json_extract(data, '$.type') = 'step-finish' ` +
      "LIMIT 1);";
    const [root, id] = [temporaryDirectory(), versions[1][1]];
    const usageAt = async (path: string) =>
      read(`${path}#${id}`, async (session) => (await session.usage).total);
    const before = await usageAt(await databaseOf(join(root, "a"), dumpOf("1.18.33")));
    const path = await databaseOf(join(root, "b"), dumpOf("1.18.33"), step(1, 100), step(2, 200));
    const after = await usageAt(path);
    expect(after.input - before.input).toBe(300);
    expect(after.output - before.output).toBe(24);
    expect(after.cacheRead - before.cacheRead).toBe(14);
    expect(after.cost).toBe(before.cost);
  });

  it("continues before undone entries, which are a branch", async () => {
    const path = await pathOf("1.18.33", "ses_dd9aa44deffeHRI9Nl7TfXGza3");
    await read(path, async (session) => {
      expect(promptsOf(await session.branch())).toEqual(["Say what will be undone"]);
      expect(promptsOf(await collected(session.entries()))).toEqual([
        "Say what will be undone",
        "greeting",
      ]);
      expect(session.tips().length).toBe(2);
    });
  });

  it("is read once when the JSON files that it was migrated from still exist", async () => {
    const root = temporaryDirectory();
    writeTree(root, opencodeTree());
    const inFiles = await listedIn(root);
    expect(inFiles.length).toBe(4);
    const [first] = inFiles;
    const facts = "'p', NULL, 's', '/home/dev/shop', 'Moved', '1.2.27', 1, 2";
    const columns = "project_id, parent_id, slug, directory, title, version, time_created";
    const moved =
      `INSERT INTO session (id, ${columns}, time_updated) ` +
      `VALUES ('${first?.header.id ?? ""}', ${facts});`;
    const path = await databaseOf(root, dumpOf("1.2.27"), moved);
    const all = await listedIn(root);
    expect(all.length).toBe(8);
    const again = all.filter(({ header }) => header.id === first?.header.id);
    expect(again.map((one) => one.path)).toEqual([`${path}#${first?.header.id ?? ""}`]);
  });

  it("is read from version 2 when it has rows there, otherwise from the older tables", async () => {
    const root = temporaryDirectory();
    const [, id] = versions[1];
    const path = await databaseOf(root, dumpOf("1.18.33"), newerForm(id));
    const listed = await listedIn(root);
    expect(listed.map(({ header }) => header.id).toSorted()).toEqual(
      [...new Set(listed.map(({ header }) => header.id))].toSorted(),
    );
    expect(listed.length).toBe(4);
    await read(`${path}#${id}`, async (session) => {
      const entries = await collected(session.entries());
      expect(promptsOf(entries)).toEqual(["list the files", "and now?"]);
      expect(toolsOf(entries)).toEqual(["bash", "write"]);
      const results = messagesOf(entries, "toolResult");
      expect(results.map(({ message }) => "isError" in message && message.isError)).toEqual([
        false,
        true,
      ]);
      const { total } = await session.usage;
      expect([total.input, total.output, total.cacheRead]).toEqual([117, 25, 30]);
      const [command] = messagesOf(entries, "bashExecution");
      expect(command?.message).toMatchObject({ command: "pwd", output: "/home/dev/shop" });
      expect(entries.filter(({ type }) => type === "compaction").length).toBe(1);
      expect(session.name).toBe("In version 2");
    });
  });

  it("is neither archived nor deleted, and the error names alternatives", async () => {
    const path = await pathOf("1.18.33", versions[1][1]);
    const dataDir = temporaryDirectory();
    await expect(archiveSessions([path], { dataDir, force: true })).rejects.toMatchObject({
      code: "ERR_READ_ONLY",
    });
    await expect(deleteSession(path, { dataDir })).rejects.toMatchObject({ code: "ERR_READ_ONLY" });
    const listed = await listedIn(dirname(path));
    expect([listed.length, planPrune(listed, { keep: 0 })]).toEqual([4, []]);
    const whole = await archiveSessions([dirname(path)], { dataDir, force: true });
    expect([whole.removed, whole.failures]).toEqual([[], []]);
    expect(existsSync(path.replace(/#.*/, ""))).toBe(true);
  });

  it("is found at the path from the environment", async () => {
    const home = temporaryDirectory();
    vi.stubEnv("XDG_DATA_HOME", home);
    vi.stubEnv("OPENCODE_DB", undefined);
    const path = await databaseOf(home, dumpOf("1.18.33"));
    writeTree(home, opencodeTree());
    expect(knownPlaces()).toEqual(
      expect.arrayContaining([path, join(home, "opencode/storage/session")]),
    );
    vi.stubEnv("XDG_DATA_HOME", join(home, "elsewhere"));
    expect(knownPlaces()).not.toContain(path);
    vi.stubEnv("OPENCODE_DB", path);
    expect(knownPlaces()).toContain(path);
  });

  it("is continued by its id", () => {
    const command = agentNamed("opencode")?.resume({ id: "ses_1", path: "opencode.db#ses_1" });
    expect(command).toEqual(["opencode", "--session", "ses_1"]);
  });
});

async function pathOf(version: string, id: string): Promise<string> {
  const root = temporaryDirectory();
  if (version !== "1.1.65") return `${await databaseOf(root, dumpOf(version))}#${id}`;
  const files = opencodeTree(id);
  writeTree(root, files);
  return join(root, Object.keys(files)[0] ?? "");
}
