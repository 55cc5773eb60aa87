/** Sessions of goose as the schemas 3 and 17 in its source describe them. */
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { sessionTurns } from "@branchlog/agents/connectonion";
import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { forkSession } from "@branchlog/core";
import { agentNamed } from "@branchlog/core/rows";
import { archiveSessions, findSessions, knownPlaces, searchSessions } from "@branchlog/library";
import type { ListedSession } from "@branchlog/library";
import { readForeignDatabase } from "@branchlog/library/catalogs";
import { usageStatistics } from "@branchlog/tools";
import { collected } from "../../support/collected.ts";
import { writing } from "../../support/database-file.ts";
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
import { databaseOf, dumpOf } from "./goose-fixtures.ts";

const prices = "20261128_1";
const carts = "20261128_5";

afterEach(() => {
  vi.unstubAllEnvs();
});

/** A new database of the newest schema. */
const newDatabase = (): Promise<string> => databaseOf(temporaryDirectory(), dumpOf(17));

/** By other means than ours: what goose, its ledger or its answers say, whichever is most. */
const sums = ["input", "output"].map((name) => {
  const ledger = `(SELECT sum(${name}_tokens) FROM usage_ledger u WHERE u.session_id = s.id)`;
  const stored = `json_extract(metadata_json, '$.usage.${name}Tokens')`;
  const answers = `(SELECT sum(${stored}) FROM messages m WHERE m.session_id = s.id)`;
  const counted = [`accumulated_${name}_tokens`, ledger, answers];
  return `max(${counted.map((one) => `coalesce(${one}, 0)`).join(", ")}) AS ${name}`;
});
const sumsQuery = `SELECT id, ${sums.join(", ")}, accumulated_cost AS cost FROM sessions s`;

