/** Databases of other programs in the middle of a transaction, without a write-ahead log. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { findSessions, archiveSessions } from "@branchlog/library";
import { readForeignDatabase } from "@branchlog/library/catalogs";
import { chatIn, chatOf, chatMessages } from "../../agents/cursor/cursor-fixtures.ts";
import { writeDatabase } from "../../support/database-file.ts";
import { rejection } from "../../support/typed-errors.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

it("a transaction that has not ended is not read as if it had", async () => {
  const path = join(temporaryDirectory(), "database.db");
  await writeDatabase(path, "CREATE TABLE t (x); INSERT INTO t VALUES ('committed');");
  const read = (): Promise<unknown> =>
    readForeignDatabase(path, (query) => query("SELECT x FROM t").map((row) => row["x"]));
  // As SQLite leaves it when its process is killed; zeros are of one that ended.
  writeFileSync(`${path}-journal`, Buffer.from("d9d505f920a163d7", "hex"));
  expect(await rejection(read())).toMatchObject({ code: "ERR_DOCUMENT_DAMAGED" });
  for (const ended of [Buffer.alloc(0), Buffer.alloc(512)]) {
    writeFileSync(`${path}-journal`, ended);
    expect(await read()).toEqual(["committed"]);
  }
});

it("a pipe with the name of a database is not waited for", async () => {
  const directory = temporaryDirectory();
  execFileSync("/usr/bin/env", ["mkfifo", join(directory, "store.db")]);
  const { sessions } = await findSessions([directory], { catalog: "off" });
  expect(sessions).toEqual([]);
});

it("a chat outside of Cursor's directories is archived without what lies around it", async () => {
  const home = temporaryDirectory();
  const path = await chatIn(home, ...chatOf(chatMessages));
  expect(existsSync(path)).toBe(true);
  const directory = join(home, "backup");
  mkdirSync(join(directory, "code"), { recursive: true });
  const moved = join(directory, "store.db");
  execFileSync("/usr/bin/env", ["cp", path, moved]);
  const others = [join(directory, "thesis.txt"), join(directory, "code", "main.c")];
  for (const other of others) writeFileSync(other, "of the user");
  const options = { dataDir: temporaryDirectory(), force: true };
  expect((await archiveSessions([moved], options)).failures).toEqual([]);
  expect([existsSync(moved), ...others.map((other) => existsSync(other))]).toEqual([
    false,
    true,
    true,
  ]);
});
