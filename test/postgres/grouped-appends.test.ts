/** Appends to many sessions at once: some in one statement, each with its own outcome. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSession, openSession } from "@branchlog/core";
import { postgresStore } from "@branchlog/postgres";
import { jsonLines, sampleHeader, userDraft } from "@branchlog/core/testing";
import type { StoredLog, StoredPosition } from "@branchlog/core/types";
import { idsOf } from "../support/collected.ts";
import { DatabaseServer, hasPostgres } from "./database-server.ts";
import { Forwarder } from "./forwarder.ts";

const header = Buffer.from(jsonLines(sampleHeader()));

async function endOf(log: StoredLog): Promise<StoredPosition> {
  const end = await log.end();
  if (end === undefined) throw new Error("the log has an end");
  return end;
}

const line = (text: string): Buffer => Buffer.from(`${text}\n`);

describe.skipIf(!hasPostgres())("appends to many logs at once", () => {
  let server: DatabaseServer;

  beforeAll(async () => {
    server = await DatabaseServer.start();
  });
  afterAll(() => server.remove());

  it("are all stored once, several by one statement", async () => {
    const schema = server.newSchema();
    const store = await server.store({ schema });
    const sessions = await Promise.all(
      Array.from({ length: 40 }, () => createSession({ store, cwd: "/w" })),
    );
    const ids = await Promise.all(
      sessions.map(async (session) => {
        const own: string[] = [];
        for (let n = 0; n < 5; n += 1) own.push((await session.append(userDraft(`${n}`))).id);
        return own;
      }),
    );
    for (const [at, { header: known }] of sessions.entries()) {
      const again = await openSession({ store, id: known.id });
      expect(await idsOf(again.entries())).toEqual(ids[at]);
    }
    const [row] = await server.query<{ rows: string; commits: string }>(
      `SELECT count(*) AS rows, count(DISTINCT xmin::text) AS commits
       FROM "${schema}".batch WHERE at > 0`,
    );
    expect(Number(row?.rows)).toBe(200);
    expect(Number(row?.commits)).toBeLessThan(150);
  });

  it("each have the answer of their log, whatever happens to the others", async () => {
    const store = await server.store();
    const log = (name: string): Promise<StoredLog> => store.create(name, [header]);
    const others = await Promise.all(Array.from({ length: 12 }, (_, n) => log(`other-${n}`)));
    const [taken, same, removed, odd, held, stored] = await Promise.all(
      ["taken", "same", "removed", "odd", "held", "stored"].map((name) => log(name)),
    );
    if (!taken || !same || !removed || !odd || !held || !stored) throw new Error("six were made");
    const start = new Map<StoredLog, StoredPosition>();
    for (const one of [...others, taken, same, removed, odd, held, stored]) {
      start.set(one, await endOf(one));
    }
    const append = async (one: StoredLog, bytes: Buffer) =>
      one.append(start.get(one) ?? { generation: "", at: 0 }, bytes);
    await (await store.open("taken")).append(await endOf(taken), line("first"));
    await (await store.open("stored")).append(await endOf(stored), line("again"));
    await store.remove("removed");
    const lease = await (await store.open("held")).lease?.(await endOf(held));
    const asked = others.map((one, n) => append(one, line(`line ${n}`)));
    const answers = [
      append(taken, line("second")),
      append(same, line("one of two")),
      append(same, line("other of two")),
      append(removed, line("to nothing")),
      append(odd, Buffer.from([0, 0xff, 0x0a])),
      append(stored, line("again")),
    ];
    const waiting = append(held, line("waits"));
    for (const answer of await Promise.all(asked)) expect(answer.kind).toBe("appended");
    const [first, winner, loser, ...rest] = (await Promise.all(answers)).map(({ kind }) => kind);
    expect([first, ...rest]).toEqual(["conflict", "gone", "appended", "alreadyStored"]);
    expect(new Set([winner, loser])).toEqual(new Set(["appended", "conflict"]));
    await lease?.append(line("held"));
    expect(await waiting).toMatchObject({ kind: "conflict", since: line("held") });
    for (const [n, one] of others.entries()) {
      const pieces: Buffer[] = [];
      for await (const piece of one.read({ ...(await endOf(one)), at: header.length })) {
        pieces.push(piece);
      }
      expect(Buffer.concat(pieces)).toEqual(line(`line ${n}`));
    }
  });

  it("are answered when the server rejects one of them, which reports the reason", async () => {
    const schema = server.newSchema();
    const store = await server.store({ schema });
    const logs = await Promise.all(
      Array.from({ length: 12 }, (_, n) => store.create(`log-${n}`, [header])),
    );
    await server.query(
      `ALTER TABLE "${schema}".batch ADD CONSTRAINT no_seven CHECK (body NOT LIKE '%seven%')`,
    );
    const ends = await Promise.all(logs.map((log) => endOf(log)));
    const answers = await Promise.allSettled(
      logs.map(async (log, n) =>
        log.append(ends[n] ?? { generation: "", at: 0 }, line(n === 7 ? "seven" : `${n}`)),
      ),
    );
    for (const [n, answer] of answers.entries()) {
      if (n === 7) expect(answer).toMatchObject({ reason: { code: "ERR_STORE_REFUSED" } });
      else expect(answer).toMatchObject({ value: { kind: "appended" } });
    }
  });

  it.each(["cut before", "cut after"] as const)(
    "are stored once if the connection is %s the server got them",
    async (fate) => {
      const schema = server.newSchema();
      const direct = await server.store({ schema });
      const forwarder = new Forwarder(server.port);
      const port = await forwarder.start();
      const store = postgresStore(server.url(schema).replace(`:${server.port}/`, `:${port}/`));
      const sessions = await Promise.all(
        Array.from({ length: 16 }, () => createSession({ store, cwd: "/w" })),
      );
      let cuts = 0;
      forwarder.fateOf = (bytes) => {
        // One that goes with others.
        const isMeant = cuts === 0 && bytes.includes("needle 9") && bytes.includes("needle 10");
        cuts += isMeant ? 1 : 0;
        return isMeant ? fate : "pass";
      };
      await Promise.all(sessions.map(async (one, n) => one.append(userDraft(`needle ${n}`))));
      expect(cuts).toBe(1);
      for (const { header: known } of sessions) {
        const again = await openSession({ store: direct, id: known.id });
        expect((await again.context()).messages).toHaveLength(1);
      }
      await store.close();
      forwarder.close();
    },
  );
});
