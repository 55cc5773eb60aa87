/** Connections that are lost at the worst moments: nothing is lost, and nothing is stored twice. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createSession, openSession } from "@branchlog/core";
import type { BranchlogError } from "@branchlog/core";
import { userDraft } from "@branchlog/core/testing";
import { postgresStore } from "@branchlog/postgres";
import type { PostgresStore } from "@branchlog/postgres";
import { patience, runs } from "../support/fault-seed.ts";
import { idsOf } from "../support/collected.ts";
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
    return idsOf(session.entries());
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

  /** What becomes of the next appends; then all pass. Resolves at the last of them. */
  function fatesOf(forwarder: Forwarder, ...next: readonly Fate[]): Promise<void> {
    const left = [...next];
    return new Promise((resolve) => {
      forwarder.fateOf = (bytes) => {
        if (!isAppend(bytes)) return "pass";
        const fate = left.shift() ?? "pass";
        if (left.length === 0) resolve();
        return fate;
      };
    });
  }

  it("reports uncertain appends without an answer, and stores them once when repeated", async () => {
    const { forwarder, far } = await network();
    const id = "uncertain";
    await createSession({ store, id, cwd: "/" });
    const session = await openSession({ store: far, id, lockWaitMs: 600 });
    const drafts = ["one", "two"].map((text) => userDraft(text));
    void fatesOf(forwarder, "cut after", "hang", "hang", "hang", "hang");
    const failed = session.appendAll(drafts).catch((error: unknown) => error);
    const alone = session.append(userDraft("three")).catch((error: unknown) => error);
    const errors = [await failed, await alone] as readonly BranchlogError[];
    expect(errors).toMatchObject(errors.map(() => ({ code: "ERR_APPEND_UNCERTAIN" })));
    expect(errors.map(({ uncertain }) => uncertain.length)).toEqual([2, 1]);
    forwarder.fateOf = () => "pass";
    const [pair, [third = ""] = []] = errors.map(({ uncertain }) => uncertain);
    const again = await session.appendAll(drafts, pair === undefined ? {} : { ids: pair });
    await session.append(userDraft("three"), { id: third });
    expect(again.map((one) => one.id)).toEqual(pair);
    expect(again[1]?.parentId).toBe(again[0]?.id);
    expect(await idsIn(id)).toEqual([...(pair ?? []), third]);
  });

  it("is unavailable, not uncertain, when no append reached the server", async () => {
    const { forwarder, far } = await network();
    const id = "unreached";
    await createSession({ store, id, cwd: "/" });
    const session = await openSession({ store: far, id, lockWaitMs: 300 });
    forwarder.close();
    // Until then an idle connection seems to be there.
    await expect(session.refresh()).rejects.toMatchObject({ code: "ERR_STORE_UNAVAILABLE" });
    await expect(session.append(userDraft("one"))).rejects.toMatchObject({
      code: "ERR_STORE_UNAVAILABLE",
      uncertain: [],
    });
    expect(await idsIn(id)).toEqual([]);
  });

  /** The drop-in in a separate process: its appends block. */
  async function retrying(id: string, options: string): Promise<RetryingProcess> {
    const { forwarder, far } = await network();
    const address = `${far.address.replace("owner@", `owner:${server.password}@`)}&${options}#${id}`;
    const script = fileURLToPath(new URL("retrying-process.mjs", import.meta.url));
    const child = spawn(process.execPath, [script, address], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    const next = async (): Promise<unknown> => {
      const { value } = (await lines.next()) as { value?: string };
      return value === undefined ? undefined : JSON.parse(value);
    };
    const ended = new Promise<string | number | null>((resolve) => {
      child.on("exit", (code, signal) => resolve(signal ?? code));
    });
    expect(await next()).toBe("open");
    return { forwarder, child, next, ended, say: (text) => void child.stdin.write(`${text}\n`) };
  }

  interface RetryingProcess {
    readonly forwarder: Forwarder;
    readonly child: ChildProcess;
    readonly say: (text: string) => void;
    /** What it printed next. */
    readonly next: () => Promise<unknown>;
    readonly ended: Promise<string | number | null>;
  }

  it("has a late message of a manager once when it is appended again", async () => {
    const id = "late-message";
    await createSession({ store, id, cwd: "/" });
    const { forwarder, say, next } = await retrying(id, "answer_wait=300&lock_wait=100");
    void fatesOf(forwarder, "late", "hang", "hang", "hang", "hang", "hang", "hang");
    say("hello");
    const { code, uncertain } = (await next()) as { code: string; uncertain: string[] };
    expect([code, uncertain.length]).toEqual(["ERR_APPEND_UNCERTAIN", 1]);
    forwarder.fateOf = () => "pass";
    // It is stored after the call has failed.
    await forwarder.deliverLate();
    say("hello");
    expect(await next()).toEqual({ id: uncertain[0] });
    // Said once more, it is another message: the one before was acknowledged.
    say("hello");
    const { id: second } = (await next()) as { id: string };
    expect(await idsIn(id)).toEqual([uncertain[0], second]);
    // A message after an uncertain one is not confused with it.
    void fatesOf(forwarder, "cut before", "hang", "hang", "hang", "hang", "hang", "hang");
    say("lost");
    expect(await next()).toMatchObject({ code: "ERR_APPEND_UNCERTAIN" });
    forwarder.fateOf = () => "pass";
    say("other");
    const { id: third } = (await next()) as { id: string };
    expect(await idsIn(id)).toEqual([uncertain[0], second, third]);
  });

  it.each([
    ["SIGINT", 9],
    ["SIGTERM", "SIGTERM"],
  ] as const)("lets %s end a program while a session manager waits", async (signal, end) => {
    const id = `waits-${signal}`;
    await createSession({ store, id, cwd: "/" });
    const { forwarder, child, say, next, ended } = await retrying(
      id,
      "answer_wait=5min&lock_wait=5min",
    );
    const isHanging = fatesOf(forwarder, "hang");
    say("hello");
    await isHanging;
    // Until the wait has begun in which signals are let through; earlier ones are not. A process
    // that is about to exit with its own code would be ended by another one.
    const again = setInterval(() => child.kill(signal), 1000);
    onTestFinished(() => clearInterval(again));
    const said = await next();
    clearInterval(again);
    // The call is ended by the one, the process by the other.
    if (signal === "SIGINT") expect(said).toMatchObject({ code: "ERR_APPEND_UNCERTAIN" });
    else expect(said).toBeUndefined();
    expect(await ended).toBe(end);
    expect(await idsIn(id)).toEqual([]);
  });

  it("at 5 ms latency takes one round trip for an append, and combines concurrent ones", async () => {
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