describe("a session of goose", () => {
  it("counts each token once, from an answer, the ledger or only a sum", async () => {
    const path = await newDatabase();
    const stored = await readForeignDatabase(path, (query) => query(sumsQuery));
    const listed = await listedIn(path);
    expect(listed.length).toBe(5);
    for (const { header, usage } of listed) {
      const row = stored.find(({ id }) => id === header.id);
      const { input, cacheRead, cacheWrite, output, cost } = usage?.total ?? { input: -1 };
      expect(input + (cacheRead ?? 0) + (cacheWrite ?? 0)).toBe(row?.["input"]);
      expect(output).toBe(row?.["output"]);
      expect(cost).toBeCloseTo(Number(row?.["cost"] ?? 0), 9);
    }
    const { total } = await usageStatistics([path]);
    const counted = stored.filter(({ id }) => id !== "20261128_3");
    const all = counted.reduce((sum, row) => sum + Number(row["input"]), 0);
    expect(total.input + total.cacheRead + total.cacheWrite).toBe(all);
  });

  it("has prompts, calls, failures, a compaction and messages for the model only", async () => {
    const path = `${await newDatabase()}#${prices}`;
    await read(path, async (session) => {
      expect(session.name).toBe("Prices and rates");
      expect(session.header.cwd).toBe("/home/dev/shop");
      const entries = await session.branch();
      expect(promptsOf(entries)).toEqual([
        "Please list the price files",
        "Now change the rates of the winter",
        "Let it fail at the provider",
      ]);
      expect(toolsOf(entries)).toEqual(["developer__shell", "unknown", "developer__shell"]);
      const results = messagesOf(entries, "toolResult").map(({ message }) => message);
      expect(results).toMatchObject([
        { isError: false, content: [{ type: "text", text: "rates.csv prices.csv" }] },
        { isError: true },
        { isError: true },
      ]);
      const [first, , , cut, failed] = messagesOf(entries, "assistant").map(
        ({ message }) => message,
      );
      expect(first).toMatchObject({
        model: "scripted-1",
        usage: { input: 0, output: 30, cacheRead: 1000, cacheWrite: 200, cost: { total: 0.25 } },
        content: [
          { type: "thinking", thinkingSignature: "c2ln" },
          { type: "text" },
          { type: "toolCall", arguments: { command: "ls prices" } },
          { type: "toolCall", arguments: { error: "The arguments were no JSON" } },
        ],
      });
      expect(cut).toMatchObject({ stopReason: "length" });
      expect(failed).toMatchObject({ stopReason: "error", errorMessage: "The provider is busy" });
      const { messages } = await session.context();
      expect(messages.map(({ role }) => role)).toEqual([
        "compactionSummary",
        "custom",
        "user",
        "custom",
        "assistant",
        "user",
        "assistant",
      ]);
      const compactions = entries.filter(({ type }) => type === "compaction");
      expect(compactions).toMatchObject([{ tokensBefore: 1600, usage: { output: 12 } }]);
      expect((await sessionTurns(session)).length).toBe(3);
    });
  });

  it("has earlier compactions, times in milliseconds and an answer in two rows", async () => {
    await read(`${await newDatabase()}#${carts}`, async (session) => {
      expect(session.name).toBeUndefined();
      const entries = await session.branch();
      const summaries = entries.flatMap((entry) =>
        entry.type === "compaction" ? [entry.summary] : [],
      );
      expect(summaries).toEqual([
        "Summary of the first part: seven carts.",
        "Summary of both parts: still seven carts.",
      ]);
      // Goose repeats a prompt after a compaction that came amid its turn.
      expect(promptsOf(entries)).toEqual([
        "How many carts are open?",
        "And which one is the oldest?",
      ]);
      expect(entries.at(-3)?.timestamp).toBe("2026-11-28T11:00:31.000Z");
      const kinds = entries.flatMap((entry) => (entry.type === "usage" ? [entry.kind] : []));
      // One request was a compaction, but of which of the two is not stored.
      expect(kinds.toSorted()).toEqual([
        "goose.compaction",
        "goose.earlier",
        "goose.request",
        "goose.request",
        "goose.request",
      ]);
      const { messages } = await session.context();
      expect(messages[0]).toMatchObject({ role: "compactionSummary", summary: summaries[1] });
    });
  });

  it("has a prompt once when a compaction left a copy for the model", async () => {
    await read(`${await newDatabase()}#20261128_6`, async (session) => {
      const entries = await session.branch();
      expect(promptsOf(entries)).toEqual(["When does the shop open?", "And on Sundays, please?"]);
      const { messages } = await session.context();
      expect(messages.map(({ role }) => role)).toEqual([
        "compactionSummary",
        "custom",
        "custom",
        "custom",
        "assistant",
      ]);
      expect((await sessionTurns(session)).length).toBe(2);
    });
  });

  it("of a subagent is below its session, whose tokens include it in a list", async () => {
    const path = await newDatabase();
    const all = await listedIn(path);
    const subagents = all.filter(({ transcript }) => transcript?.isSubagent === true);
    expect(subagents.map(({ header }) => header.parentSession)).toEqual([prices]);
    const { sessions } = await findSessions([path], { catalog: "off" });
    const tokensOf = (list: readonly ListedSession[]): number =>
      list.find(({ header }) => header.id === prices)?.usage?.total.totalTokens ?? 0;
    expect(sessions.length).toBe(4);
    expect(tokensOf(sessions)).toBe(tokensOf(all) + 217);
  });

  it("is found at the path from the environment, and continued by its id", async () => {
    const home = temporaryDirectory();
    vi.stubEnv("GOOSE_PATH_ROOT", undefined);
    vi.stubEnv("XDG_DATA_HOME", home);
    vi.stubEnv("APPDATA", home);
    const isWindows = process.platform === "win32";
    const place = isWindows
      ? join(home, "Block/goose/data/sessions")
      : join(home, "goose/sessions");
    for (const one of [place, join(home, "data/sessions")]) mkdirSync(one, { recursive: true });
    expect(knownPlaces()).toContain(place);
    vi.stubEnv("GOOSE_PATH_ROOT", home);
    expect(knownPlaces()).toContain(join(home, "data/sessions"));
    vi.stubEnv("GOOSE_PATH_ROOT", "relative");
    expect(knownPlaces()).toContain(place);
    const command = agentNamed("goose")?.resume({ id: prices, path: `sessions.db#${prices}` });
    expect(command).toEqual(["goose", "session", "--resume", "--session-id", prices]);
  });
});

