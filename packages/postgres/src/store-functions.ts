/**
 * The functions of a store. Everything goes through them: they run with the rights of the schema's
 * owner and know whose logs a role may access, so that no role needs, or gets, a right on a table.
 */
import { literal, quotedName } from "./schema.ts";

/** Which version a schema has, and that it is one: readable by all who may use the schema. */
export const versionFunction = "schema_version";

/** The error that `read` raises for a log that is gone, or was set back. */
export const goneState = "BLG01";

/** The functions that a reading role can call, and those that only a writing one can. */
const readingFunctions = [
  "open_log",
  "log_end",
  "log_ends",
  "read_log",
  "read_index",
  "list_logs",
  "search_logs",
  "lost_lines",
] as const;
const writingFunctions = [
  "append",
  "append_each",
  "flush_log",
  "add_index_piece",
  "publish_index",
  "report_lost",
  "lease_log",
  "create_log",
  "remove_log",
  "set_expiry",
  "expire",
] as const;

/** Any number that no other program locks together with that of a log. */
const indexLockKey = 1_634_885;

/** The maximum of other writers' bytes in the answer to an append. */
const sinceBytesMax = 256 * 1024;

/** Fewer batches are read as they are: to join large ones costs more than a row. */
const joinedAfter = 64;

/** Of all versions. A schema may hold other functions, of the owner or of an extension. */
const ownFunctions = [
  ...readingFunctions,
  ...writingFunctions,
  "own_tenant",
  "ends_so",
  "since_text",
  "write_own",
  "hold_log",
  "grant_functions",
  "grant_access",
  "revoke_access",
  versionFunction,
] as const;

/**
 * All functions of a version, in the place of those before, with the rights that members have.
 */
