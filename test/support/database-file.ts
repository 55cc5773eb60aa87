/** Databases of other programs, made of statements. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { sqlEngine } from "@branchlog/library/catalogs";

/** A new database, or more in one that is there. */
export async function writeDatabase(
  path: string,
  ...statements: readonly string[]
): Promise<string> {
  mkdirSync(dirname(path), { recursive: true });
  const database = (await sqlEngine()).open(path);
  try {
    database.exec(`BEGIN; ${statements.join("\n")} COMMIT`);
    // As a program leaves it: the log is next to it while a process uses it.
    database.exec("PRAGMA journal_mode = DELETE");
  } finally {
    database.close();
  }
  return path;
}

export async function databaseBytes(...statements: readonly string[]): Promise<Buffer> {
  // Suites are described outside of a test.
  const root = mkdtempSync(join(tmpdir(), "branchlog-"));
  try {
    return readFileSync(await writeDatabase(join(root, "database.db"), ...statements));
  } finally {
    rmSync(root, { recursive: true });
  }
}

/**
 * Statements of another program, whose connection is open until the returned function is called.
 */
export async function writing(path: string, ...statements: readonly string[]): Promise<() => void> {
  const database = (await sqlEngine()).open(path);
  // As WebAssembly needs it for a log.
  database.exec("PRAGMA locking_mode = EXCLUSIVE");
  for (const sql of ["PRAGMA journal_mode = WAL", ...statements]) database.exec(sql);
  return () => database.close();
}
