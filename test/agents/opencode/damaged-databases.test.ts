/** Databases of opencode that are damaged, in use or changed, and what reading leaves behind. */
import {
  appendFileSync,
  copyFileSync,
  readFileSync,
  readdirSync,
  renameSync,
  symlinkSync,
} from "node:fs";
import { truncateSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { findSessions, searchSessions } from "@branchlog/library";
import { collected } from "../../support/collected.ts";
import { writing } from "../../support/database-file.ts";
import { directoryState } from "../../support/directory-state.ts";
import { openFiles } from "../../support/open-files.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { codeOf, entriesAt, promptsOf, read } from "../read-session.ts";
import { databaseOf, dumpOf } from "./opencode-fixtures.ts";

const id = "ses_dd9aa6119ffe5CHsRM7LE678XU";
const dump = dumpOf("1.18.33");

const prompt = (text: string, at: number): string =>
  `INSERT INTO message VALUES ('msg_z${at}', '${id}', ${at}, ${at}, ` +
  `'{"role":"user","time":{"created":${at}}}'); ` +
  `INSERT INTO part VALUES ('prt_z${at}', 'msg_z${at}', '${id}', ${at}, ${at}, ` +
  `'{"type":"text","text":"${text}"}');`;

const later = 1_795_939_999_000;

const ownDirectories = (): string[] =>
  readdirSync(tmpdir()).filter((name) => name.startsWith("branchlog-read-"));

describe("a database of opencode", () => {
  it("is not changed by any read, nor are the files next to it", async () => {
    const root = temporaryDirectory();
    const path = await databaseOf(root, dump);
    // Of this test alone: others read databases meanwhile.
    vi.stubEnv("TMPDIR", temporaryDirectory());
    for (const hasLog of [false, true]) {
      const end = hasLog ? await writing(path, prompt("in the log", later)) : () => undefined;
      try {
        const before = directoryState(root);
        await findSessions([root], { catalog: "read" });
        await entriesAt(`${path}#${id}`);
        await collected(searchSessions([root], "greeting"));
        expect(directoryState(root)).toEqual(before);
        if (!hasLog) expect(openFiles(root)).toEqual([]);
      } finally {
        end();
      }
    }
    expect(ownDirectories()).toEqual([]);
    vi.unstubAllEnvs();
  });

  it("is read including its write-ahead log", async () => {
    const path = await databaseOf(temporaryDirectory(), dump);
    const before = readFileSync(path);
    const end = await writing(path, prompt("in the log", later));
    try {
      expect(promptsOf(await entriesAt(`${path}#${id}`)).at(-1)).toBe("in the log");
      expect(readFileSync(path).length).toBe(before.length);
    } finally {
      end();
    }
  });

  it("is read through a link whose target has the log", async () => {
    const path = await databaseOf(temporaryDirectory(), dump);
    const link = join(temporaryDirectory(), "opencode.db");
    symlinkSync(path, link);
    const end = await writing(path, prompt("in the log", later));
    try {
      expect(promptsOf(await entriesAt(`${link}#${id}`)).at(-1)).toBe("in the log");
    } finally {
      end();
    }
  });

  it("is read at the last commit while a transaction writes", async () => {
    const path = await databaseOf(temporaryDirectory(), dump);
    const good = await entriesAt(`${path}#${id}`);
    const end = await writing(path, "BEGIN EXCLUSIVE", prompt("not committed", later));
    try {
      expect(await entriesAt(`${path}#${id}`)).toEqual(good);
    } finally {
      end();
    }
  });

  it("is followed when rows change in place, and when it is replaced", async () => {
    const root = temporaryDirectory();
    const path = await databaseOf(root, dump);
    const other = await databaseOf(temporaryDirectory(), dump, prompt("replaced", later + 2));
    await read(`${path}#${id}`, async (session) => {
      const steps: readonly string[] = [
        prompt("one more", later),
        `UPDATE part SET data = '{"type":"text","text":"changed"}', time_updated = ${later + 1} ` +
          `WHERE id = 'prt_z${later}'`,
        `UPDATE session SET title = 'Another title', time_updated = ${later + 2}`,
        `UPDATE session SET revert = '{"messageID":"msg_z${later}"}'`,
      ];
      for (const step of steps) {
        (await writing(path, step))();
        await session.refresh();
        expect(await collected(session.entries())).toEqual(await entriesAt(`${path}#${id}`));
      }
      expect(session.name).toBe("Another title");
      expect(promptsOf(await session.branch())).not.toContain("changed");
      renameSync(other, path);
      await session.refresh();
      expect(promptsOf(await session.branch()).at(-1)).toBe("replaced");
    });
  });

  it("has an answer once it ended, or stayed unchanged", async () => {
    const path = await databaseOf(temporaryDirectory(), dump);
    const address = `${path}#${id}`;
    const answer = (changedMs: number): string =>
      `INSERT OR REPLACE INTO message VALUES ('msg_zz', '${id}', ${later}, ${changedMs}, ` +
      `'{"role":"assistant","time":{"created":${later}}}')`;
    const isThere = async (): Promise<boolean> =>
      (await entriesAt(address)).some((entry) => entry.id === "msg_zz");
    (await writing(path, answer(Date.now())))();
    expect(await isThere()).toBe(false);
    (await writing(path, answer(Date.now() - 3_600_000)))();
    expect(await isThere()).toBe(true);
    const ended = `'$.time.completed', ${later}`;
    const update = `UPDATE message SET data = json_set(data, ${ended}), time_updated = `;
    (await writing(path, `${update}${Date.now()} WHERE id = 'msg_zz'`))();
    expect(await isThere()).toBe(true);
  });

  it("is listed with an interrupted answer that no change of the database shows", async () => {
    vi.stubEnv("BRANCHLOG_CACHE_DIR", temporaryDirectory());
    const path = await databaseOf(temporaryDirectory(), dump);
    const now = Date.now();
    const row = `'${id}', ${later}, ${now}`;
    const long = JSON.stringify({ role: "user", time: { created: later } });
    const text = JSON.stringify({ type: "text", text: "word ".repeat(20_000) });
    const answer = JSON.stringify({ role: "assistant", time: { created: later } });
    const statements = [
      `INSERT INTO message VALUES ('msg_zy', ${row}, '${long}')`,
      `INSERT INTO part VALUES ('prt_zy', 'msg_zy', ${row}, '${text}')`,
      `INSERT INTO message VALUES ('msg_zz', ${row}, '${answer}')`,
    ];
    (await writing(path, ...statements))();
    const countAt = async (timeMs: number): Promise<number | undefined> => {
      vi.setSystemTime(timeMs);
      const { sessions } = await findSessions([path], { artifacts: true });
      return sessions.find((one) => one.header.id === id)?.summary.messageCount;
    };
    vi.useFakeTimers({ toFake: ["Date"] });
    try {
      const running = (await countAt(now + 30_000)) ?? 0;
      expect(await countAt(now + 120_000)).toBe(running + 1);
      expect(await countAt(now + 7_200_000)).toBe(running + 1);
    } finally {
      vi.useRealTimers();
      vi.unstubAllEnvs();
    }
  });

  it("has an error with a code, and is named in lists, when it is truncated", async () => {
    const root = temporaryDirectory();
    const path = await databaseOf(root, dump);
    truncateSync(path, 8192);
    expect(await codeOf(`${path}#${id}`)).toBe("ERR_DOCUMENT_DAMAGED");
    const { sessions, unlisted } = await findSessions([root], { catalog: "off" });
    expect([sessions, unlisted]).toEqual([[], [path]]);
    truncateSync(path, 10);
    expect(await codeOf(`${path}#${id}`)).toMatch(/^ERR_/);
  });

  it("has an error with a code when it is one of another program, or no session is asked for", async () => {
    const root = temporaryDirectory();
    const path = await databaseOf(root, "CREATE TABLE photos (id integer);");
    expect(await codeOf(`${path}#${id}`)).toBe("ERR_DOCUMENT_DAMAGED");
    const { sessions, unlisted } = await findSessions([root], { catalog: "off" });
    expect([sessions, unlisted]).toEqual([[], [path]]);
    const own = await databaseOf(temporaryDirectory(), dump);
    expect(await codeOf(own)).toBe("ERR_NOT_A_SESSION");
    expect(await codeOf(`${own}#ses_missing`)).toBe("ERR_LOG_MISSING");
    unlinkSync(own);
    expect(await codeOf(`${own}#${id}`)).toBe("ERR_LOG_MISSING");
  });

  it("is read with a row that is not JSON or lacks parts, except that row", async () => {
    const path = await databaseOf(temporaryDirectory(), dump);
    const address = `${path}#${id}`;
    const good = await entriesAt(address);
    await fc.assert(
      fc.asyncProperty(
        fc.nat(),
        fc.constantFrom("message", "part"),
        fc.oneof(fc.string(), fc.json(), fc.constant('{"type":"tool","state":3}')),
        async (seed, table, text) => {
          const copy = await databaseOf(temporaryDirectory(), "");
          copyFileSync(path, copy);
          const row = `(SELECT id FROM ${table} WHERE session_id = '${id}' ORDER BY id LIMIT 1 OFFSET ${seed % 13})`;
          const data = text.replaceAll("'", "''").replaceAll("\0", "");
          (await writing(copy, `UPDATE ${table} SET data = '${data}' WHERE id = ${row}`))();
          const found = new Set((await entriesAt(`${copy}#${id}`)).map((entry) => entry.id));
          const lost = good.filter((entry) => !found.has(entry.id));
          // A message with its results, its model and what is injected.
          expect(lost.length).toBeLessThanOrEqual(4);
        },
      ),
      { numRuns: 15 },
    );
    (await writing(path, "DELETE FROM part"))();
    const without = await entriesAt(address);
    expect(without.filter(({ type }) => type === "message").length).toBeGreaterThan(10);
  });

  it("is ignored when its bytes are not SQLite", async () => {
    const root = temporaryDirectory();
    const path = await databaseOf(root, dump);
    writeFileSync(path, "not a database");
    appendFileSync(join(dirname(path), "opencode-dev.db"), "");
    const { sessions } = await findSessions([root], { catalog: "off" });
    expect(sessions).toEqual([]);
  });
});
