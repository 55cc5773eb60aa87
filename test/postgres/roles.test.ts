/** Who may see which sessions of a store: tenants of roles, of groups, and of roles that changed. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSession, openSession } from "@branchlog/core";
import { searchSessions } from "@branchlog/library";
import { userDraft } from "@branchlog/core/testing";
import { postgresStore } from "@branchlog/postgres";
import type { PostgresStore } from "@branchlog/postgres";
import { collected } from "../support/collected.ts";
import { DatabaseServer, hasPostgres } from "./database-server.ts";

const namesIn = (store: PostgresStore): Promise<string[]> => collected(store.names());

describe.skipIf(!hasPostgres())("a store with roles", () => {
  let server: DatabaseServer;
  const opened: PostgresStore[] = [];

  beforeAll(async () => {
    server = await DatabaseServer.start();
  });
  afterAll(async () => {
    await Promise.all(opened.map((store) => store.close()));
    await server.remove();
  });

  /** With a session of its owner, and roles by short names. */
  async function ownedStore(): Promise<OwnedStore> {
    const schema = server.newSchema();
    const store = await server.store({ schema });
    await createSession({ store, id: "of-owner", cwd: "/o" });
    return {
      store,
      schema,
      run: (text) => server.query(text.replaceAll("$", `${schema}_`)).then(() => undefined),
      grant: async (role, access, tenant) => {
        const values = [`${schema}_${role}`, access, tenant];
        await server.query(`SELECT "${schema}".grant_access($1, $2, $3)`, values);
      },
      as: (role) => {
        const own = postgresStore(server.url(schema, `${schema}_${role}`, "pw"));
        opened.push(own);
        return own;
      },
    };
  }

  interface OwnedStore {
    readonly store: PostgresStore;
    readonly schema: string;
    /** As the owner; `$role` is the whole name of a role. */
    readonly run: (text: string) => Promise<void>;
    readonly grant: (role: string, access: string, tenant: string) => Promise<void>;
    readonly as: (role: string) => PostgresStore;
  }

  /** Neither lists nor opens, appends to or removes what the owner has. */
  async function expectRefused(store: PostgresStore, reason: RegExp): Promise<void> {
    const calls: readonly (() => Promise<unknown>)[] = [
      () => namesIn(store),
      () => store.open("of-owner"),
      () => createSession({ store, id: "mine", cwd: "/" }),
      () => store.remove("of-owner"),
      () => store.setExpiry("of-owner", new Date(0)),
      () => store.removeExpired(),
      () => collected(searchSessions({ store }, "hello")),
    ];
    for (const call of calls) {
      await expect(call(), String(call)).rejects.toMatchObject({
        code: "ERR_STORE_DENIED",
        message: expect.stringMatching(reason) as unknown,
      });
    }
  }

  it("gives a member of a group the tenant of the group, not that of the owner", async () => {
    const { store, run, grant, as } = await ownedStore();
    await run("CREATE ROLE $team");
    await grant("team", "write", "team-a");
    await run("CREATE ROLE $carol LOGIN PASSWORD 'pw' IN ROLE $team");
    await run("CREATE ROLE $dave LOGIN PASSWORD 'pw' IN ROLE $team");
    const carol = as("carol");
    expect(await namesIn(carol)).toEqual([]);
    await expect(carol.open("of-owner")).rejects.toMatchObject({ code: "ERR_LOG_MISSING" });
    await expect(carol.remove("of-owner")).rejects.toMatchObject({ code: "ERR_LOG_MISSING" });
    const session = await createSession({ store: carol, id: "of-team", cwd: "/w" });
    await session.append(userDraft("hello"));
    const read = await openSession({ store: as("dave"), id: "of-team" });
    expect((await read.context()).messages).toHaveLength(1);
    expect(await namesIn(store)).toEqual(["of-owner"]);
  });

  it("rejects a role in two tenants, and names both", async () => {
    const { run, grant, as } = await ownedStore();
    await run(
      "CREATE ROLE $g; CREATE ROLE $h; CREATE ROLE $eve LOGIN PASSWORD 'pw' IN ROLE $g, $h",
    );
    await grant("g", "write", "team-a");
    await grant("h", "read", "team-b");
    await expectRefused(
      as("eve"),
      /two tenants, 'team-a' by the role \S+_g and 'team-b' by the role/,
    );
    await run("REVOKE $h FROM $eve");
    expect(await namesIn(as("eve"))).toEqual([]);
    // Its own tenant counts as those of its groups.
    await grant("eve", "write", "team-c");
    await expectRefused(as("eve"), /two tenants, 'team-a' .* and 'team-c' by the role \S+_eve/);
  });

  it("keeps the tenant of a role that is renamed", async () => {
    const { run, grant, as } = await ownedStore();
    await run("CREATE ROLE $al LOGIN PASSWORD 'pw'");
    await grant("al", "write", "team-a");
    await createSession({ store: as("al"), id: "of-al", cwd: "/w" });
    // A new name takes a new password.
    await run("ALTER ROLE $al RENAME TO $al2; ALTER ROLE $al2 PASSWORD 'pw'");
    expect(await namesIn(as("al2"))).toEqual(["of-al"]);
    // And the free name inherits nothing.
    await run("CREATE ROLE $al LOGIN PASSWORD 'pw'");
    await expectRefused(as("al"), /permission denied/);
  });

  it("gives a new role nothing of a dropped one with its name", async () => {
    const { run, grant, as, schema } = await ownedStore();
    await run("CREATE ROLE $bo LOGIN PASSWORD 'pw'");
    await grant("bo", "write", "team-a");
    await createSession({ store: as("bo"), id: "of-bo", cwd: "/w" });
    await run("DROP OWNED BY $bo; DROP ROLE $bo; CREATE ROLE $bo LOGIN PASSWORD 'pw'");
    await expectRefused(as("bo"), /permission denied/);
    await run("CREATE ROLE $team");
    await grant("team", "read", "team-b");
    await run("GRANT $team TO $bo");
    expect(await namesIn(as("bo"))).toEqual([]);
    const members = await server.query<{ role: string }>(`SELECT role FROM "${schema}".member`);
    expect(members).toEqual([{ role: `${schema}_team` }]);
  });

  it("rejects every other role without a tenant, including superusers, with the command to run", async () => {
    const { run, as, schema } = await ownedStore();
    await run("CREATE ROLE $root SUPERUSER LOGIN PASSWORD 'pw'");
    const advice = new RegExp(`SELECT ${schema}.grant_access\\('${schema}_root', 'write'`);
    await expectRefused(as("root"), advice);
    // Rights that were given past grant_access() are not enough.
    await run(`CREATE ROLE $ann LOGIN PASSWORD 'pw'; GRANT USAGE ON SCHEMA ${schema} TO $ann;
      GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ${schema} TO $ann`);
    await expectRefused(as("ann"), /has no tenant/);
  });

  it("never grants the owner's tenant", async () => {
    const { run, grant } = await ownedStore();
    await run("CREATE ROLE $ann");
    await expect(grant("ann", "write", "")).rejects.toThrow("the tenant needs a name");
    await expect(grant("ann", "all", "a")).rejects.toThrow("read or write");
    await expect(grant("nobody", "write", "a")).rejects.toThrow("does not exist");
  });

  it("is migrated from version 1, with its members by their roles", async () => {
    const { run, grant, as, store, schema } = await ownedStore();
    await run("CREATE ROLE $w LOGIN PASSWORD 'pw'; CREATE ROLE $r LOGIN PASSWORD 'pw'");
    await grant("w", "write", "team-a");
    await grant("r", "read", "team-a");
    // As version 1 had it.
    await run(`
      SET search_path = ${schema};
      CREATE TABLE old (role name PRIMARY KEY, tenant text NOT NULL);
      INSERT INTO old SELECT role::text, tenant FROM member;
      INSERT INTO old VALUES ('dropped', 'team-a');
      DROP TABLE member, lost, saved_index, index_piece; ALTER TABLE old RENAME TO member; UPDATE version SET number = 1`);
    await expect(as("w").open("s")).rejects.toMatchObject({ code: "ERR_STORE_SCHEMA" });
    expect(await store.migrate()).toEqual({ from: 1, to: 4 });
    await createSession({ store: as("w"), id: "s", cwd: "/w" });
    const read = await openSession({ store: as("r"), id: "s" });
    await expect(read.append(userDraft("no"))).rejects.toMatchObject({ code: "ERR_STORE_DENIED" });
    const members = await server.query(`SELECT access FROM "${schema}".member ORDER BY access`);
    expect(members).toEqual([{ access: "read" }, { access: "write" }]);
  });

  it("lets a role read, write or neither, and see the logs of its tenant only", async () => {
    const { run, grant, as, schema } = await ownedStore();
    for (const role of ["writer", "reader", "stranger", "nobody"]) {
      await run(`CREATE ROLE $${role} LOGIN PASSWORD 'pw'`);
    }
    await grant("writer", "write", "a");
    await grant("reader", "read", "a");
    await grant("stranger", "write", "b");
    const [writer, reader, stranger] = [as("writer"), as("reader"), as("stranger")];
    const session = await createSession({ store: writer, cwd: "/w" });
    const { id } = session.header;
    await session.append(userDraft("one"));
    const read = await openSession({ store: reader, id });
    expect((await read.context()).messages).toHaveLength(1);
    await expect(read.append(userDraft("two"))).rejects.toMatchObject({ code: "ERR_STORE_DENIED" });
    await expect(createSession({ store: reader, cwd: "/w" })).rejects.toMatchObject({
      code: "ERR_STORE_DENIED",
    });
    await expect(stranger.open(id)).rejects.toMatchObject({ code: "ERR_LOG_MISSING" });
    expect(await namesIn(stranger)).toEqual([]);
    // The name is free there, and the log another one, also by its number.
    await createSession({ store: stranger, id, cwd: "/other" });
    const ends = await (await writer.open(id)).end();
    const theirs = await stranger.open(id);
    await expect(
      theirs.append(ends ?? { generation: "", at: 0 }, Buffer.from("x\n")),
    ).resolves.toEqual({ kind: "gone" });
    await expect(as("nobody").open(id)).rejects.toMatchObject({ code: "ERR_STORE_DENIED" });
    for (const table of ["log", "batch", "member"]) {
      const statement = `SET SESSION AUTHORIZATION ${schema}_writer; SELECT * FROM "${schema}".${table}`;
      await expect(server.query(statement)).rejects.toThrow(/permission denied/);
    }
  });
});
