/**
 * The schema of a store, as numbered migrations. Everything goes through functions that run with
 * the rights of the schema's owner and know whose logs a role may touch: no role needs, or gets, a
 * right on a table. A batch is never changed. See docs/decisions/0043-a-store-in-postgresql.md.
 */

/** A name as SQL writes it. */
export function quotedName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A statement with the schema in the place of the word `SCHEMA`. */
export function inSchema(statement: string, schema: string): string {
  return statement.replaceAll("SCHEMA", () => quotedName(schema));
}

/** Which version a schema has, and that it is one: readable by all who may use the schema. */
export const versionFunction = "schema_version";

/** The error that `read` raises for a log that is gone, or was set back. */
export const goneState = "BLG01";

/** What a role that reads may call, and what only one that writes may. */
const readingFunctions = [
  "open_log",
  "log_end",
  "log_ends",
  "read_log",
  "list_logs",
  "search_logs",
] as const;
const writingFunctions = [
  "append",
  "hold_log",
  "create_log",
  "remove_log",
  "set_expiry",
  "expire",
] as const;

/** Of what others appended, an answer to an append has no more. */
const sinceBytesMax = 256 * 1024;

type Migration = (schema: string) => string;

/** To be applied in order, each in the transaction that also raises the version. */
export const migrations: readonly Migration[] = [first];