export function functionsOf(schema: string): string {
  const name = quotedName(schema);
  const definer = `SECURITY DEFINER SET search_path = ${name}, pg_temp`;
  return `
${forOwnFunctions(name, "DROP FUNCTION %s")}

-- The tenant of the role that logged in, or of the roles whose rights it inherits. A superuser
-- would inherit from all. In plpgsql, since a function in SQL is planned at each call.
CREATE FUNCTION ${name}.own_tenant() RETURNS text
LANGUAGE plpgsql STABLE ${definer} AS $$
DECLARE
  v_role pg_catalog.pg_roles;
  v_tenants text[];
  v_givers text[];
BEGIN
  SELECT * INTO v_role FROM pg_catalog.pg_roles r WHERE r.rolname = session_user;
  IF v_role.oid = (
    SELECT n.nspowner FROM pg_catalog.pg_namespace n WHERE n.oid = ${literal(name)}::regnamespace)
  THEN
    RETURN '';
  END IF;
  SELECT array_agg(t.tenant ORDER BY t.tenant), array_agg(t.giver ORDER BY t.tenant)
    INTO v_tenants, v_givers
    FROM (
      SELECT m.tenant, min(m.role::text) AS giver FROM member m
      WHERE m.role = v_role.oid
        OR NOT v_role.rolsuper AND pg_catalog.pg_has_role(v_role.oid, m.role, 'USAGE')
      GROUP BY m.tenant) t;
  IF cardinality(v_tenants) = 1 THEN RETURN v_tenants[1]; END IF;
  IF v_tenants IS NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege', MESSAGE = format(
      'the role %s has no tenant here; the owner of the schema gives it one with '
      'SELECT %I.grant_access(%L, ''write'', ''TENANT''), or puts it into a role that has one',
      session_user, ${literal(schema)}, session_user);
  END IF;
  RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege', MESSAGE = format(
    'the role %s would be in two tenants, %L by the role %s and %L by the role %s; the owner of '
    'the schema takes it out of one of these roles',
    session_user, v_tenants[1], v_givers[1], v_tenants[2], v_givers[2]);
END
$$;

-- Whether a batch with this mark ends there; true without a mark.
CREATE FUNCTION ${name}.ends_so(p_log bigint, p_at bigint, p_mark bigint) RETURNS boolean
LANGUAGE sql STABLE SET search_path = ${name}, pg_temp AS $$
  SELECT p_mark IS NULL OR coalesce((
    SELECT b.until = p_at AND b.mark = p_mark FROM batch b
    WHERE b.log_id = p_log AND b.at < p_at ORDER BY b.at DESC LIMIT 1), false)
$$;

-- What was stored from p_at to p_ends; null if it is long, or no text.
CREATE FUNCTION ${name}.since_text(p_log bigint, p_at bigint, p_ends bigint) RETURNS text
LANGUAGE sql STABLE SET search_path = ${name}, pg_temp AS $$
  SELECT CASE WHEN p_ends = p_at THEN '' WHEN p_ends - p_at <= ${sinceBytesMax} THEN (
    SELECT string_agg(b.body, '' ORDER BY b.at) FROM batch b
    WHERE b.log_id = p_log AND b.at >= p_at AND b.at < p_ends
    HAVING bool_and(b.body IS NOT NULL)) END
$$;

-- Of what was appended the answer is the mark, else an object of JSON, as one value costs least.
-- That of a 'conflict' has what was stored since, if it is short, and the mark of the last batch.
CREATE FUNCTION ${name}.append(
  p_log bigint, p_at bigint, p_mark bigint, p_body text, p_raw bytea, p_synced boolean)
RETURNS text LANGUAGE plpgsql ${definer} AS $$
DECLARE
  v_until bigint := p_at + coalesce(octet_length(p_body), octet_length(p_raw));
  v_tenant text := own_tenant();
  v_new_mark bigint := (random() * 9007199254740991)::bigint;
  v_ends bigint;
  v_mark bigint;
BEGIN
  IF NOT p_synced THEN PERFORM set_config('synchronous_commit', 'off', true); END IF;
  UPDATE log l SET until = v_until, mark = v_new_mark, changed_at = clock_timestamp()
    WHERE l.id = p_log AND l.until = p_at AND (p_mark IS NULL OR l.mark = p_mark)
      AND l.tenant = v_tenant;
  IF FOUND THEN
    INSERT INTO batch VALUES (p_log, p_at, v_until, v_new_mark, p_body, p_raw);
    RETURN v_new_mark;
  END IF;
  SELECT l.until, l.mark INTO v_ends, v_mark FROM log l WHERE l.id = p_log AND l.tenant = v_tenant;
  IF NOT FOUND OR v_ends < p_at OR NOT ends_so(p_log, p_at, p_mark) THEN
    RETURN json_build_object('answer', 'gone');
  END IF;
  SELECT b.mark INTO v_new_mark FROM batch b WHERE b.log_id = p_log AND b.at = p_at
    AND b.until = v_until AND b.body IS NOT DISTINCT FROM p_body
    AND b.raw IS NOT DISTINCT FROM p_raw;
  IF FOUND THEN
    PERFORM write_own(p_log);
    RETURN json_build_object('answer', 'alreadyStored', 'ends', v_ends, 'mark', v_new_mark::text);
  END IF;
  RETURN json_build_object('answer', 'conflict', 'ends', v_ends, 'mark', v_mark::text,
    'since', since_text(p_log, p_at, v_ends));
END
$$;

-- For each of several logs the mark of what was appended; null where the log does not end so, or is
-- held by others: this waits for none of them.
CREATE FUNCTION ${name}.append_each(
  p_logs bigint[], p_ats bigint[], p_marks bigint[], p_bodies text[], p_synced boolean)
RETURNS text[] LANGUAGE plpgsql ${definer} AS $$
DECLARE
  v_tenant text := own_tenant();
  v_marks text[];
BEGIN
  IF NOT p_synced THEN PERFORM set_config('synchronous_commit', 'off', true); END IF;
  WITH given AS MATERIALIZED (
    SELECT * FROM unnest(p_logs, p_ats, p_marks, p_bodies) WITH ORDINALITY g(id, at, mark, body, n)
  ), held AS MATERIALIZED (
    SELECT g.* FROM given g JOIN log l ON l.id = g.id
    WHERE l.until = g.at AND (g.mark IS NULL OR l.mark = g.mark) AND l.tenant = v_tenant
    FOR UPDATE OF l SKIP LOCKED
  ), done AS (
    UPDATE log l SET until = h.at + octet_length(h.body), changed_at = clock_timestamp(),
      mark = (random() * 9007199254740991)::bigint
    FROM held h WHERE l.id = h.id AND l.until = h.at
    RETURNING h.n, l.id, h.at, l.until, l.mark, h.body
  ), stored AS (
    INSERT INTO batch SELECT d.id, d.at, d.until, d.mark, d.body, NULL FROM done d
  )
  SELECT array_agg(d.mark::text ORDER BY g.n) INTO v_marks
    FROM given g LEFT JOIN done d ON d.n = g.n;
  RETURN v_marks;
END
$$;

-- What is visible may be on no standby: the wait of the commit that stored it can have ended with
-- its connection. The commit of a transaction that writes waits for all commits before it.
CREATE FUNCTION ${name}.write_own(p_log bigint) RETURNS void
LANGUAGE sql SET search_path = ${name}, pg_temp AS $$
  UPDATE log l SET changed_at = l.changed_at WHERE l.id = p_log
$$;

-- Waits as an append does for all that the log holds before p_at. False: it is gone, or was set
-- back.
CREATE FUNCTION ${name}.flush_log(p_log bigint, p_at bigint, p_mark bigint, p_synced boolean)
RETURNS boolean LANGUAGE plpgsql ${definer} AS $$
BEGIN
  IF NOT p_synced THEN PERFORM set_config('synchronous_commit', 'off', true); END IF;
  PERFORM FROM log l WHERE l.id = p_log AND l.tenant = own_tenant() AND l.until >= p_at;
  IF NOT FOUND OR NOT ends_so(p_log, p_at, p_mark) THEN RETURN false; END IF;
  PERFORM write_own(p_log);
  RETURN true;
END
$$;

-- A session still had these lines when it saw that a failover had lost them.
CREATE FUNCTION ${name}.report_lost(p_log bigint, p_ids text[], p_lines text[]) RETURNS void
LANGUAGE plpgsql ${definer} AS $$
BEGIN
  INSERT INTO lost (log_id, id, line)
    SELECT l.id, t.id, t.line FROM log l, unnest(p_ids, p_lines) t(id, line)
    WHERE l.id = p_log AND l.tenant = own_tenant() ON CONFLICT DO NOTHING;
END
$$;

-- In the order in which they were reported.
CREATE FUNCTION ${name}.lost_lines(p_log bigint, OUT id text, OUT line text)
RETURNS SETOF record LANGUAGE sql STABLE ${definer} AS $$
  SELECT o.id, o.line FROM lost o JOIN log l ON l.id = o.log_id
  WHERE o.log_id = p_log AND l.tenant = own_tenant() ORDER BY o.reported_at, o.ctid
$$;

-- Until the end of the transaction nobody else can append. Null: the log is gone, or was set back.
-- Else its end, the mark of that, and what was stored since if it is short.
CREATE FUNCTION ${name}.lease_log(
  p_log bigint, p_at bigint, p_mark bigint, OUT ends bigint, OUT marked bigint, OUT since text)
LANGUAGE plpgsql ${definer} AS $$
BEGIN
  SELECT l.until, l.mark INTO ends, marked FROM log l
    WHERE l.id = p_log AND l.tenant = own_tenant() FOR UPDATE;
  IF ends IS NULL OR ends < p_at OR NOT ends_so(p_log, p_at, p_mark) THEN
    ends := NULL;
  ELSE
    since := since_text(p_log, p_at, ends);
  END IF;
END
$$;

-- With its first bytes; one row without them for an empty log, and for a long one that has an index
-- saved for it: then marked is the mark of the batch that the index ends with.
CREATE FUNCTION ${name}.open_log(
  p_name text, p_bytes bigint,
  OUT id bigint, OUT ends bigint, OUT starts bigint, OUT marked bigint, OUT text_body text,
  OUT raw_body bytea, OUT indexed_to bigint, OUT index_key bigint)
RETURNS SETOF record LANGUAGE sql STABLE ${definer} AS $$
  SELECT l.id, l.until, b.at, coalesce(b.mark, i.mark), b.body, b.raw, i.until, i.key FROM log l
  LEFT JOIN saved_index i ON l.until > p_bytes AND i.log_id = l.id AND i.until <= l.until
    AND ends_so(l.id, i.until, i.mark)
  LEFT JOIN batch b ON i.log_id IS NULL AND b.log_id = l.id AND b.at < p_bytes
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

-- Many batches that follow each other are joined to one row: a log may have a million. starts is
-- that of the first, marked that of the last of them. The intended log has p_mark at p_known.
CREATE FUNCTION ${name}.read_log(
  p_log bigint, p_known bigint, p_mark bigint, p_at bigint, p_bytes bigint,
  OUT starts bigint, OUT marked bigint, OUT ends bigint, OUT text_body text, OUT raw_body bytea)
RETURNS SETOF record LANGUAGE plpgsql STABLE ${definer} AS $$
DECLARE
  v_from bigint;
BEGIN
  SELECT l.until INTO ends FROM log l WHERE l.id = p_log AND l.tenant = own_tenant();
  IF NOT FOUND OR ends < p_known OR NOT ends_so(p_log, p_known, p_mark) THEN
    RAISE EXCEPTION 'the log is gone, or was set back' USING ERRCODE = '${goneState}';
  END IF;
  SELECT max(b.at) INTO v_from FROM batch b WHERE b.log_id = p_log AND b.at <= p_at;
  PERFORM FROM batch b
    WHERE b.log_id = p_log AND b.at >= v_from AND b.at < p_at + p_bytes OFFSET ${joinedAfter};
  IF NOT FOUND THEN
    RETURN QUERY SELECT b.at, b.mark, ends, b.body, b.raw FROM batch b
      WHERE b.log_id = p_log AND b.at >= v_from AND b.at < p_at + p_bytes AND b.until > p_at
      ORDER BY b.at;
    RETURN;
  END IF;
  RETURN QUERY
    SELECT min(j.at), (max(ARRAY[j.at, j.mark]))[2], ends, string_agg(j.body, '' ORDER BY j.at),
      (array_agg(j.raw))[1]
    FROM (
      -- The texts between two that are raw have one number.
      SELECT b.at, b.mark, b.body, b.raw,
        2 * count(b.raw) OVER (ORDER BY b.at) - (b.raw IS NOT NULL)::int AS part
      FROM batch b
      WHERE b.log_id = p_log AND b.at >= v_from AND b.at < p_at + p_bytes AND b.until > p_at) j
    GROUP BY j.part ORDER BY j.part;
END
$$;

CREATE FUNCTION ${name}.read_index(p_log bigint, p_key bigint, p_from int, p_limit int)
RETURNS SETOF text LANGUAGE sql STABLE ${definer} AS $$
  SELECT p.packed FROM index_piece p JOIN log l ON l.id = p.log_id
  WHERE p.log_id = p_log AND p.key = p_key AND p.number >= p_from AND p.number < p_from + p_limit
    AND l.tenant = own_tenant() ORDER BY p.number
$$;

-- It counts once publish_index is called with this key, which is random.
CREATE FUNCTION ${name}.add_index_piece(p_log bigint, p_key bigint, p_number int, p_packed text)
RETURNS void LANGUAGE plpgsql ${definer} AS $$
BEGIN
  INSERT INTO index_piece
    SELECT l.id, p_key, p_number, p_packed FROM log l
    WHERE l.id = p_log AND l.tenant = own_tenant();
END
$$;

-- False: one that covers more was saved, or the log was set back, or another call removed a piece.
CREATE FUNCTION ${name}.publish_index(
  p_log bigint, p_key bigint, p_count int, p_until bigint, p_mark bigint)
RETURNS boolean LANGUAGE plpgsql ${definer} AS $$
BEGIN
  PERFORM FROM log l WHERE l.id = p_log AND l.tenant = own_tenant() AND l.until >= p_until;
  IF NOT FOUND THEN RETURN false; END IF;
  -- Of several at once, the later ones see what this one did.
  PERFORM pg_catalog.pg_advisory_xact_lock(${indexLockKey}, pg_catalog.hashint8(p_log));
  IF ends_so(p_log, p_until, p_mark)
    AND p_count = (SELECT count(*) FROM index_piece p WHERE p.log_id = p_log AND p.key = p_key)
    AND NOT EXISTS (SELECT FROM saved_index i WHERE i.log_id = p_log AND i.until > p_until)
  THEN
    INSERT INTO saved_index VALUES (p_log, p_until, p_mark, p_key)
      ON CONFLICT (log_id) DO UPDATE SET until = p_until, mark = p_mark, key = p_key;
    DELETE FROM index_piece p WHERE p.log_id = p_log AND p.key <> p_key;
    RETURN true;
  END IF;
  DELETE FROM index_piece p WHERE p.log_id = p_log AND p.key = p_key;
  RETURN false;
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

-- By name, in the order of their bytes, behind p_after; or by the last change, the latest first,
-- before p_before and, of those that changed then, behind p_after.
CREATE FUNCTION ${name}.list_logs(
  p_after text, p_before timestamptz, p_is_latest boolean, p_limit int,
  OUT name text, OUT bytes bigint, OUT created_at timestamptz, OUT changed_at timestamptz,
  OUT changed text, OUT expires_at timestamptz, OUT head text)
RETURNS SETOF record LANGUAGE plpgsql STABLE ${definer} AS $$
DECLARE
  v_tenant text := own_tenant();
BEGIN
  IF p_is_latest THEN
    RETURN QUERY SELECT l.name, l.until, l.created_at, l.changed_at, l.changed_at::text,
        l.expires_at, (SELECT left(b.body, 16384) FROM batch b WHERE b.log_id = l.id AND b.at = 0)
      FROM log l WHERE l.tenant = v_tenant AND (p_before IS NULL OR l.changed_at < p_before
        OR l.changed_at = p_before AND l.name > p_after)
      ORDER BY l.changed_at DESC, l.name LIMIT p_limit;
  ELSE
    RETURN QUERY SELECT l.name, l.until, l.created_at, l.changed_at, l.changed_at::text,
        l.expires_at, (SELECT left(b.body, 16384) FROM batch b WHERE b.log_id = l.id AND b.at = 0)
      FROM log l WHERE l.tenant = v_tenant AND l.name > p_after ORDER BY l.name LIMIT p_limit;
  END IF;
END
$$;

-- Of the next logs by name, those in which any of the texts occurs, whatever its case; null: all.
-- The last row has the last name that was searched, and no hit.
CREATE FUNCTION ${name}.search_logs(
  p_texts text[], p_after text, p_limit int, OUT name text, OUT is_hit boolean)
RETURNS SETOF record LANGUAGE plpgsql STABLE ${definer} AS $$
DECLARE
  v_tenant text := own_tenant();
  v_last text;
BEGIN
  SELECT max(n.name) INTO v_last FROM (
    SELECT l.name FROM log l WHERE l.tenant = v_tenant AND l.name > p_after
    ORDER BY l.name LIMIT p_limit) n;
  RETURN QUERY SELECT l.name, true FROM log l
    WHERE l.tenant = v_tenant AND l.name > p_after AND l.name <= v_last
      AND (p_texts IS NULL OR EXISTS (
        -- The texts are ASCII. Without OFFSET, the body would be made lower for each of them.
        SELECT FROM batch b, LATERAL (SELECT lower(b.body COLLATE "C") AS low OFFSET 0) c
        WHERE b.log_id = l.id AND (b.body IS NULL OR EXISTS (
          SELECT FROM unnest(p_texts) t WHERE position(lower(t COLLATE "C") IN c.low) > 0))))
    ORDER BY l.name;
  IF v_last IS NOT NULL THEN RETURN QUERY SELECT v_last, false; END IF;
END
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

-- What a member may call. For the functions below.
CREATE FUNCTION ${name}.grant_functions(p_role regrole, p_access text) RETURNS void
LANGUAGE plpgsql SET search_path = ${name}, pg_temp AS $$
DECLARE
  v_function regprocedure;
  v_names text[] := ARRAY[${names(readingFunctions)}];
BEGIN
  IF p_access = 'write' THEN v_names := v_names || ARRAY[${names(writingFunctions)}]; END IF;
  EXECUTE format('GRANT USAGE ON SCHEMA %s TO %s', ${literal(name)}, p_role);
  FOR v_function IN SELECT p.oid FROM pg_catalog.pg_proc p
    WHERE p.pronamespace = ${literal(name)}::regnamespace AND p.proname = ANY (v_names)
  LOOP
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %s', v_function, p_role);
  END LOOP;
END
$$;

-- For the owner: access is 'read' or 'write'.
CREATE FUNCTION ${name}.grant_access(p_role name, p_access text, p_tenant text) RETURNS void
LANGUAGE plpgsql SET search_path = ${name}, pg_temp AS $$
DECLARE
  v_role regrole := quote_ident(p_role)::regrole;
BEGIN
  IF p_access NOT IN ('read', 'write') THEN
    RAISE EXCEPTION 'access is read or write, not %', p_access;
  END IF;
  IF coalesce(p_tenant, '') = '' THEN
    RAISE EXCEPTION 'the tenant needs a name; only the owner of the schema has none';
  END IF;
  IF v_role = (
    SELECT n.nspowner FROM pg_catalog.pg_namespace n WHERE n.oid = ${literal(name)}::regnamespace)
  THEN
    RAISE EXCEPTION 'the owner of the schema has access already, to the sessions without a tenant';
  END IF;
  PERFORM revoke_access(p_role);
  INSERT INTO member VALUES (v_role, p_tenant, p_access);
  PERFORM grant_functions(v_role, p_access);
END
$$;

-- Members that were dropped go, too.
CREATE FUNCTION ${name}.revoke_access(p_role name) RETURNS void
LANGUAGE plpgsql SET search_path = ${name}, pg_temp AS $$
BEGIN
  DELETE FROM member m WHERE m.role = quote_ident(p_role)::regrole
    OR NOT EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.oid = m.role);
  EXECUTE format('REVOKE ALL ON ALL FUNCTIONS IN SCHEMA %s FROM %I', ${literal(name)}, p_role);
  EXECUTE format('REVOKE ALL ON SCHEMA %s FROM %I', ${literal(name)}, p_role);
END
$$;

${forOwnFunctions(name, "REVOKE ALL ON FUNCTION %s FROM PUBLIC")}
GRANT EXECUTE ON FUNCTION ${name}.${versionFunction}() TO PUBLIC;
DELETE FROM ${name}.member m
  WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.oid = m.role);
SELECT ${name}.grant_functions(m.role, m.access) FROM ${name}.member m;
`;
}

/** A statement for each function of ours that the schema has. */
function forOwnFunctions(name: string, statement: string): string {
  return `
DO $do$
DECLARE
  v_function regprocedure;
BEGIN
  FOR v_function IN SELECT p.oid FROM pg_catalog.pg_proc p
    WHERE p.pronamespace = ${literal(name)}::regnamespace
      AND p.proname IN (${names(ownFunctions)})
  LOOP
    EXECUTE format(${literal(statement)}, v_function);
  END LOOP;
END
$do$;`;
}

function names(functions: readonly string[]): string {
  return functions.map(literal).join(", ");
}
