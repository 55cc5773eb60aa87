/** A store behind PgBouncer in transaction mode, whose clients share connections. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createSession, openSession } from "@branchlog/core";
import { live } from "@branchlog/core/live";
import { SessionManager } from "@branchlog/agents/pi";
import { userDraft } from "@branchlog/core/testing";
import { postgresStore } from "@branchlog/postgres";
import type { PostgresStore } from "@branchlog/postgres";
import "@branchlog/postgres/blocking";
import { filter, firstValueFrom } from "rxjs";
import { branchlog, jsonLines } from "../cli/command-run.ts";
import { idsOf } from "../support/collected.ts";
import { DatabaseServer, hasPostgres } from "./database-server.ts";
import { Pooler, hasPooler } from "./pooler.ts";

describe.skipIf(!hasPostgres() || !hasPooler())("a store behind a pooler", () => {
  let server: DatabaseServer;
  let pooler: Pooler;
  let schema: string;

  beforeAll(async () => {
    server = await DatabaseServer.start();
    schema = server.newSchema();
    await server.store({ schema });
    pooler = await Pooler.start(server, 2);
  });
  afterAll(async () => {
    await pooler.stop();
    await server.remove();
  });

  function opened(options = ""): PostgresStore {
    const store = postgresStore(`${pooler.url(schema)}${options}`, { pollMs: 50 });
    onTestFinished(() => store.close());
    return store;
  }

  it.each(["", "&listen=false"])(
    "takes the appends of many clients on two connections, with options '%s'",
    async (options) => {
      const { header } = await createSession({ store: opened(options), cwd: "/w" });
      const writers = Array.from({ length: 6 }, async (_, writer) => {
        const session = await openSession({ store: opened(options), id: header.id });
        const ids: string[] = [];
        for (let n = 0; n < 10; n += 1) {
          ids.push((await session.append(userDraft(`${writer} ${n}`), { parent: "tail" })).id);
        }
        return ids;
      });
      const acknowledged = (await Promise.all(writers)).flat();
      const session = await openSession({ store: opened(options), id: header.id });
      const stored = await idsOf(session.entries());
      expect(stored.toSorted()).toEqual(acknowledged.toSorted());
      expect(session.diagnostics).toEqual([]);
    },
  );

  it("notifies subscribers of appends of others by polling", async () => {
    const writer = await createSession({ store: opened(), cwd: "/w" });
    const reader = await openSession({ store: opened("&listen=false"), id: writer.header.id });
    const told = firstValueFrom(live(reader).leaf$.pipe(filter(({ value }) => value !== null)));
    const { id } = await writer.append(userDraft("news"));
    expect((await told).value).toBe(id);
  });

  it("works for the commands, and for session managers", async () => {
    const url = pooler.url(schema);
    const { header } = await createSession({ store: opened(), cwd: "/w" });
    const address = `${url}#${header.id}`;
    for (const text of ["one", "two", "three"]) {
      expect((await branchlog(["append", address, "--user", text])).code).toBe(0);
    }
    const manager = SessionManager.open(address);
    const id = manager.appendMessage({ role: "user", content: "four", timestamp: 1 });
    const entries = jsonLines((await branchlog(["entries", address, "--json"])).out);
    expect(entries).toHaveLength(4);
    expect(entries[3]).toMatchObject({ id });
    expect((await branchlog(["list", url, "--json"])).out).toContain(header.id);
    expect((await branchlog(["search", "three", url, "--json"])).out).toContain('"three"');
    expect((await branchlog(["verify", address])).code).toBe(0);
  });

  it("names the setting that a pooler does not forward", async () => {
    const { code, err } = await branchlog([
      "store",
      "ls",
      `${pooler.url(schema)}&statement_timeout=1000`,
    ]);
    expect(code).toBe(1);
    expect(err).toMatch(/statement_timeout.*ALTER ROLE.*ERR_STORE_REFUSED/s);
    // On a separate connection, the server takes it.
    const own = await branchlog(["store", "ls", `${server.url(schema)}&statement_timeout=1000`]);
    expect([own.code, own.err]).toEqual([0, ""]);
  });
});
