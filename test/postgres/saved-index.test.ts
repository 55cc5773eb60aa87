/**
 * The index that a session saves next to a long log: whoever opens the log then reads neither its
 * lines nor, whatever became of the index, anything that is not in the log.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { forkSession, openSession } from "@branchlog/core";
import type { Session } from "@branchlog/core";
import { Engine } from "@branchlog/core/engine";
import { jsonLines, sampleHeader, userDraft } from "@branchlog/core/testing";
import { SessionManager } from "@branchlog/agents/pi";
import "@branchlog/postgres/blocking";
import { postgresStore } from "@branchlog/postgres";
import type { PostgresStore } from "@branchlog/postgres";
import { verifySession } from "@branchlog/tools";
import pg from "pg";
import { idsOf } from "../support/collected.ts";
import { rejection } from "../support/typed-errors.ts";
import { DatabaseServer, hasPostgres } from "./database-server.ts";
import { Forwarder } from "./forwarder.ts";

const entryCount = 9_000;

/** Nine megabytes: a path of messages, of which some are labeled, and which change their model. */
function longLog(): Buffer {
  const time = (n: number): string => new Date(1_700_000_000_000 + n * 1_000).toISOString();
  const entries = Array.from({ length: entryCount }, (_, n) => {
    const common = { id: `e${n}`, parentId: n === 0 ? null : `e${n - 1}`, timestamp: time(n) };
    if (n === 40) return { type: "label", ...common, targetId: "e7", label: "seven" };
    if (n === 41) return { type: "model_change", ...common, provider: "p", modelId: "m" };
    if (n === 42) return { type: "session_info", ...common, name: "a long one" };
    const content = `${n} ${"x".repeat(930)}`;
    return { type: "message", ...common, message: { role: "user", content, timestamp: n } };
  });
  return Buffer.from(jsonLines(sampleHeader(), ...entries));
}

/** All that a session says of its entries, also after one more. */
async function answers(session: Session): Promise<unknown> {
  const context = await session.context({ at: "e200" });
  const appended = await session.append(userDraft("one more"), { id: "more" });
  return {
    header: session.header,
    ids: await idsOf(session.entries()),
    context,
    all: (await session.context()).messages.length,
    settings: session.settings,
    first: await session.entry("e0"),
    labels: session.labels,
    name: session.name,
    usage: await session.usage,
    leaf: session.leaf,
    appended: appended.parentId,
    diagnostics: session.diagnostics,
  };
}

