/** Connections that are lost at the worst moments: nothing is lost, and nothing is stored twice. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createSession, openSession } from "@branchlog/core";
import { userDraft } from "@branchlog/core/testing";
import { postgresStore } from "@branchlog/postgres";
import type { PostgresStore } from "@branchlog/postgres";
import { patience, runs } from "../support/fault-seed.ts";
import { DatabaseServer, hasPostgres } from "./database-server.ts";
import { Forwarder } from "./forwarder.ts";
import type { Fate } from "./forwarder.ts";

const fates: readonly Fate[] = ["cut before", "cut after", "hang", "late"];
const appends = runs(12, 400);
/** One of so many appends meets its fate. */
const every = 4;
const answerWaitMs = 400;

/** The parameters of a statement that appends. */
function isAppend(bytes: Buffer): boolean {
  return bytes.includes('{"type":"message"');
}

describe.skipIf(!hasPostgres())("a store behind a network", () => {
  let server: DatabaseServer;
  /** Without the network. */
  let store: PostgresStore;
  let schema: string;

  beforeAll(async () => {
    server = await DatabaseServer.start();
    schema = server.newSchema();
    store = await server.store({ schema });
  });
  afterAll(() => server.remove());

  async function network(): Promise<{ forwarder: Forwarder; far: PostgresStore }> {
    const forwarder = new Forwarder(server.port);
    const port = await forwarder.start();
    const url = server.url(schema).replace(`:${server.port}/`, `:${port}/`);
    const far = postgresStore(url, { answerWaitMs, pollMs: 200 });
    onTestFinished(async () => {
      forwarder.fateOf = () => "pass";
      await far.close();
      forwarder.close();
    });
    return { forwarder, far };
  }

  async function idsIn(id: string): Promise<string[]> {
    const session = await openSession({ store, id });
    expect(session.diagnostics).toEqual([]);
    const ids: string[] = [];
    for await (const entry of session.entries()) ids.push(entry.id);
    return ids;
  }

  it.each(fates)(
    "that may %s has each acknowledged entry once, in order",
    patience,
    async (fate) => {
      const { forwarder, far } = await network();
      const id = fate.replace(" ", "-");
      await createSession({ store, id, cwd: "/" });
      const session = await openSession({ store: far, id });
      let seen = 0;
      let met = 0;
      forwarder.fateOf = (bytes) => {
        if (!isAppend(bytes)) return "pass";
        seen += 1;
        if (seen % every !== 0) return "pass";
        met += 1;
        return fate;
      };
      const acknowledged: string[] = [];
      for (let n = 0; n < appends; n += 1) {
        acknowledged.push((await session.append(userDraft(`${n}`))).id);
        // What was on its way when the connection was lost arrives after its retry.
        if (n % 2 === 1) await forwarder.deliverLate();
      }
      await forwarder.deliverLate();
      expect(met).toBeGreaterThanOrEqual(Math.floor(appends / every));
      expect(await idsIn(id)).toEqual(acknowledged);
    },
  );

  it("loses nothing of several writers whose connections all break", patience, async () => {
    const id = "writers";
    await createSession({ store, id, cwd: "/" });
    const acknowledged = await Promise.all(
      fates.map(async (fate, writer) => {
        const { forwarder, far } = await network();
        const session = await openSession({ store: far, id });
        let seen = writer;
        forwarder.fateOf = (bytes) => {
          if (!isAppend(bytes)) return "pass";
          seen += 1;
          return seen % every === 0 ? fate : "pass";
        };
        const ids: string[] = [];
        for (let n = 0; n < appends; n += 1) {
          ids.push((await session.append(userDraft(`${writer} ${n}`), { parent: "tail" })).id);
          await forwarder.deliverLate();
        }
        return ids;
      }),
    );
    const stored = await idsIn(id);
    expect(stored.toSorted()).toEqual(acknowledged.flat().toSorted());
    for (const ids of acknowledged) expect(stored.filter((one) => ids.includes(one))).toEqual(ids);
  });

  it("says that an append is uncertain where nobody answers, and takes it once when repeated", async () => {
    const { forwarder, far } = await network();
    const id = "uncertain";
    await createSession({ store, id, cwd: "/" });
    const session = await openSession({ store: far, id, lockWaitMs: 600 });
    let isFirst = true;
    forwarder.fateOf = (bytes) => {
      if (!isAppend(bytes)) return "pass";
      if (!isFirst) return "hang";
      isFirst = false;
      return "cut after";
    };
    const append = (): Promise<unknown> => session.append(userDraft("once"), { id: "once" });
    await expect(append()).rejects.toMatchObject({ code: "ERR_APPEND_UNCERTAIN" });
    forwarder.fateOf = () => "pass";
    await append();
    expect(await idsIn(id)).toEqual(["once"]);
  });

  it("5 ms away takes one round trip for an append, and many in flight together", async () => {
    const { forwarder, far } = await network();
    const id = "latency";
    await createSession({ store, id, cwd: "/" });
    const session = await openSession({ store: far, id });
    let statements = 0;
    forwarder.latencyMs = 5;
    forwarder.fateOf = (bytes) => {
      if (isAppend(bytes)) statements += 1;
      return "pass";
    };
    const first = await session.append(userDraft("first"));
    expect(statements).toBe(1);
    const many = await Promise.all(
      Array.from({ length: 200 }, (_, n) => session.append(userDraft(`${n}`))),
    );
    // What waits while a statement is on its way goes together with the next one.
    expect(statements).toBeLessThan(10);
    expect(await idsIn(id)).toEqual([first, ...many].map((one) => one.id));
  });
});
