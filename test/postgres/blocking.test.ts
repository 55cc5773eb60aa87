/**
 * The session managers of pi and omp on a store: the same calls and results as on a file, blocking
 * until the store has answered.
 */
import { spawn } from "node:child_process";
import { copyFileSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { filter, firstValueFrom } from "rxjs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSession } from "@branchlog/core";
import { storePlace } from "@branchlog/core/files";
import { logStoreContract } from "@branchlog/core/testing";
import type { LogStore } from "@branchlog/core/types";
import { live } from "@branchlog/core/live";
import { SessionManager as OmpManager } from "@branchlog/agents/omp";
import { SessionManager } from "@branchlog/agents/pi";
import "@branchlog/postgres/blocking";
import type { PostgresStore } from "@branchlog/postgres";
import { fixture } from "../cli/command-run.ts";
import { collected, idsOf } from "../support/collected.ts";
import { thrownBy } from "../support/typed-errors.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { DatabaseServer, hasPostgres } from "./database-server.ts";

const said = (text: string) => ({ role: "user", content: text, timestamp: 1 }) as const;

describe.skipIf(!hasPostgres())("session managers on a store", () => {
  let server: DatabaseServer;
  let store: PostgresStore;
  /** With the password. */
  let url: string;

  beforeAll(async () => {
    server = await DatabaseServer.start();
    const schema = server.newSchema();
    store = await server.store({ schema });
    url = server.url(schema);
  });
  afterAll(() => server.remove());

  async function push(name: string): Promise<string> {
    await store.create(name, [readFileSync(fixture(`${name}.jsonl`))]);
    return `${url}#${name}`;
  }

  async function idsIn(name: string): Promise<string[]> {
    return idsOf((await openSession({ store, id: name })).entries());
  }

  /** All of the contract but names and removal is answered by logs that block. */
  async function blockingStore(): Promise<LogStore> {
    const schema = server.newSchema();
    const asynchronous = await server.store({ schema });
    const place = storePlace(server.url(schema));
    if (place === undefined) throw new Error("an address of a store is one");
    return {
      open: async (name) => place.store.openSync(name),
      create: async (name, pieces) => {
        place.store.createSync(name, await collected(pieces));
        return place.store.openSync(name);
      },
      names: () => asynchronous.names(),
      remove: (name) => asynchronous.remove(name),
    };
  }

  it.each(logStoreContract(blockingStore))("are given logs of which one $title", ({ run }) =>
    run(),
  );

  it("work on a stored session as on a file, and append to it", async () => {
    const address = await push("pi-branches");
    const file = join(temporaryDirectory(), "pi-branches.jsonl");
    copyFileSync(fixture("pi-branches.jsonl"), file);
    const [onFile, onStore] = [SessionManager.open(file), SessionManager.open(address)];
    expect(onStore.getTree()).toEqual(onFile.getTree());
    expect(onStore.buildSessionContext()).toEqual(onFile.buildSessionContext());
    const id = onStore.appendMessage(said("from pi"));
    onStore.appendLabelChange(id, "here");
    onStore.appendSessionInfo("A name");
    // Acknowledged is committed: another process has it.
    const session = await openSession({ store, id: "pi-branches" });
    expect(session.name).toBe("A name");
    expect((await session.entry(id))?.type).toBe("message");
    const other = await session.append({ type: "custom", customType: "from afar" });
    const last = onStore.appendMessage(said("after that"));
    expect(onStore.getEntries().map((entry) => entry.id)).toEqual(
      expect.arrayContaining([id, other.id, last]),
    );
    const shown = onStore.getSessionFile() ?? "";
    expect([shown, onStore.getSessionDir()].join(" ")).not.toContain("secret");
    // What a manager calls its file is enough to open it again.
    expect(SessionManager.open(shown).getLeafId()).toBe(last);
  });

  it("keep new sessions, branches and forks in the same store", async () => {
    const manager = SessionManager.create("/work", url);
    const address = manager.getSessionFile() ?? "";
    const name = manager.getSessionId();
    expect(address.endsWith(`#${name}`)).toBe(true);
    manager.appendModelChange("anthropic", "claude");
    await expect(openSession({ store, id: name })).rejects.toMatchObject({
      code: "ERR_LOG_MISSING",
    });
    const first = manager.appendMessage(said("first"));
    manager.appendMessage(said("second"));
    const session = await openSession({ store, id: name });
    expect((await session.context()).messages).toHaveLength(2);
    expect(session.header.cwd).toBe("/work");

    const branch = manager.createBranchedSession(first);
    manager.appendMessage(said("another second"));
    expect(manager.getHeader()?.parentSession).toBe(address);
    const branched = await openSession({ store, id: manager.getSessionId() });
    expect((await branched.context()).messages).toMatchObject([
      { content: "first" },
      { content: "another second" },
    ]);
    expect(SessionManager.continueRecent("/work", url).getSessionFile()).toBe(branch);
    expect(SessionManager.continueRecent("/elsewhere", url).getEntries()).toEqual([]);

    expect(SessionManager.findById("/work", name, url)).toBe(address);
    expect(SessionManager.findById("/work", "unknown", url)).toBeUndefined();
    const listed = await SessionManager.list("/work", url);
    expect(listed.map(({ path }) => path)).toEqual([branch, address]);
    expect(listed[1]).toMatchObject({
      id: name,
      cwd: "/work",
      messageCount: 2,
      firstMessage: "first",
      allMessagesText: "first second",
    });
    expect(await SessionManager.list("/elsewhere", url)).toEqual([]);
    expect((await SessionManager.listAll(url)).length).toBeGreaterThan(2);

    const fork = SessionManager.forkFrom(address, "/other", url);
    expect(fork.getCwd()).toBe("/other");
    expect(fork.buildSessionContext().messages).toHaveLength(2);
    const copy = SessionManager.forkFrom(address, "/other", temporaryDirectory());
    expect(readFileSync(copy.getSessionFile() ?? "", "utf8")).toContain("second");
  });

  it("create a session at an unused address, and reject one that was created since", async () => {
    const manager = SessionManager.open(`${url}#by-name`, undefined, "/work");
    const rival = SessionManager.open(`${url}#by-name`, undefined, "/work");
    manager.appendMessage(said("mine"));
    expect(() => rival.appendMessage(said("theirs"))).toThrow(
      expect.objectContaining({ code: "ERR_LOG_EXISTS" }) as Error,
    );
    expect(await idsIn("by-name")).toHaveLength(1);
  });

  it("work for omp", async () => {
    const address = await push("omp-18");
    const manager = await OmpManager.open(address);
    const id = manager.appendMessage(said("from omp"));
    await manager.flush();
    await manager.close();
    const session = await openSession({ store, id: "omp-18" });
    expect((await session.entry(id))?.type).toBe("message");
    const created = OmpManager.create("/omp", url);
    created.appendMessage(said("new"));
    const again = await OmpManager.continueRecent("/omp", url);
    expect(again.getSessionId()).toBe(created.getSessionId());
  });

  it("show live what others append", async () => {
    const manager = SessionManager.open(`${url}#live`, undefined, "/work");
    manager.appendMessage(said("first"));
    const session = await openSession({ store, id: "live" });
    const seen = firstValueFrom(
      live(manager)
        .entries$()
        .pipe(filter(({ entry }) => entry?.type === "custom")),
    );
    await session.append({ type: "custom", customType: "from afar" });
    expect((await seen).entry).toMatchObject({ customType: "from afar" });
  });

  it("report errors without the password", async () => {
    const wrong = url.replace("not%20so%20secret", "very%20wrong");
    const expected: readonly (readonly [string, string])[] = [
      [url, "ERR_INVALID_ARGUMENT"],
      [`${url}#no/name`, "ERR_INVALID_ARGUMENT"],
      [`${wrong}#s`, "ERR_STORE_DENIED"],
      [`${server.url("nothing_here")}#s`, "ERR_STORE_SCHEMA"],
      ["postgres://u:very%20wrong@127.0.0.1:1/db#s", "ERR_STORE_UNAVAILABLE"],
    ];
    for (const [address, code] of expected) {
      const thrown = thrownBy(() => SessionManager.open(address));
      expect(thrown, address).toMatchObject({ code });
      expect(String(thrown)).not.toMatch(/secret|very/);
    }
  });

  it("lose nothing and store nothing twice when the server is killed", async () => {
    const script = fileURLToPath(new URL("manager-process.mjs", import.meta.url));
    const victims = ["one", "two"].map((who) => {
      const child = spawn(process.execPath, [script, `${url}#killed`, who, "150"], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      const ids: string[] = [];
      const half = new Promise<void>((resolve) => {
        createInterface(child.stdout).on("line", (line) => {
          ids.push(line);
          if (ids.length === 50) resolve();
        });
      });
      const ended = new Promise<number | null>((resolve) => {
        child.on("close", resolve);
      });
      return { ids, half, ended };
    });
    await Promise.all(victims.map(({ half }) => half));
    await server.stop("immediate");
    await server.restart();
    expect(await Promise.all(victims.map(({ ended }) => ended))).toEqual([0, 0]);
    const stored = await idsIn("killed");
    for (const { ids } of victims) {
      expect(ids).toHaveLength(150);
      expect(ids.filter((id) => stored.filter((one) => one === id).length !== 1)).toEqual([]);
    }
  });
});

it("an address without its package is rejected with the import to add", async () => {
  const core = new URL("../../packages/agents/dist/pi/index.js", import.meta.url).href;
  const program = `
      const { SessionManager } = await import(${JSON.stringify(core)});
      try { SessionManager.open("postgres://db.example/team#s"); }
      catch (error) { console.log(error.code, error.message); }`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program]);
  const printed = await child.stdout.toArray();
  expect(Buffer.concat(printed as Buffer[]).toString()).toMatch(
    /^ERR_INVALID_ARGUMENT .*branchlog\/postgres\/blocking/,
  );
});
