/**
 * The tables of a store, as numbered migrations. A batch is never changed. The functions that read
 * and write them are in store-functions.ts. See docs/decisions/0043-a-store-in-postgresql.md.
 */

/** A name as SQL writes it. */
export function quotedName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A statement with the schema in the place of the word `SCHEMA`. */
export function inSchema(statement: string, schema: string): string {
  const known = statements.get(schema)?.get(statement);
  if (known !== undefined) return known;
  const made = statement.replaceAll("SCHEMA", () => quotedName(schema));
  statements.set(
    schema,
    (statements.get(schema) ?? new Map<string, string>()).set(statement, made),
  );
  return made;
}

/** By schema: they are few, and each append has one. */
const statements = new Map<string, Map<string, string>>();

type Migration = (schema: string) => string;

/** Of the tables: applied in order, each in the transaction that also raises the version. */
export const migrations: readonly Migration[] = [batches, membersByRole, joinedReads, savedIndexes];

function batches(schema: string): string {
  const name = quotedName(schema);
  return `
CREATE TABLE ${name}.member (role name PRIMARY KEY, tenant text NOT NULL);

-- Without an index on what an append changes, its update stays within the page.
CREATE TABLE ${name}.log (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant text NOT NULL,
  name text COLLATE "C" NOT NULL,
  until bigint NOT NULL DEFAULT 0,
  mark bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  changed_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz,
  UNIQUE (tenant, name)
) WITH (fillfactor = 50);

-- text, not jsonb: the order of keys and the form of numbers stay. raw has all other bytes.
CREATE TABLE ${name}.batch (
  log_id bigint NOT NULL REFERENCES ${name}.log ON DELETE CASCADE,
  at bigint NOT NULL,
  until bigint NOT NULL,
  mark bigint NOT NULL,
  body text,
  raw bytea,
  PRIMARY KEY (log_id, at),
  CHECK ((body IS NULL) <> (raw IS NULL))
);
`;
}

/**
 * A name says nothing of a role that was renamed, or dropped and created again. A dump of the
 * database writes a `regrole` as the name, so that it stays right in another cluster.
 */
function membersByRole(schema: string): string {
  const name = quotedName(schema);
  return `
ALTER TABLE ${name}.member RENAME TO member_by_name;
CREATE TABLE ${name}.member (
  role regrole PRIMARY KEY,
  tenant text NOT NULL CHECK (tenant <> ''),
  access text NOT NULL CHECK (access IN ('read', 'write'))
);
INSERT INTO ${name}.member
  SELECT r.oid, m.tenant, CASE WHEN EXISTS (
      SELECT FROM pg_catalog.pg_proc p, pg_catalog.aclexplode(p.proacl) a
      WHERE p.pronamespace = ${literal(name)}::regnamespace
        AND p.proname = 'append' AND a.grantee = r.oid) THEN 'write' ELSE 'read' END
  FROM ${name}.member_by_name m JOIN pg_catalog.pg_roles r ON r.rolname = m.role
  WHERE m.tenant <> '';
DROP TABLE ${name}.member_by_name;

-- Of each log, what a failover lost and a session still had; see lost_lines.
CREATE TABLE ${name}.lost (
  log_id bigint NOT NULL REFERENCES ${name}.log ON DELETE CASCADE,
  id text NOT NULL,
  line text NOT NULL,
  reported_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (log_id, id)
);
`;
}

/** Other functions, on the same tables. */
function joinedReads(): string {
  return "";
}

/**
 * Of long logs: an index that a session saved, packed, so that others open the log without reading
 * it. Derived: may be deleted at any time. Text, since the library doubles bytes on the wire.
 */
function savedIndexes(schema: string): string {
  const name = quotedName(schema);
  return `
CREATE TABLE ${name}.saved_index (
  log_id bigint PRIMARY KEY REFERENCES ${name}.log ON DELETE CASCADE,
  until bigint NOT NULL,
  mark bigint NOT NULL,
  key bigint NOT NULL
);
CREATE TABLE ${name}.index_piece (
  log_id bigint NOT NULL REFERENCES ${name}.log ON DELETE CASCADE,
  key bigint NOT NULL,
  number int NOT NULL,
  packed text NOT NULL,
  PRIMARY KEY (log_id, key, number)
);
-- It is compressed already.
ALTER TABLE ${name}.index_piece ALTER packed SET STORAGE EXTERNAL;
`;
}

/** A text as SQL writes it. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
