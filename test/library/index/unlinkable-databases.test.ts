/** Databases of other programs where links need a privilege, as on Windows. */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { afterEach, expect, it, vi } from "vitest";
import { readForeignDatabase } from "@branchlog/library/catalogs";
import { writeDatabase } from "../../support/database-file.ts";
import { temporaryDirectory, temporaryFile } from "../../support/temporary-directory.ts";
import { rejection, typedError } from "../../support/typed-errors.ts";

const { symlinkSync } = fs;

function refuseLinks(): void {
  fs.symlinkSync = () => {
    throw Object.assign(new Error("EPERM"), { code: "EPERM" });
  };
  syncBuiltinESMExports();
}

afterEach(() => {
  fs.symlinkSync = symlinkSync;
  syncBuiltinESMExports();
  vi.unstubAllEnvs();
});

it("are copied for a moment, but never one that holds secrets", async () => {
  const path = await writeDatabase(temporaryFile(""), "CREATE TABLE one (id); ");
  const temporary = temporaryDirectory();
  vi.stubEnv("TMPDIR", temporary);
  const names = (holdsSecrets: boolean): Promise<readonly unknown[]> => {
    const sql = "SELECT name FROM sqlite_master";
    return readForeignDatabase(path, (query) => query(sql).map(({ name }) => name), {
      holdsSecrets,
    });
  };
  expect(await names(true)).toEqual(["one"]);
  refuseLinks();
  expect(await names(false)).toEqual(["one"]);
  const refused = typedError(await rejection(names(true)));
  expect([refused.code, refused.message]).toEqual([
    "ERR_LOG_UNREADABLE",
    expect.stringContaining("it is never copied"),
  ]);
  expect(fs.readdirSync(temporary)).toEqual([]);
});