describe("a database of goose", () => {
  it("is not changed, and its sessions are neither archived nor deleted", async () => {
    const root = temporaryDirectory();
    const path = await databaseOf(root, dumpOf(17));
    const before = directoryState(root);
    await findSessions([root], { catalog: "read" });
    await collected(searchSessions([root], "rates"));
    await forkSession(`${path}#${prices}`, { target: join(temporaryDirectory(), "fork.jsonl") });
    const dataDir = temporaryDirectory();
    await expect(
      archiveSessions([`${path}#${prices}`], { dataDir, force: true }),
    ).rejects.toThrow();
    expect(directoryState(root)).toEqual(before);
  });

  it("is followed when a compaction or an undo changes existing rows", async () => {
    const path = await newDatabase();
    const address = `${path}#${carts}`;
    const at = 1_795_870_000_000;
    const message = (id: string, role: string, text: string, metadata: string): string =>
      "INSERT INTO messages (message_id, session_id, role, content_json, created_timestamp, " +
      `metadata_json) VALUES ('${id}', '${carts}', '${role}', ` +
      `'[{"type":"text","text":"${text}"}]', ${at}, '${metadata}')`;
    const ofModel = '{"userVisible":false,"agentVisible":true}';
    await read(address, async (session) => {
      const steps: readonly string[] = [
        message("new_1", "user", "One more", '{"userVisible":true,"agentVisible":true}'),
        `UPDATE messages SET metadata_json = json_set(metadata_json, '$.agentVisible', ` +
          `json('false')) WHERE session_id = '${carts}'; ` +
          `${message("new_2", "user", "A third summary", ofModel)}; ` +
          message("new_3", "assistant", "Continuing", ofModel),
        `DELETE FROM messages WHERE session_id = '${carts}' AND message_id = 'new_1'`,
        `UPDATE sessions SET name = 'Open carts' WHERE id = '${carts}'`,
      ];
      for (const step of steps) {
        (await writing(path, step))();
        await session.refresh();
        expect(await collected(session.entries())).toEqual(await entriesAt(address));
      }
      expect(session.name).toBe("Open carts");
      const { messages } = await session.context();
      expect(messages[0]).toMatchObject({ summary: "A third summary" });
    });
  });

  it("is listed again after a message, a request or an undo", async () => {
    const path = await newDatabase();
    const format = agentNamed("goose")?.documents;
    const stampOf = async (): Promise<unknown> =>
      (await format?.sessionsIn?.(path))?.find(({ id }) => id === prices);
    const stamps = [await stampOf()];
    for (const step of [
      `DELETE FROM messages WHERE message_id = 'msg_a15'`,
      "INSERT INTO messages (session_id, role, content_json, created_timestamp) " +
        `VALUES ('${prices}', 'user', '[]', 1795856522)`,
      `INSERT INTO usage_ledger (session_id, created_timestamp) VALUES ('${prices}', 1)`,
    ]) {
      (await writing(path, step))();
      stamps.push(await stampOf());
    }
    expect(new Set(stamps.map((stamp) => JSON.stringify(stamp))).size).toBe(stamps.length);
  });

  it("is read with a damaged row, except that row", async () => {
    const path = await newDatabase();
    const good = await entriesAt(`${path}#${prices}`);
    await fc.assert(
      fc.asyncProperty(
        fc.nat(),
        fc.constantFrom("content_json", "metadata_json"),
        fc.oneof(fc.string(), fc.json(), fc.constant('[{"type":"toolResponse","toolResult":3}]')),
        async (seed, column, text) => {
          const copy = join(temporaryDirectory(), "sessions.db");
          copyFileSync(path, copy);
          const data = text.replaceAll("'", "''").replaceAll("\0", "");
          const row = `(SELECT id FROM messages LIMIT 1 OFFSET ${seed % 15})`;
          (await writing(copy, `UPDATE messages SET ${column} = '${data}' WHERE id = ${row}`))();
          const found = new Set((await entriesAt(`${copy}#${prices}`)).map(({ id }) => id));
          const lost = good.filter(({ id }) => !found.has(id) && !/:|#/.test(id));
          expect(lost.length).toBeLessThanOrEqual(1);
        },
      ),
      { numRuns: 15 },
    );
  });

  it("has an error with a code when damaged, and is ignored when it is not from goose", async () => {
    const path = await newDatabase();
    expect(await codeOf(path)).toBe("ERR_NOT_A_SESSION");
    expect(await codeOf(`${path}#20261128_9`)).toBe("ERR_LOG_MISSING");
    const other = await databaseOf(temporaryDirectory(), "CREATE TABLE sessions (id integer);");
    const { sessions, unlisted } = await findSessions([dirname(other)], { catalog: "off" });
    expect([sessions, unlisted]).toEqual([[], []]);
    writeFileSync(path, "SQLite format 3\0 and no more");
    expect(await codeOf(`${path}#${prices}`)).toBe("ERR_DOCUMENT_DAMAGED");
    const damaged = await findSessions([dirname(path)], { catalog: "off" });
    expect([damaged.sessions, damaged.unlisted]).toEqual([[], [path]]);
  });
});

describe("a session file of goose before 1.10", () => {
  const name = "20250905_081320";

  function fileIn(root: string): string {
    const path = join(root, "goose/sessions", `${name}.jsonl`);
    mkdirSync(dirname(path), { recursive: true });
    copyFileSync(fixturePath("goose/goose-1.9.jsonl"), path);
    return path;
  }

  it("has prompts, calls with their results, a name, its directory and its tokens", async () => {
    const file = fileIn(temporaryDirectory());
    const [listed] = (await findSessions([dirname(file)], { catalog: "off" })).sessions;
    expect([listed?.name, listed?.header.cwd, listed?.header.timestamp]).toEqual([
      "Rates of the shop",
      "/home/dev/shop",
      "2025-09-05T08:13:20.000Z",
    ]);
    expect(listed?.usage?.total).toMatchObject({ input: 2000, output: 100 });
    const path = await entriesAt(file);
    expect(promptsOf(path)).toEqual(["Which rates are in the shop?", "Change the winter to 6."]);
    expect(messagesOf(path, "toolResult").map(({ message }) => message)).toMatchObject([
      { toolName: "developer__text_editor", content: [{ text: "winter 5, summer 7" }] },
      { toolName: "developer__shell", isError: true, content: [{ text: "One test has failed." }] },
    ]);
    expect(messagesOf(path, "assistant")[0]?.message).toMatchObject({
      stopReason: "toolUse",
      content: [
        { thinkingSignature: "c2ln" },
        { type: "text" },
        { id: "call_1" },
        { id: "call_2" },
      ],
    });
    expect(path.map(({ type }) => type)).toContain("custom_message");
  });

  it("is listed, unless the database beside it has the session", async () => {
    const root = temporaryDirectory();
    const path = await databaseOf(root, dumpOf(3));
    const file = fileIn(root);
    const listed = async (): Promise<readonly string[]> => {
      const { sessions } = await findSessions([root], { catalog: "off" });
      return sessions.map((session) => session.path);
    };
    expect(await listed()).toContain(file);
    const moved = [
      "PRAGMA foreign_keys = OFF",
      `UPDATE sessions SET id = '${name}' WHERE id = '20251008_1'`,
      `UPDATE messages SET session_id = '${name}'`,
    ];
    (await writing(path, ...moved))();
    expect((await listed()).filter((one) => one.includes(name))).toEqual([`${path}#${name}`]);
  });

  it("has its other messages where a line is damaged, and is none without its first", async () => {
    const path = fileIn(temporaryDirectory());
    const lines = readFileSync(path, "utf8").split("\n");
    writeFileSync(path, [...lines.slice(0, 2), '{"role":"assis', ...lines.slice(3)].join("\n"));
    expect(promptsOf(await entriesAt(path)).length).toBe(2);
    writeFileSync(path, lines.slice(1).join("\n"));
    const { sessions } = await findSessions([dirname(path)], { catalog: "off" });
    expect(sessions).toEqual([]);
  });

  it("has an id also where a person named it", async () => {
    const path = fileIn(temporaryDirectory());
    const named = join(dirname(path), "my rates.jsonl");
    copyFileSync(path, named);
    const { sessions } = await findSessions([dirname(path)], { catalog: "off" });
    expect(sessions.map(({ header }) => header.id).toSorted()).toEqual([name, "importedmyrates"]);
  });

  it("is archived, though sessions in the database are not", async () => {
    const path = fileIn(temporaryDirectory());
    const options = { dataDir: temporaryDirectory(), force: true };
    expect((await archiveSessions([path], options)).failures).toEqual([]);
    expect(existsSync(path)).toBe(false);
  });
});
