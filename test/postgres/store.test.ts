/** A store in PostgreSQL: the contract of all stores, and the additions of this one. */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSession, forkSession, openOrCreateSession, openSession } from "@branchlog/core";
import { findSessions, searchSessions } from "@branchlog/library";
import type { BranchlogError } from "@branchlog/core";
import { live } from "@branchlog/core/live";
import { jsonLines, logStoreContract, sampleHeader, userDraft } from "@branchlog/core/testing";
import { verifySession } from "@branchlog/tools";
import { postgresStore } from "@branchlog/postgres";
import type { PostgresStore } from "@branchlog/postgres";
import type { ListingStore, StoredAppend } from "@branchlog/core/types";
import pg from "pg";
import { firstValueFrom, filter } from "rxjs";
import { branchlog, jsonLines as cliJsonLines } from "../cli/command-run.ts";
import { collected, idsOf } from "../support/collected.ts";
import { rejection, typedError } from "../support/typed-errors.ts";
import { testServer } from "../web/served.ts";
import { DatabaseServer, hasPostgres, owner } from "./database-server.ts";

const header = Buffer.from(jsonLines(sampleHeader()));

async function bytesOf(store: PostgresStore, name: string): Promise<Buffer> {
  const log = await store.open(name);
  const end = required(await log.end());
  return Buffer.concat(await collected(log.read({ ...end, at: 0 })));
}

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("it is missing");
  return value;
}

