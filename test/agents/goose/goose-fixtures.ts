/** Golden sessions of goose: statements that make a database of a version of its schema. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { databaseBytes, writeDatabase } from "../../support/database-file.ts";
import { fixturePath } from "../read-session.ts";

/** Of a file below the directory of the agent's data. */
export const databasePlace = "goose/sessions/sessions.db";

export function dumpOf(schema: 3 | 17): string {
  return readFileSync(fixturePath(`goose/goose-${schema}.sql`), "utf8");
}

/** A new database below a directory. */
export function databaseOf(root: string, ...statements: readonly string[]): Promise<string> {
  return writeDatabase(join(root, databasePlace), ...statements);
}

export function databaseOfSchema(schema: 3 | 17): Promise<Buffer> {
  return databaseBytes(dumpOf(schema));
}
