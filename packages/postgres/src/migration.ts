/** Migrates the schema of a store to the version of this release, and checks it. */
import type { Connections, Transaction } from "./connections.ts";
import { migrations, quotedName } from "./schema.ts";
import { foreignSchema, schemaNewer, schemaOlder } from "./store-errors.ts";
import { functionsOf, versionFunction } from "./store-functions.ts";

const wanted = migrations.length;

/** Any number that no other program locks. */
const lockKey = "7021458360117";

export interface Migrated {
  readonly from: number;
  readonly to: number;
}

/** In one transaction, under a lock that other processes wait for. Rejects with `ERR_STORE_*`. */
export async function applyMigrations(connections: Connections, schema: string): Promise<Migrated> {
  const transaction = await connections.begin();
  try {
    const from = await migrate(transaction, connections.shown, schema);
    await transaction.commit();
    return { from, to: wanted };
  } finally {
    await transaction.rollback();
  }
}

async function migrate({ query }: Transaction, shown: string, schema: string): Promise<number> {
  const name = quotedName(schema);
  await query("SELECT pg_advisory_xact_lock($1)", [lockKey]);
  await requireOwn(query, shown, name);
  const [found] = await query<{ readonly table: string | null }>(
    "SELECT to_regclass($1) AS table",
    [`${name}.version`],
  );
  if (found?.table === null || found === undefined) {
    await query(`CREATE SCHEMA IF NOT EXISTS ${name}`, []);
    await query(`CREATE TABLE ${name}.version (number int NOT NULL)`, []);
    await query(`INSERT INTO ${name}.version VALUES (0)`, []);
  }
  const [row] = await query<{ readonly number: number }>(`SELECT number FROM ${name}.version`, []);
  const from = row?.number ?? 0;
  if (from > wanted) throw schemaNewer(shown, from, wanted);
  if (from === wanted) return from;
  for (const migration of migrations.slice(from)) await query(migration(schema), []);
  await query(functionsOf(schema), []);
  await query(`UPDATE ${name}.version SET number = $1`, [wanted]);
  return from;
}

/** Objects of a migration belong to the role that runs it, and so must the schema. */
async function requireOwn(query: Transaction["query"], shown: string, name: string): Promise<void> {
  const [found] = await query<{ readonly owner: string; readonly is_own: boolean }>(
    `SELECT n.nspowner::regrole::text AS owner, n.nspowner = r.oid AS is_own
     FROM pg_namespace n, pg_roles r
     WHERE n.oid = to_regnamespace($1) AND r.rolname = current_user`,
    [name],
  );
  if (found !== undefined && !found.is_own) throw foreignSchema(shown, found.owner);
}

/** Rejects with `ERR_STORE_SCHEMA` for another version, or none. */
export async function requireVersion(connections: Connections, schema: string): Promise<void> {
  const [row] = await connections.query<{ readonly number: number | null }>(
    `SELECT ${quotedName(schema)}.${versionFunction}() AS number`,
    [],
  );
  const found = row?.number ?? 0;
  if (found > wanted) throw schemaNewer(connections.shown, found, wanted);
  if (found < wanted) throw schemaOlder(connections.shown, found, wanted);
}