describe.skipIf(!hasPostgres())("a store in PostgreSQL", () => {
  let server: DatabaseServer;

  beforeAll(async () => {
    server = await DatabaseServer.start();
  });
  afterAll(() => server.remove());

  it.each(logStoreContract(() => server.store({ pollMs: 200 })))("$title", ({ run }) => run());

  it("opens the session with a name, or creates it, in any order of callers", async () => {
    const store = await server.store();
    await expect(openOrCreateSession({ store, id: "s", access: "read" })).rejects.toMatchObject({
      code: "ERR_LOG_MISSING",
    });
    const sessions = await Promise.all(
      [1, 2, 3].map(() => openOrCreateSession({ store, id: "s", cwd: "/work" })),
    );
    const ids = await Promise.all(
      sessions.map(async (session) => (await session.append(userDraft("hello"))).id),
    );
    const again = await openOrCreateSession({ store, id: "s", cwd: "/elsewhere" });
    expect(again.header).toMatchObject({ id: "s", cwd: "/work" });
    const stored = await idsOf(again.entries());
    expect(stored.toSorted()).toEqual(ids.toSorted());
  });

  it("returns any number of small batches, including non-text ones, and any rest", async () => {
    const store = await server.store();
    const writer = await store.create("small", [header]);
    let end = required(await writer.end());
    const lines = [header];
    for (let at = 0; at < 300; at += 1) {
      const isText = at % 70 !== 69 && at !== 150 && at !== 151;
      const line = Buffer.from(`{"type":"custom","id":"${at}","text":"ü${isText ? "" : "\0"}"}\n`);
      const answer = await writer.append(end, line);
      if (answer.kind !== "appended") throw new Error(answer.kind);
      end = answer.end;
      lines.push(line);
    }
    const whole = Buffer.concat(lines);
    expect((await bytesOf(store, "small")).equals(whole)).toBe(true);
    for (const from of [header.length, header.length + 3, 1_000, 5_000, end.at - 1]) {
      const reader = await store.open("small");
      const rest = await collected(reader.read({ ...end, at: from }));
      expect(Buffer.concat(rest).equals(whole.subarray(from))).toBe(true);
    }
    // What was read last is known to be of this log: an append after it is stored.
    const reader = await store.open("small");
    await collected(reader.read({ ...end, at: 0 }));
    expect(await reader.append(end, header)).toMatchObject({ kind: "appended" });
  });

  it("stores lines unchanged, also under a lease", async () => {
    const store = await server.store();
    const log = await store.create("words", [header]);
    const line = Buffer.from(
      `{"type":"custom","id":"a","data":"SCHEMA $1 'it''s' \\\\ \\u0027 $$ ; -- SELECT SCHEMA.append"}\n`,
    );
    const held = required(await log.lease?.(required(await log.end())));
    expect(await held.append(line)).toMatchObject({ kind: "appended" });
    held.release();
    const end = required(await log.end());
    expect(end.at).toBe(header.length + line.length);
    await log.append(end, line);
    expect(await bytesOf(store, "words")).toEqual(Buffer.concat([header, line, line]));
  });

  it("lets the appends of others wait while a writer has a lease of the log", async () => {
    const store = await server.store();
    const [one, other] = [await store.create("held", [header]), await store.open("held")];
    const start = { ...required(await one.end()) };
    const line = (text: string): Buffer => Buffer.from(`{"type":"custom","id":"${text}"}\n`);
    await other.append(start, line("before"));
    const held = required(await one.lease?.(start));
    expect(held.since.equals(line("before"))).toBe(true);
    let isOver = false;
    const end = { ...start, at: start.at + line("before").length };
    const waits = async (): Promise<StoredAppend> => {
      const answer = await other.append(end, line("waits"));
      expect(isOver).toBe(true);
      return answer;
    };
    const waiting = waits();
    isOver = true;
    expect(await held.append(line("held"))).toMatchObject({ kind: "appended" });
    held.release();
    expect(await waiting).toMatchObject({ kind: "conflict", since: line("held") });
    const again = required(await other.lease?.(required(await other.end())));
    expect(again.since).toHaveLength(0);
    again.release();
    expect((await bytesOf(store, "held")).toString()).toContain("held");
    await store.remove("held");
    expect(await one.lease?.(start)).toBeUndefined();
  });

  it("keeps pieces of any length, split anywhere, unchanged", async () => {
    const store = await server.store();
    const lines = Buffer.from(
      `${jsonLines(sampleHeader())}${"x\u00e4\u{1f600}\n".repeat(400_000)}`,
    );
    const whole = Buffer.concat([lines, randomBytes(2_500_000), Buffer.from("no newline")]);
    const pieces = function* (): Generator<Buffer> {
      for (let at = 0; at < whole.length; at += 65_537) yield whole.subarray(at, at + 65_537);
    };
    await store.create("big", pieces());
    expect((await bytesOf(store, "big")).equals(whole)).toBe(true);
    // Text where it is one, so that it can be searched.
    const [row] = await server.query<{ texts: string; all: string }>(
      `SELECT count(body) AS texts, count(*) AS all FROM "${schemaOf(store)}".batch`,
    );
    expect(Number(row?.texts)).toBeGreaterThanOrEqual(3);
    expect(Number(row?.all)).toBeGreaterThan(Number(row?.texts));
  });

  it("holds sessions that are created, continued, forked and verified", async () => {
    const store = await server.store();
    const session = await createSession({ store, cwd: "/w" });
    const { id } = session.header;
    const first = await session.append(userDraft("one"));
    await session.append(userDraft("two"));
    const again = await openSession({ store, id });
    expect(again.path).toBe(`${store.address}#${id}`);
    expect(again.path).not.toContain("secret");
    expect((await again.context()).messages).toHaveLength(2);
    const fork = await forkSession({ store, id }, { at: first.id });
    expect(fork).toMatchObject({
      source: again.path,
      path: `${store.address}#${fork.id}`,
      entries: 1,
    });
    const forked = await openSession({ store, id: fork.id });
    expect((await forked.context()).messages).toHaveLength(1);
    await expect(verifySession(again)).resolves.toMatchObject({ findings: [] });
  });

  it("notifies subscribers of appends of others, by a notification, and by polling alone", async () => {
    const schema = server.newSchema();
    await server.open({ schema }).migrate();
    const writer = await createSession({ store: server.open({ schema }), cwd: "/w" });
    for (const options of [{ pollMs: 600_000 }, { pollMs: 50, listen: false }]) {
      const store = server.open({ schema, ...options });
      const reader = await openSession({ store, id: writer.header.id });
      const views = live(reader);
      const before = writer.leaf;
      const told = firstValueFrom(
        views.leaf$.pipe(filter(({ value }) => value !== null && value !== before)),
      );
      await firstValueFrom(views.status$.pipe(filter(({ value }) => value.kind === "live")));
      const { id } = await writer.append(userDraft("news"));
      expect((await told).value).toBe(id);
      expect(reader.leaf).toBe(writer.leaf);
      await store.close();
    }
  });

  it("uses a pool of the program, listens with its password, and leaves it open", async () => {
    const schema = server.newSchema();
    await server.open({ schema }).migrate();
    const { hostname: host, port, username: user, password } = new URL(server.url());
    const login = { host, port: Number(port), user, password: decodeURIComponent(password) };
    const pool = new pg.Pool({ ...login, database: "postgres" });
    const store = postgresStore(pool, { schema, pollMs: 600_000 });
    const writer = await createSession({ store, cwd: "/w" });
    const reader = await openSession({ store, id: writer.header.id });
    const listening = server.until(
      "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'",
      ({ count }) => Number(count) > 0,
    );
    const told = firstValueFrom(live(reader).leaf$.pipe(filter(({ value }) => value !== null)));
    await listening;
    const { id } = await writer.append(userDraft("news"));
    expect((await told).value).toBe(id);
    expect(store.address).not.toContain("secret");
    await store.close();
    expect((await pool.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
    await pool.end();
  });

  it("lists its sessions, searches them, and removes expired ones", async () => {
    const store = await server.store();
    const one = await createSession({ store, cwd: "/one" });
    await one.append(userDraft('A needle in "quotes"'));
    const other = await createSession({ store, cwd: "/other" });
    await other.append(userDraft("hay"));
    await store.create("debris", [Buffer.from("needle\n")]);
    const listed = await collected(store.list());
    const facts = listed.map(({ name, cwd }) => `${name} in ${cwd}`);
    expect(facts.toSorted()).toEqual(
      [
        `${one.header.id} in /one`,
        `${other.header.id} in /other`,
        "debris in undefined",
      ].toSorted(),
    );
    for (const query of ["NEEDLE", 'in "quotes"', "needle"]) {
      const hits = await collected(searchSessions({ store }, query));
      expect(hits.map(({ path }) => path)).toEqual([one.path]);
    }
    expect(await collected(searchSessions({ store }, "nothing of that kind"))).toEqual([]);
    const id = one.header.id;
    expect(await collected(searchSessions({ store, id }, "needle"))).toHaveLength(1);
    expect(await collected(searchSessions({ store, id: other.header.id }, "needle"))).toEqual([]);
    // A store that cannot say where a text may be.
    const plain: ListingStore = {
      open: (name, signal) => store.open(name, signal),
      create: (name, bytes) => store.create(name, bytes),
      names: (signal) => store.names(signal),
      remove: (name) => store.remove(name),
      list: (signal) => store.list(signal),
    };
    expect(await collected(searchSessions({ store: plain }, "needle"))).toHaveLength(1);
    const page = await testServer({ store });
    const { text } = await page.ask("/api/search?q=needle", { headers: { cookie: page.cookie } });
    expect(cliJsonLines(text).at(-1)).toMatchObject({ hits: 1 });
    await store.setExpiry(other.header.id, new Date(0));
    await expect(store.setExpiry("none", null)).rejects.toMatchObject({ code: "ERR_LOG_MISSING" });
    expect(await store.removeExpired()).toEqual([other.header.id]);
    expect(await collected(store.names())).toHaveLength(2);
  });

  it("gives advice when it cannot be used", async () => {
    const store = await server.store();
    const schema = schemaOf(store);
    const failure = async (url: string): Promise<BranchlogError> =>
      typedError(await rejection(postgresStore(url).open("s")));
    const wrong = await failure(server.url(schema, owner, "guessed"));
    expect(wrong).toMatchObject({ code: "ERR_STORE_DENIED" });
    expect(wrong.message).not.toContain("guessed");
    expect(await failure(server.url("no_store"))).toMatchObject({ code: "ERR_STORE_SCHEMA" });
    const down = await failure("postgres://nobody:guessed@127.0.0.1:1/none");
    expect(down).toMatchObject({ code: "ERR_STORE_UNAVAILABLE" });
    expect(down.message).not.toContain("guessed");
    await server.query(`UPDATE "${schema}".version SET number = 99`);
    expect(await failure(server.url(schema))).toMatchObject({
      code: "ERR_STORE_SCHEMA",
      message: expect.stringContaining("Update Branchlog") as unknown,
    });
    await expect(store.migrate()).rejects.toMatchObject({ code: "ERR_STORE_SCHEMA" });
    expect(() => postgresStore("postgres://u:guessed@[")).toThrow(
      expect.objectContaining({ code: "ERR_INVALID_ARGUMENT" }),
    );
  });

  it("rejects a line that exceeds a row, and stores nothing of it", async () => {
    const store = await server.store();
    const piece = Buffer.alloc(64 * 1024 * 1024, "x");
    await expect(
      store.create("long", [header, piece, piece, piece, piece, piece]),
    ).rejects.toMatchObject({ code: "ERR_ENTRY_TOO_LARGE" });
    expect(await collected(store.names())).toEqual([]);
    const log = await store.create("s", [header]);
    const end = required(await log.end());
    const long = Buffer.alloc(256 * 1024 * 1024 + 1, "x");
    await expect(log.append(end, long)).rejects.toMatchObject({ code: "ERR_ENTRY_TOO_LARGE" });
    expect(await log.end()).toEqual(end);
  });

  it("is listed and searched by pages, and reads only the sessions that are shown", async () => {
    const schema = server.newSchema();
    const store = await server.store({ schema });
    const count = 1_100;
    // Names in another order than their changes.
    const line = (text: string): string => jsonLines(sampleHeader({ id: text }));
    await server.query(
      `WITH made AS (INSERT INTO "${schema}".log (tenant, name, until, mark, changed_at)
         SELECT '', 's' || (n * 7) % ${count}, octet_length($1), 1,
           '2026-01-01'::timestamptz + n / 2 * interval '1 second'
         FROM generate_series(1, ${count}) n RETURNING id)
       INSERT INTO "${schema}".batch SELECT id, 0, octet_length($1), 1, $1, NULL FROM made`,
      [line("s")],
    );
    const needle = await store.open("s999");
    await needle.append(required(await needle.end()), Buffer.from(jsonLines(noteOf("needle"))));
    const listed = await collected(store.latest());
    expect(new Set(listed.map(({ name }) => name)).size).toBe(count);
    const times = listed.map(({ changedAt }) => changedAt.getTime());
    expect(times).toEqual(times.toSorted((one, other) => other - one));
    const opened: string[] = [];
    const counting: ListingStore = {
      open: (name, signal) => {
        opened.push(name);
        return store.open(name, signal);
      },
      create: (...given) => store.create(...given),
      names: (signal) => store.names(signal),
      remove: (name) => store.remove(name),
      list: (signal) => store.list(signal),
      latest: (signal) => store.latest(signal),
    };
    const { sessions } = await findSessions({ store: counting }, { limit: 3 });
    const first = listed.slice(0, 3).map(({ name }) => name);
    expect(sessions.map(({ path }) => path)).toEqual(
      first.map((name) => `${store.address}#${name}`),
    );
    expect([opened, first[0]]).toEqual([first, "s999"]);
    const hits = await collected(searchSessions({ store }, "needle"));
    expect(hits.map(({ path }) => path)).toEqual([`${store.address}#s999`]);
    const url = server.url(schema);
    const shown = cliJsonLines((await branchlog(["list", url, "-n", "60", "--json"])).out);
    expect(shown).toMatchObject(listed.slice(0, 60).map(({ address }) => ({ path: address })));
    expect(cliJsonLines((await branchlog(["list", url, "--json"])).out)).toHaveLength(count);
  });

  it("reports server errors as certain failures: a read-only server, a full disk", async () => {
    const schema = server.newSchema();
    const store = await server.store({ schema });
    const { id } = (await createSession({ store, cwd: "/w" })).header;
    const options = encodeURIComponent("-c default_transaction_read_only=on");
    const standby = postgresStore(`${server.url(schema)}&options=${options}`);
    const reader = await openSession({ store: standby, id });
    await expect(reader.append(userDraft("no"))).rejects.toMatchObject({
      code: "ERR_STORE_REFUSED",
      message: expect.stringContaining("address of the primary") as unknown,
      uncertain: [],
    });
    await expect(createSession({ store: standby, cwd: "/w" })).rejects.toMatchObject({
      code: "ERR_STORE_REFUSED",
    });
    await standby.close();
    const session = await openSession({ store, id });
    await server.query(
      `CREATE FUNCTION "${schema}".disk_is_full() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$;
       CREATE TRIGGER disk_is_full BEFORE INSERT ON "${schema}".batch EXECUTE FUNCTION "${schema}".disk_is_full()`,
    );
    await expect(session.append(userDraft("no"))).rejects.toMatchObject({
      code: "ERR_STORE_REFUSED",
      message: expect.stringMatching(/could not extend file.*53100.*Free space/) as unknown,
      uncertain: [],
    });
    await server.query(`DROP TRIGGER disk_is_full ON "${schema}".batch`);
    await session.append(userDraft("yes"));
    expect(session.revision).toBe(1);
  });

  it("is migrated once when several programs do so at once", async () => {
    const schema = server.newSchema();
    const stores = Array.from({ length: 4 }, () => server.open({ schema }));
    const done = await Promise.all(stores.map((store) => store.migrate()));
    expect(done.map(({ from }) => String(from)).toSorted()).toEqual(["0", "4", "4", "4"]);
  });
});

const noteOf = (data: string): object => ({
  type: "message",
  id: data,
  parentId: null,
  timestamp: "2026-01-01T00:00:00.000Z",
  message: { role: "user", content: data, timestamp: 1 },
});

function schemaOf(store: PostgresStore): string {
  return new URL(store.address).searchParams.get("schema") ?? "";
}
