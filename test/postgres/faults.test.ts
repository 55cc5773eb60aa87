/** A server that crashes, and standbys that take its place: what was acknowledged is there. */
import { afterEach, describe, expect, it } from "vitest";
import { createSession, isBranchlogError, openSession } from "@branchlog/core";
import type { Session } from "@branchlog/core";
import { live } from "@branchlog/core/live";
import { userDraft } from "@branchlog/core/testing";
import { postgresStore } from "@branchlog/postgres";
import type { PostgresStore } from "@branchlog/postgres";
import { filter, firstValueFrom } from "rxjs";
import { DatabaseServer, hasPostgres } from "./database-server.ts";
import { Forwarder } from "./forwarder.ts";

const servers: DatabaseServer[] = [];

async function start(
  options?: Parameters<typeof DatabaseServer.start>[0],
): Promise<DatabaseServer> {
  const server = await DatabaseServer.start(options);
  servers.push(server);
  return server;
}

async function idsIn(store: PostgresStore, id: string): Promise<string[]> {
  const session = await openSession({ store, id });
  expect(session.diagnostics).toEqual([]);
  const ids: string[] = [];
  for await (const entry of session.entries()) ids.push(entry.id);
  return ids;
}

/** Until `isOver`, one after another, again with the same id while the outcome is not known. */
async function appendUntil(
  session: Session,
  writer: number,
  isOver: () => boolean,
): Promise<string[]> {
  const acknowledged: string[] = [];
  for (let n = 0; !isOver(); n += 1) {
    const id = `w${writer}-${n}`;
    for (;;) {
      try {
        await session.append(userDraft(id), { id, parent: "tail" });
        acknowledged.push(id);
        break;
      } catch (error) {
        if (!isBranchlogError(error)) throw error;
      }
    }
  }
  return acknowledged;
}

describe.skipIf(!hasPostgres())("sessions of a server", () => {
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.remove()));
  });

  it("that crashes while eight writers append have all that was acknowledged, once", async () => {
    const server = await start();
    const store = await server.store({ answerWaitMs: 5_000 });
    const { header } = await createSession({ store, cwd: "/w" });
    const { id } = header;
    let crashes = 0;
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      const session = await openSession({ store, id });
      return appendUntil(session, writer, () => crashes === 2);
    });
    const watcher = await openSession({ store, id });
    for (; crashes < 2; crashes += 1) {
      const before = watcher.revision;
      while (watcher.revision < before + 40) await watcher.refresh();
      await server.stop("immediate");
      await server.restart();
    }
    const acknowledged = (await Promise.all(writers)).flat();
    const stored = await idsIn(store, id);
    expect(new Set(stored).size).toBe(stored.length);
    expect(acknowledged.length).toBeGreaterThan(80);
    expect(stored.toSorted()).toEqual(acknowledged.toSorted());
  });

  it("that crashes are live again for subscribers once it is back", async () => {
    const server = await start();
    const store = await server.store({ answerWaitMs: 2_000, pollMs: 50 });
    const { header } = await createSession({ store, cwd: "/w" });
    const session = await openSession({ store, id: header.id, pollMs: 50 });
    const views = live(session);
    const kinds: string[] = [];
    const reached = (kind: string): Promise<unknown> =>
      firstValueFrom(views.status$.pipe(filter(({ value }) => value.kind === kind)));
    const subscription = views.status$.subscribe(({ value }) => kinds.push(value.kind));
    await reached("live");
    await server.stop("immediate");
    await reached("stalled");
    await server.restart();
    // Nothing was appended meanwhile.
    await reached("live");
    subscription.unsubscribe();
    expect(kinds.slice(-2)).toEqual(["stalled", "live"]);
  });

  it("that a synchronous standby replaces have all that was acknowledged", async () => {
    const primary = await start({ settings: ["max_wal_senders = 4"] });
    const schema = primary.newSchema();
    await primary.open({ schema }).migrate();
    const standby = await primary.standby();
    servers.push(standby);
    await primary.reload(["synchronous_standby_names = '*'"]);
    const store = primary.open({ schema });
    const session = await createSession({ store, cwd: "/w" });
    const acknowledged: string[] = [];
    for (let n = 0; n < 50; n += 1) acknowledged.push((await session.append(userDraft(`${n}`))).id);
    await primary.stop("immediate");
    await standby.promote();
    expect(await idsIn(standby.open({ schema }), session.header.id)).toEqual(acknowledged);
  });

  it("that an asynchronous standby replaces report what is lost, and go on", async () => {
    const primary = await start({ settings: ["max_wal_senders = 4"] });
    const schema = primary.newSchema();
    await primary.open({ schema }).migrate();
    const { id } = await createSession({
      store: primary.open({ schema }),
      id: "s",
      cwd: "/w",
    }).then(({ header }) => header);
    const standby = await primary.standby();
    servers.push(standby);
    const address = new Forwarder(primary.port);
    const port = await address.start();
    const url = primary.url(schema).replace(`:${primary.port}/`, `:${port}/`);
    const store = postgresStore(url, { answerWaitMs: 5_000 });
    const [writer, other] = [await openSession({ store, id }), await openSession({ store, id })];
    const kept = await writer.append(userDraft("kept"));
    const stored = `SELECT ends FROM "${schema}".log_end('${id}')`;
    await standby.until(stored, ({ ends }) => Number(ends) === writer.sizeBytes);
    await standby.reload(["primary_conninfo = ''"]);
    await standby.until("SELECT count(*) FROM pg_stat_wal_receiver", ({ count }) => count === "0");
    const lost = [await writer.append(userDraft("lost")), await writer.append(userDraft("gone"))];
    await other.refresh();
    await primary.stop("immediate");
    await standby.promote();
    address.target = standby.port;
    // Others went on there first: as many bytes as were lost, and more.
    const there = await openSession({ store: standby.open({ schema }), id });
    for (let n = 0; n < 3; n += 1) await there.append(userDraft(`after ${n}`));
    const next = await writer.append(userDraft("next"), { parent: "tail" });
    expect(next.parentId).toBe(there.leaf);
    const reported = writer.diagnostics.filter(({ kind }) => kind === "lost-entries");
    expect(reported.map((one) => one.id)).toEqual(lost.map((one) => one.id));
    await other.refresh();
    expect(other.tail).toBe(next.id);
    const all = await idsIn(standby.open({ schema }), id);
    expect(all).toHaveLength(5);
    expect([all[0], all[4]]).toEqual([kept.id, next.id]);
    await store.close();
    address.close();
  });
});
