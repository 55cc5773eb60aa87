/** A server that crashes, and standbys that take its place: what was acknowledged is there. */
import { afterEach, describe, expect, it } from "vitest";
import { createSession, isBranchlogError, openSession } from "@branchlog/core";
import type { Session } from "@branchlog/core";
import { live } from "@branchlog/core/live";
import { SessionManager } from "@branchlog/agents/pi";
import { userDraft } from "@branchlog/core/testing";
import { postgresStore } from "@branchlog/postgres";
import "@branchlog/postgres/blocking";
import type { PostgresStore } from "@branchlog/postgres";
import { filter, firstValueFrom } from "rxjs";
import { branchlog, jsonLines } from "../cli/command-run.ts";
import { idsOf } from "../support/collected.ts";
import { DatabaseServer, hasPostgres } from "./database-server.ts";
import { Forwarder } from "./forwarder.ts";

const servers: DatabaseServer[] = [];

const said = (text: string) => ({ role: "user", content: text, timestamp: 1 }) as const;

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
  return idsOf(session.entries());
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

  it("that crashes while eight writers append have every acknowledged entry once", async () => {
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

  it("that crashes are live again for subscribers after its restart", async () => {
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

  it("replaced by a synchronous standby have every acknowledged entry", async () => {
    const { primary, standby, schema, open } = await replicated("s");
    const session = await open();
    const acknowledged: string[] = [];
    for (let n = 0; n < 50; n += 1) acknowledged.push((await session.append(userDraft(`${n}`))).id);
    await primary.stop("immediate");
    await standby.promote();
    expect(await idsIn(standby.open({ schema }), "s")).toEqual(acknowledged);
  });

  /** A primary with a synchronous standby, and a session in it. */
  async function replicated(id: string): Promise<{
    readonly primary: DatabaseServer;
    readonly standby: DatabaseServer;
    readonly schema: string;
    readonly open: () => Promise<Session>;
  }> {
    const primary = await start({ settings: ["max_wal_senders = 4"] });
    const schema = primary.newSchema();
    await primary.open({ schema }).migrate();
    const standby = await primary.standby();
    servers.push(standby);
    await primary.reload(["synchronous_standby_names = '*'"]);
    const store = primary.open({ schema, answerWaitMs: 400 });
    await createSession({ store, id, cwd: "/w" });
    const open = async (): Promise<Session> => openSession({ store, id, lockWaitMs: 500 });
    return { primary, standby, schema, open };
  }

  const waitsForStandby = "query LIKE '%.append(%' AND wait_event = 'SyncRep'";

  /** Ends the wait of a commit for a standby that is down: then it is done here, and there not. */
  async function endWait(primary: DatabaseServer, how: "cancel" | "terminate"): Promise<void> {
    const one = `FROM pg_stat_activity WHERE ${waitsForStandby}`;
    await primary.until(`SELECT count(*) ${one}`, ({ count }) => Number(count) > 0);
    await primary.query(`SELECT pg_${how}_backend(pid) ${one}`);
  }

  const visible = (schema: string, id: string): string =>
    `SELECT ends FROM "${schema}".log_end('${id}')`;

  it.each(["cancel", "terminate"] as const)(
    "are not acknowledged by a primary without its standby when waits end by %s",
    async (how) => {
      const { primary, standby, schema, open } = await replicated("s");
      const session = await open();
      const kept = await session.append(userDraft("kept"));
      await standby.stop("immediate");
      const appended = session.append(userDraft("doubtful"), { id: "doubtful" });
      const outcome = appended.then(
        () => "acknowledged",
        (error: unknown) => (isBranchlogError(error) ? error.code : error),
      );
      await endWait(primary, how);
      // The same lines are there, and sent again.
      expect(await outcome).toBe("ERR_APPEND_UNCERTAIN");
      const other = await open();
      await other.refresh();
      expect(other.tail).toBe("doubtful");
      // Answered from what was read, it would be acknowledged.
      await expect(other.append(userDraft("doubtful"), { id: "doubtful" })).rejects.toMatchObject({
        code: "ERR_APPEND_UNCERTAIN",
        uncertain: ["doubtful"],
      });
      // A crash ends the waits, too, and the lines come back from the log of the server.
      await primary.stop("immediate");
      await primary.restart();
      await expect(session.append(userDraft("doubtful"), { id: "doubtful" })).rejects.toMatchObject(
        { code: "ERR_APPEND_UNCERTAIN" },
      );
      await standby.restart();
      const again = await session.append(userDraft("doubtful"), { id: "doubtful" });
      expect(again.parentId).toBe(kept.id);
      await primary.stop("immediate");
      await standby.promote();
      expect(await idsIn(standby.open({ schema }), "s")).toEqual([kept.id, "doubtful"]);
    },
  );

  it("are not acknowledged to a session manager by a primary without its standby", async () => {
    const { primary, standby, schema } = await replicated("s");
    const address = (name: string): string =>
      `${primary.url(schema)}&answer_wait=400&lock_wait=500ms#${name}`;
    const manager = SessionManager.open(address("s"));
    const kept = manager.appendMessage(said("kept"));
    const fresh = SessionManager.open(address("fresh"), undefined, "/w");
    await standby.stop("immediate");
    for (const one of [manager, fresh]) {
      expect(() => one.appendMessage(said("doubtful"))).toThrow(
        expect.objectContaining({ code: "ERR_APPEND_UNCERTAIN" }) as Error,
      );
    }
    await primary.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`,
    );
    await primary.until(visible(schema, "fresh"), ({ ends }) => Number(ends) > 0);
    for (const one of [manager, fresh]) {
      expect(() => one.appendMessage(said("doubtful"))).toThrow(
        expect.objectContaining({ code: "ERR_APPEND_UNCERTAIN" }) as Error,
      );
    }
    await standby.restart();
    const ids = [manager, fresh].map((one) => one.appendMessage(said("doubtful")));
    await primary.stop("immediate");
    await standby.promote();
    const there = standby.open({ schema });
    expect(await idsIn(there, "s")).toEqual([kept, ids[0]]);
    expect(await idsIn(there, "fresh")).toEqual([ids[1]]);
  });

  it("replaced by an asynchronous standby report lost entries, and continue", async () => {
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
    const stuck = await openSession({ store, id });
    lost.push(await stuck.append(userDraft("stuck")));
    await primary.stop("immediate");
    await standby.promote();
    address.target = standby.port;
    // Others went on there first: as many bytes as were lost, and more.
    const there = await openSession({ store: standby.open({ schema }), id });
    for (let n = 0; n < 3; n += 1) await there.append(userDraft(`after ${n}`));
    // Below its leaf, which is gone; the remedy is reported.
    await expect(stuck.append(userDraft("below"))).rejects.toMatchObject({
      code: "ERR_DIVERGED",
      message: expect.stringContaining(`branchlog store recover ${writer.path}`) as unknown,
    });
    const next = await writer.append(userDraft("next"), { parent: "tail" });
    expect(next.parentId).toBe(there.leaf);
    const reported = writer.diagnostics.filter(({ kind }) => kind === "lost-entries");
    expect(reported.map((one) => one.id)).toEqual(lost.slice(0, 2).map((one) => one.id));
    await other.refresh();
    expect(other.tail).toBe(next.id);
    const all = await idsIn(standby.open({ schema }), id);
    expect(all).toHaveLength(5);
    expect([all[0], all[4]]).toEqual([kept.id, next.id]);
    // From any machine, with what the sessions here still had.
    const elsewhere = `${standby.url(schema)}#${id}`;
    const verified = await branchlog(["verify", elsewhere, "--json"]);
    const lostIds = lost.map((one) => one.id);
    expect(verified.code).toBe(1);
    expect(jsonLines(verified.out)).toMatchObject([{ lostEntryCount: 3, lostEntries: lostIds }]);
    const shown = await branchlog(["verify", elsewhere]);
    expect(shown.out).toContain(`3 lost entries of the store: branchlog store recover '`);
    const recovered = await branchlog(["store", "recover", elsewhere]);
    expect([recovered.code, recovered.out]).toEqual([
      0,
      expect.stringMatching(/^stored again 3 entries of .*#s\n/),
    ]);
    expect((await idsIn(standby.open({ schema }), id)).slice(5)).toEqual(lostIds);
    expect((await branchlog(["verify", elsewhere])).code).toBe(0);
    // Its leaf is there again.
    expect((await stuck.append(userDraft("goes on"))).parentId).toBe(lost[2]?.id);
    expect((await branchlog(["store", "recover", elsewhere, "--json"])).out).toContain(
      '"appendedAgain":[]',
    );
    await store.close();
    address.close();
  });
});