function first(schema: string): string {
  const name = quotedName(schema);
  const functions = (names: readonly string[]): string => names.map((one) => `'${one}'`).join(", ");
  const definer = `SECURITY DEFINER SET search_path = ${name}, pg_temp`;
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

-- text, not jsonb: the order of keys and the form of numbers stay. raw has what is no text.
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

CREATE FUNCTION ${name}.own_tenant() RETURNS text
LANGUAGE sql STABLE ${definer} AS $$
  SELECT coalesce((SELECT m.tenant FROM member m WHERE m.role = session_user), '')
$$;

-- Whether a batch with this mark ends there; true without a mark.
CREATE FUNCTION ${name}.ends_so(p_log bigint, p_at bigint, p_mark bigint) RETURNS boolean
LANGUAGE sql STABLE ${definer} AS $$
  SELECT p_mark IS NULL OR coalesce((
    SELECT b.until = p_at AND b.mark = p_mark FROM batch b
    WHERE b.log_id = p_log AND b.at < p_at ORDER BY b.at DESC LIMIT 1), false)
$$;

-- An answer of 'overtaken' has what was stored since, if it is short; new_mark is its last mark.
-- The tenant is asked for in place: a call of own_tenant() takes as long as the rest.
CREATE FUNCTION ${name}.append(
  p_log bigint, p_at bigint, p_mark bigint, p_body text, p_raw bytea, p_synced boolean,
  OUT answer text, OUT ends bigint, OUT new_mark bigint, OUT since text)
LANGUAGE plpgsql ${definer} AS $$
DECLARE
  p_until bigint := p_at + coalesce(octet_length(p_body), octet_length(p_raw));
  v_mark bigint;
BEGIN
  IF NOT p_synced THEN PERFORM set_config('synchronous_commit', 'off', true); END IF;
  new_mark := (random() * 9007199254740991)::bigint;
  UPDATE log l SET until = p_until, mark = new_mark, changed_at = clock_timestamp()
    WHERE l.id = p_log AND l.until = p_at AND (p_mark IS NULL OR l.mark = p_mark)
      AND l.tenant = coalesce(
        (SELECT m.tenant FROM member m WHERE m.role = session_user), '');
  IF FOUND THEN
    INSERT INTO batch VALUES (p_log, p_at, p_until, new_mark, p_body, p_raw);
    answer := 'appended';
    ends := p_until;
    RETURN;
  END IF;
  SELECT l.until, l.mark INTO ends, v_mark FROM log l
    WHERE l.id = p_log AND l.tenant = own_tenant();
  IF NOT FOUND OR ends < p_at OR NOT ends_so(p_log, p_at, p_mark) THEN
    answer := 'gone';
    RETURN;
  END IF;
  SELECT b.mark INTO new_mark FROM batch b WHERE b.log_id = p_log AND b.at = p_at
    AND b.until = p_until AND b.body IS NOT DISTINCT FROM p_body
    AND b.raw IS NOT DISTINCT FROM p_raw;
  IF FOUND THEN
    answer := 'landed';
    RETURN;
  END IF;
  answer := 'overtaken';
  new_mark := v_mark;
  IF ends - p_at <= ${sinceBytesMax} THEN
    SELECT string_agg(b.body, '' ORDER BY b.at) INTO since FROM batch b
      WHERE b.log_id = p_log AND b.at >= p_at AND b.at < ends HAVING bool_and(b.body IS NOT NULL);
  END IF;
END
$$;

-- Until the end of the transaction nobody else can append. Null: the log is gone, or was set back.
CREATE FUNCTION ${name}.hold_log(p_log bigint, p_at bigint, p_mark bigint) RETURNS bigint
LANGUAGE plpgsql ${definer} AS $$
DECLARE
  v_ends bigint;
BEGIN
  SELECT l.until INTO v_ends FROM log l WHERE l.id = p_log AND l.tenant = own_tenant() FOR UPDATE;
  RETURN CASE WHEN v_ends >= p_at AND ends_so(p_log, p_at, p_mark) THEN v_ends END;
END
$$;

-- With its first bytes; one row without them for an empty log.
CREATE FUNCTION ${name}.open_log(
  p_name text, p_bytes bigint,
  OUT id bigint, OUT ends bigint, OUT starts bigint, OUT marked bigint, OUT text_body text,
  OUT raw_body bytea)
RETURNS SETOF record LANGUAGE sql STABLE ${definer} AS $$
  SELECT l.id, l.until, b.at, b.mark, b.body, b.raw FROM log l
  LEFT JOIN batch b ON b.log_id = l.id AND b.at < p_bytes
  WHERE l.tenant = own_tenant() AND l.name = p_name ORDER BY b.at
$$;

CREATE FUNCTION ${name}.log_end(p_name text, OUT id bigint, OUT ends bigint)
RETURNS SETOF record LANGUAGE sql STABLE ${definer} AS $$
  SELECT l.id, l.until FROM log l WHERE l.tenant = own_tenant() AND l.name = p_name
$$;

CREATE FUNCTION ${name}.log_ends(p_ids bigint[], OUT id bigint, OUT ends bigint)
RETURNS SETOF record LANGUAGE sql STABLE ${definer} AS $$
  SELECT l.id, l.until FROM log l WHERE l.tenant = own_tenant() AND l.id = ANY (p_ids)
$$;

CREATE FUNCTION ${name}.read_log(
  p_log bigint, p_at bigint, p_mark bigint, p_bytes bigint,
  OUT starts bigint, OUT marked bigint, OUT ends bigint, OUT text_body text, OUT raw_body bytea)
RETURNS SETOF record LANGUAGE plpgsql STABLE ${definer} AS $$
DECLARE
  v_from bigint;
BEGIN
  SELECT l.until INTO ends FROM log l WHERE l.id = p_log AND l.tenant = own_tenant();
  IF NOT FOUND OR ends < p_at OR NOT ends_so(p_log, p_at, p_mark) THEN
    RAISE EXCEPTION 'the log is gone, or was set back' USING ERRCODE = '${goneState}';
  END IF;
  SELECT max(b.at) INTO v_from FROM batch b WHERE b.log_id = p_log AND b.at <= p_at;
  RETURN QUERY SELECT b.at, b.mark, ends, b.body, b.raw FROM batch b
    WHERE b.log_id = p_log AND b.at >= v_from AND b.at < p_at + p_bytes AND b.until > p_at
    ORDER BY b.at;
END
$$;

CREATE FUNCTION ${name}.create_log(p_name text) RETURNS bigint
LANGUAGE sql ${definer} AS $$
  INSERT INTO log (tenant, name) VALUES (own_tenant(), p_name) RETURNING id
$$;

CREATE FUNCTION ${name}.remove_log(p_name text) RETURNS boolean
LANGUAGE plpgsql ${definer} AS $$
BEGIN
  DELETE FROM log l WHERE l.tenant = own_tenant() AND l.name = p_name;
  RETURN FOUND;
END
$$;

-- In the order of their names, which is that of their bytes.
CREATE FUNCTION ${name}.list_logs(
  p_after text, p_limit int,
  OUT name text, OUT bytes bigint, OUT created_at timestamptz, OUT changed_at timestamptz,
  OUT expires_at timestamptz, OUT head text)
RETURNS SETOF record LANGUAGE sql STABLE ${definer} AS $$
  SELECT l.name, l.until, l.created_at, l.changed_at, l.expires_at,
    (SELECT left(b.body, 16384) FROM batch b WHERE b.log_id = l.id AND b.at = 0)
  FROM log l WHERE l.tenant = own_tenant() AND l.name > p_after ORDER BY l.name LIMIT p_limit
$$;

-- The names of logs in which any of the texts occurs, whatever its case; null: of all.
CREATE FUNCTION ${name}.search_logs(p_texts text[], p_after text, p_limit int)
RETURNS SETOF text LANGUAGE sql STABLE ${definer} AS $$
  SELECT l.name FROM log l WHERE l.tenant = own_tenant() AND l.name > p_after
    AND (p_texts IS NULL OR EXISTS (
      SELECT FROM batch b WHERE b.log_id = l.id
        AND (b.body IS NULL OR EXISTS (
          SELECT FROM unnest(p_texts) t WHERE position(lower(t) IN lower(b.body)) > 0))))
  ORDER BY l.name LIMIT p_limit
$$;

CREATE FUNCTION ${name}.set_expiry(p_name text, p_at timestamptz) RETURNS boolean
LANGUAGE plpgsql ${definer} AS $$
BEGIN
  UPDATE log l SET expires_at = p_at WHERE l.tenant = own_tenant() AND l.name = p_name;
  RETURN FOUND;
END
$$;

CREATE FUNCTION ${name}.expire(p_limit int) RETURNS SETOF text
LANGUAGE sql ${definer} AS $$
  DELETE FROM log l WHERE l.id IN (
    SELECT o.id FROM log o WHERE o.tenant = own_tenant() AND o.expires_at <= now()
    ORDER BY o.expires_at LIMIT p_limit FOR UPDATE SKIP LOCKED) RETURNING l.name
$$;

CREATE FUNCTION ${name}.${versionFunction}() RETURNS int
LANGUAGE sql STABLE ${definer} AS $$ SELECT number FROM version $$;

-- For the owner: access is 'read' or 'write'.
CREATE FUNCTION ${name}.grant_access(p_role name, p_access text, p_tenant text) RETURNS void
LANGUAGE plpgsql SET search_path = ${name}, pg_temp AS $$
DECLARE
  v_function regprocedure;
  v_names text[] := ARRAY[${functions(readingFunctions)}];
BEGIN
  IF p_access = 'write' THEN
    v_names := v_names || ARRAY[${functions(writingFunctions)}];
  ELSIF p_access <> 'read' THEN
    RAISE EXCEPTION 'access is read or write, not %', p_access;
  END IF;
  PERFORM revoke_access(p_role);
  EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', '${schema.replaceAll("'", "''")}', p_role);
  FOR v_function IN SELECT p.oid::regprocedure FROM pg_catalog.pg_proc p
    WHERE p.pronamespace = '${name.replaceAll("'", "''")}'::regnamespace
      AND p.proname = ANY (v_names)
  LOOP
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', v_function, p_role);
  END LOOP;
  INSERT INTO member VALUES (p_role, p_tenant);
END
$$;

CREATE FUNCTION ${name}.revoke_access(p_role name) RETURNS void
LANGUAGE plpgsql SET search_path = ${name}, pg_temp AS $$
BEGIN
  EXECUTE format('REVOKE ALL ON ALL FUNCTIONS IN SCHEMA %I FROM %I',
    '${schema.replaceAll("'", "''")}', p_role);
  EXECUTE format('REVOKE ALL ON SCHEMA %I FROM %I', '${schema.replaceAll("'", "''")}', p_role);
  DELETE FROM member WHERE role = p_role;
END
$$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA ${name} FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ${name}.${versionFunction}() TO PUBLIC;
`;
}
