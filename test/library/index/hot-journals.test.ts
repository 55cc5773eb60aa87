/** Databases of other programs in the middle of a transaction, without a write-ahead log. */
import { execFileSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { findSessions } from "@branchlog/library";
import { readForeignDatabase } from "@branchlog/library/catalogs";
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

it("pipes with the names of its log and its journal are not waited for", async () => {
  const path = join(temporaryDirectory(), "database.db");
  await writeDatabase(path, "CREATE TABLE t (x); INSERT INTO t VALUES (1);");
  execFileSync("/usr/bin/env", ["mkfifo", `${path}-wal`, `${path}-journal`]);
  const read = readForeignDatabase(path, (query) => query("SELECT x FROM t"));
  expect(await read).toEqual([{ x: 1 }]);
});

const library = fileURLToPath(
  new URL("../../../packages/library/dist/catalogs.js", import.meta.url),
);

/** Prints what a program does as another user, who can read the packages. */
function printedByOther(program: string): string {
  return execFileSync(process.execPath, ["--input-type=module", "-e", program], {
    uid: 65_534,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
}

function hasOther(): boolean {
  try {
    return printedByOther(`await import(${JSON.stringify(library)}); console.log("read");`) !== "";
  } catch {
    return false;
  }
}

it.runIf(process.getuid?.() === 0 && hasOther())(
  "a journal that cannot be read may be of a transaction",
  async () => {
    const directory = temporaryDirectory();
    const path = join(directory, "database.db");
    await writeDatabase(path, "CREATE TABLE t (x);");
    writeFileSync(`${path}-journal`, "", { mode: 0o600 });
    chmodSync(directory, 0o755);
    chmodSync(path, 0o644);
    const printed = printedByOther(`
      const { readForeignDatabase } = await import(${JSON.stringify(library)});
      const read = readForeignDatabase(${JSON.stringify(path)}, () => 0);
      await read.catch(({ code }) => console.log(code));`);
    expect(printed).toBe("ERR_DOCUMENT_DAMAGED\n");
  },
);
