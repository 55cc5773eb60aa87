/** Lists of databases that hold more than a list should read. */
import { expect, it, onTestFinished, vi } from "vitest";
import { join } from "node:path";
import { findSessions } from "@branchlog/library";
import { openSession } from "@branchlog/core";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { databaseOf, dumpOf } from "./opencode-fixtures.ts";

const schema = dumpOf("1.18.33")
  .split("\n")
  .filter((line) => line.startsWith("CREATE"))
  .join("\n");

/** A session with a prompt of so many parts; the larger the number, the later it changed. */
function session(number: number, parts: number): string {
  const [id, message] = [`ses_${number}`, `msg_${number}`];
  const time = 1_790_000_000_000 + number * 60_000;
  const data = JSON.stringify({ role: "user", time: { created: time } });
  const part = JSON.stringify({ type: "text", text: "again" });
  return (
    "INSERT INTO session (id, project_id, slug, directory, title, version, time_created, " +
    `time_updated) VALUES ('${id}', 'p', 's', '/home/dev/shop', 'Number ${number}', '1.18.33', ` +
    `${time - 1000}, ${time}); ` +
    `INSERT INTO message VALUES ('${message}', '${id}', ${time}, ${time}, '${data}'); ` +
    "WITH RECURSIVE n(at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM n WHERE at < " +
    `${parts}) INSERT INTO part SELECT 'prt_${number}_' || at, '${message}', '${id}', ${time}, ` +
    `${time}, '${part}' FROM n;`
  );
}

it("a list reads the latest sessions, and shows only the row of others until later", async () => {
  const root = temporaryDirectory();
  vi.stubEnv("BRANCHLOG_CACHE_DIR", join(root, "cache"));
  onTestFinished(() => void vi.unstubAllEnvs());
  const sessions = [1, 2, 3, 4].map((number) => session(number, 2_400)).join(" ");
  const database = await databaseOf(root, `${schema} ${sessions}`);
  const counts = async (unread: boolean): Promise<readonly (number | undefined)[]> => {
    const found = await findSessions([database], { unread });
    return found.sessions.map(({ summary }) => summary.messageCount);
  };
  const { sessions: first } = await findSessions([database], { unread: true });
  expect(first.map(({ summary }) => summary.messageCount)).toEqual([1, 1, undefined, undefined]);
  // What was read is saved.
  expect(await counts(true)).toEqual([1, 1, 1, 1]);
  const { sessions: all } = await findSessions([database]);
  for (const [at, { header, name, path, transcript, modifiedMs }] of all.entries()) {
    const shown = { header, name, path, transcript, modifiedMs };
    expect(first[at]).toMatchObject(shown);
    const opened = await openSession(path);
    expect([opened.header, opened.name]).toEqual([header, name]);
    await opened.close();
  }
  expect(first.slice(2).map(({ usage, sizeBytes }) => [usage, sizeBytes])).toEqual([
    [undefined, undefined],
    [undefined, undefined],
  ]);
});

it("a list that requires all facts reads all sessions", async () => {
  const root = temporaryDirectory();
  const sessions = [1, 2, 3].map((number) => session(number, 2_400)).join(" ");
  const database = await databaseOf(root, `${schema} ${sessions}`);
  const { sessions: all } = await findSessions([database], { catalog: "off" });
  expect(all.map(({ summary }) => summary.messageCount)).toEqual([1, 1, 1]);
});