describe.skipIf(!hasPostgres())("a long session in PostgreSQL", () => {
  let server: DatabaseServer;

  beforeAll(async () => {
    server = await DatabaseServer.start();
  });
  afterAll(() => server.remove());

  /** A long log with a saved index, in a separate store. */
  async function indexed(): Promise<{ store: PostgresStore; schema: string }> {
    const schema = server.newSchema();
    const store = await server.store({ schema });
    await store.create("long", [longLog()]);
    await (await openSession({ store, id: "long" })).close();
    return { store, schema };
  }

  async function run(schema: string, statement: string): Promise<object[]> {
    return server.query(`SET search_path = "${schema}"; ${statement}`);
  }

  const savedIn = (schema: string) =>
    server.query<{ until: string; count: string }>(
      `SELECT until, (SELECT count(*) FROM "${schema}".index_piece) FROM "${schema}".saved_index`,
    );

  it("is opened without its lines, with the same contents", async () => {
    const { store, schema } = await indexed();
    const whole = await server.store();
    await whole.create("long", [longLog()]);
    const wanted = await answers(await openSession({ store: whole, id: "long" }));
    const forwarder = new Forwarder(server.port);
    let bytes = 0;
    forwarder.onAnswer = ({ length }) => {
      bytes += length;
    };
    const port = await forwarder.start();
    const url = server.url(schema).replace(`:${server.port}/`, `:${port}/`);
    const far = postgresStore(url);
    const session = await openSession({ store: far, id: "long" });
    expect(session.revision).toBe(entryCount);
    await session.context({ at: "e100" });
    expect(bytes).toBeLessThan(700_000);
    expect(await answers(session)).toEqual(wanted);
    await session.close();
    await far.close();
    forwarder.close();
    // What was saved then also has the usage.
    expect(await savedIn(schema)).toHaveLength(1);
    await expect(verifySession(await openSession({ store, id: "long" }))).resolves.toMatchObject({
      findings: [],
    });
    const fork = await forkSession({ store, id: "long" }, { at: "e5" });
    expect(fork.entries).toBe(6);
  });

  it.each([
    ["is deleted", "DELETE FROM saved_index"],
    ["lacks its pieces", "DELETE FROM index_piece"],
    ["lacks a piece", "DELETE FROM index_piece WHERE number = 1"],
    ["is cut", "UPDATE index_piece SET packed = left(packed, length(packed) / 2)"],
    ["is not an index", "UPDATE index_piece SET packed = 'what is this'"],
    [
      "has other bytes",
      "UPDATE index_piece SET packed = overlay(packed placing 'AAAA' from 4000) WHERE number = 0",
    ],
    ["is of another place", "UPDATE saved_index SET until = until - 1"],
    ["is of another log", "UPDATE saved_index SET mark = mark + 1"],
    [
      "claims to end with another batch",
      `UPDATE saved_index i SET until = b.until, mark = b.mark
       FROM (SELECT * FROM batch ORDER BY at OFFSET 3 LIMIT 1) b`,
    ],
  ])("has the same contents if its index %s", async (_, statement) => {
    const { store, schema } = await indexed();
    const [{ store: other }] = [await indexed()];
    const wanted = await answers(await openSession({ store: other, id: "long" }));
    await run(schema, statement);
    expect(await answers(await openSession({ store, id: "long" }))).toEqual(wanted);
  });

  it("has its index replaced once it has grown, and pieces of others removed", async () => {
    const { store, schema } = await indexed();
    const [before] = await savedIn(schema);
    const session = await openSession({ store, id: "long" });
    await run(schema, "INSERT INTO index_piece SELECT id, 1, 0, 'left behind' FROM log");
    for (let n = 0; n < 9; n += 1) await session.append(userDraft("y".repeat(1024 * 1024)));
    await session.close();
    const [after] = await savedIn(schema);
    expect(Number(after?.until)).toBeGreaterThan(Number(before?.until));
    expect(Number(after?.count)).toBeLessThan(Number(before?.count) + 3);
    const again = await openSession({ store, id: "long" });
    expect(again.revision).toBe(entryCount + 9);
    expect((await again.context()).messages).toHaveLength(entryCount - 3 + 9);
  });

  it("has the index that covers more if several are saved", async () => {
    const { store, schema } = await indexed();
    const [before] = await savedIn(schema);
    const log = await store.open("long");
    log.takeOpened?.();
    const position = await log.index?.position();
    if (position === undefined) throw new Error("the store has an index");
    const pieces = [Buffer.from("other")];
    expect(await log.index?.save({ ...position, at: position.at - 5 }, pieces)).toBe(false);
    expect(await log.index?.save({ ...position, mark: "5" }, pieces)).toBe(false);
    expect(await savedIn(schema)).toEqual([before]);
  });

  it("is never read through an index from before it was rolled back", async () => {
    const { store, schema } = await indexed();
    const open = await openSession({ store, id: "long" });
    const opened = await openSession({ store, id: "long", access: "read" });
    const [kept] = await server.query<{ until: string }>(
      `SELECT until FROM "${schema}".batch ORDER BY at OFFSET 30 LIMIT 1`,
    );
    // As a failover does, and others then go on.
    await run(
      schema,
      `DELETE FROM batch WHERE at >= ${kept?.until};
       UPDATE log SET until = b.until, mark = b.mark
       FROM (SELECT * FROM batch ORDER BY at DESC LIMIT 1) b`,
    );
    const next = await openSession({ store, id: "long" });
    const { revision } = next;
    expect(revision).toBeLessThan(entryCount);
    for (let n = 0; n < 6; n += 1) await next.append(userDraft("z".repeat(1024 * 1024)));
    await next.append(userDraft("last"), { id: "last" });
    expect(await rejection(open.context({ at: "e2000" }))).toMatchObject({ code: "ERR_LOG_GONE" });
    for (const session of [open, opened]) {
      await session.refresh();
      expect(session.revision).toBe(revision + 7);
      expect((await session.entry("last"))?.id).toBe("last");
      expect((await session.context({ at: "e2000" })).messages).toHaveLength(2001 - 3);
    }
    const again = await openSession({ store, id: "long" });
    expect(await idsOf(again.entries())).toEqual(await idsOf(open.entries()));
  });

  it("is read again after a rollback when the connection was lost during the read", async () => {
    const { store, schema } = await indexed();
    const forwarder = new Forwarder(server.port);
    const port = await forwarder.start();
    const url = server.url(schema).replace(`:${server.port}/`, `:${port}/`);
    const far = postgresStore(url);
    const session = await openSession({ store: far, id: "long" });
    await run(
      schema,
      `DELETE FROM batch WHERE at >= (SELECT at FROM batch ORDER BY at OFFSET 30 LIMIT 1);
       UPDATE log SET until = b.until, mark = b.mark
       FROM (SELECT * FROM batch ORDER BY at DESC LIMIT 1) b`,
    );
    const next = await openSession({ store, id: "long" });
    for (let n = 0; n < 7; n += 1) await next.append(userDraft("z".repeat(1024 * 1024)));
    let bytesLeft = 6 * 1024 * 1024;
    forwarder.onAnswer = ({ length }) => {
      bytesLeft -= length;
      if (bytesLeft < 0) forwarder.cut();
    };
    expect(await rejection(session.refresh())).toMatchObject({ code: "ERR_STORE_UNAVAILABLE" });
    forwarder.onAnswer = () => undefined;
    const { parentId } = await session.append(userDraft("mine"), { id: "mine" });
    expect(parentId).toBe(next.tail);
    const again = await openSession({ store, id: "long" });
    expect([session.revision, again.diagnostics]).toEqual([again.revision, []]);
    expect(await idsOf(session.entries())).toEqual(await idsOf(again.entries()));
    await session.close();
    await far.close();
    forwarder.close();
  });

  it("answers managers and getters that block, also with a pool of the program", async () => {
    const { schema } = await indexed();
    const manager = SessionManager.open(`${server.url(schema)}#long`);
    expect(manager.getEntry("e3")).toMatchObject({ id: "e3", parentId: "e2" });
    expect(manager.getEntries()).toHaveLength(entryCount);
    const { hostname: host, port, username: user, password } = new URL(server.url());
    const login = { host, port: Number(port), user, password: decodeURIComponent(password) };
    const pool = new pg.Pool({ ...login, database: "postgres" });
    const store = postgresStore(pool, { schema });
    const engine = await Engine.openStored(await store.open("long"));
    expect(engine.entrySync("e3")).toMatchObject({ id: "e3", parentId: "e2" });
    expect(engine.context("e60").model).toEqual({ provider: "p", modelId: "m" });
    await store.close();
    await pool.end();
  });

  it("is read completely when no other thread can connect", async () => {
    const { schema } = await indexed();
    const { hostname: host, port, username: user, password } = new URL(server.url());
    const secret = (): string => decodeURIComponent(password);
    const pool = new pg.Pool({
      host,
      port: Number(port),
      user,
      password: secret,
      database: "postgres",
    });
    const store = postgresStore(pool, { schema });
    const log = await store.open("long");
    expect(log.index).toBeUndefined();
    const engine = await Engine.openStored(log);
    expect(engine.entrySync("e3")).toMatchObject({ id: "e3", parentId: "e2" });
    await store.close();
    await pool.end();
  });
});
