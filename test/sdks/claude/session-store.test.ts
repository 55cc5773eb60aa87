/** The store of the Claude Agent SDK over files, in memory and in PostgreSQL. */
import { foldSessionSummary } from "@anthropic-ai/claude-agent-sdk";
import type { SessionStore, SessionStoreEntry } from "@anthropic-ai/claude-agent-sdk";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BranchlogError } from "@branchlog/core";
import type { StoredLog } from "@branchlog/core/types";
import { claudeSessionStore } from "@branchlog/sdks/claude";
import { DatabaseServer, hasPostgres } from "../../postgres/database-server.ts";
import { branchlog } from "../../cli/command-run.ts";
import { collected } from "../../support/collected.ts";
import { rejection, typedError } from "../../support/typed-errors.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { ListedMemoryStore, key, turn } from "./transcripts.ts";

const entry = (uuid: string, more: object = {}): SessionStoreEntry => ({
  type: "user",
  uuid,
  ...more,
});

/** Two objects over one place, as two processes have. */
type Place = () => Promise<readonly [Required<SessionStore>, Required<SessionStore>]>;

const inDirectory: Place = async () => {
  const directory = temporaryDirectory();
  return [claudeSessionStore(directory), claudeSessionStore(directory)];
};
const inMemory: Place = async () => {
  const store = new ListedMemoryStore();
  return [claudeSessionStore({ store }), claudeSessionStore({ store })];
};

const values = fc
  .jsonValue({ maxDepth: 4 })
  .filter((value) => !JSON.stringify(value).includes("-0"));

function contract(place: Place): void {
  it("returns appended entries, equal and in order, and null for missing sessions", async () => {
    const [store, other] = await place();
    expect(await store.load(key)).toBeNull();
    const first = [
      entry("a", { nested: { list: [1, null, "ü\u2028"], "": {} } }),
      { type: "mode" },
    ];
    const then = [entry("b"), { type: "mode" }, { type: "tag", tag: "x" }];
    await store.append(key, first);
    await store.append(key, []);
    await other.append(key, then);
    expect(await store.load(key)).toEqual([...first, ...then]);
    expect(await other.load({ ...key, sessionId: "another" })).toBeNull();
  });

  it("returns any JSON unchanged", async () => {
    const [store] = await place();
    const batches = fc.array(
      fc.array(fc.record({ type: fc.string(), x: values }), { minLength: 1 }),
    );
    let count = 0;
    await fc.assert(
      fc.asyncProperty(batches, async (all) => {
        const own = { ...key, sessionId: `s${(count += 1)}` };
        for (const batch of all) await store.append(own, batch);
        expect((await store.load(own)) ?? []).toEqual(all.flat());
      }),
      { numRuns: 25 },
    );
  });

  it("writes a uuid once, for any repeat in any batch", async () => {
    const [store, other] = await place();
    const [a, b, c] = [entry("a"), entry("b"), entry("c")];
    await store.append(key, [a, b, a]);
    await store.append(key, [a, b]);
    await other.append(key, [b, c, { type: "mode" }]);
    await Promise.all([store.append(key, [c, a]), other.append(key, [c, entry("d")])]);
    expect(await store.load(key)).toEqual([a, b, c, { type: "mode" }, entry("d")]);
  });

  it("loses nothing of concurrent appends, and keeps the order of each", async () => {
    const [store, other] = await place();
    const names = Array.from({ length: 20 }, (_, i) => i);
    await Promise.all(
      names.flatMap((i) => [
        store.append(key, [entry(`one-${i}`), { type: "mode", i }]),
        other.append(key, [entry(`two-${i}`)]),
      ]),
    );
    const loaded = (await store.load(key)) ?? [];
    const of = (name: string) =>
      loaded.flatMap(({ uuid = "" }) => (uuid.startsWith(name) ? [uuid] : []));
    expect(loaded).toHaveLength(60);
    expect(of("one-")).toEqual(names.map((i) => `one-${i}`));
    expect(of("two-")).toEqual(names.map((i) => `two-${i}`));
  });

  it("keeps projects, sessions and subpaths apart, and lists them", async () => {
    const [store, other] = await place();
    const agent = { ...key, subpath: "subagents/agent-1" };
    const keys = [
      { projectKey: "p", sessionId: "s" },
      { projectKey: "p", sessionId: "s.t" },
      { projectKey: "p.s", sessionId: "t" },
      { projectKey: "P", sessionId: "s" },
      { projectKey: "p", sessionId: "s", subpath: "t" },
      { projectKey: "p", sessionId: "s", subpath: "t/u" },
      { projectKey: "-_ü %", sessionId: "_5f" },
      { projectKey: `-home-${"a".repeat(150)}-one`, sessionId: agent.sessionId },
      { projectKey: `-home-${"a".repeat(150)}-two`, sessionId: agent.sessionId },
      agent,
    ];
    for (const [i, one] of keys.entries()) await store.append(one, [entry("same", { i })]);
    for (const [i, one] of keys.entries()) {
      expect(await other.load(one)).toEqual([entry("same", { i })]);
    }
    const ids = async (projectKey: string) =>
      (await other.listSessions(projectKey)).map(({ sessionId }) => sessionId).toSorted();
    expect(await ids("p")).toEqual(["s", "s.t"]);
    expect(await ids("-_ü %")).toEqual(["_5f"]);
    // Its only transcript is that of a subagent.
    expect(await ids(key.projectKey)).toEqual([]);
    expect(await ids("none")).toEqual([]);
    expect(await other.listSubkeys({ projectKey: "p", sessionId: "s" })).toEqual(["t", "t/u"]);
    expect(await other.listSubkeys(key)).toEqual([agent.subpath]);
    expect(await other.listSubkeys({ projectKey: "p", sessionId: "t" })).toEqual([]);
  });

  it("deletes a session with its subpaths, a single subpath, and a missing one", async () => {
    const [store] = await place();
    const agents = ["subagents/agent-1", "subagents/agent-2"].map((subpath) => ({
      ...key,
      subpath,
    }));
    const [first = key, second = key] = agents;
    const another = { ...key, sessionId: "another" };
    for (const one of [key, ...agents, another]) await store.append(one, [entry("a")]);
    await store.delete(first);
    expect(await store.listSubkeys(key)).toEqual(["subagents/agent-2"]);
    await store.delete(key);
    await store.delete(key);
    for (const one of [key, ...agents]) expect(await store.load(one)).toBeNull();
    expect(await store.load(another)).toEqual([entry("a")]);
    await store.append(second, [entry("b")]);
    await store.append(key, [entry("a"), entry("b")]);
    expect(await store.load(key)).toEqual([entry("a"), entry("b")]);
  });

  it("has summaries as folded by the SDK, with lists at any time", async () => {
    const [store, other] = await place();
    const batches = [
      turn("Why is it red?", "A test fails.", null),
      [{ type: "custom-title", customTitle: "Red", sessionId: key.sessionId }],
      turn("Fix it", "Done.", null),
    ];
    for (const batch of batches) {
      await store.append(key, batch);
      for (const one of [store, other]) {
        const [session] = await one.listSessions(key.projectKey);
        const { mtime = 0 } = session ?? {};
        const loaded = (await one.load(key)) ?? [];
        const folded = foldSessionSummary(undefined, key, loaded, { mtime });
        expect(await one.listSessionSummaries(key.projectKey)).toEqual([folded]);
        expect(Number.isInteger(mtime)).toBe(true);
      }
    }
    await other.delete(key);
    await other.append(key, turn("Another one", "Yes.", null));
    const [summary] = await store.listSessionSummaries(key.projectKey);
    expect(summary?.data).toMatchObject({ firstPrompt: "Another one" });
  });

  const circle: Record<string, unknown> = {};
  circle["self"] = circle;
  it.each([
    ["a cycle", circle],
    ["a BigInt", 1n],
    ["a function", () => 1],
    ["a symbol", Symbol("x")],
    ["NaN", NaN],
    ["a hole", [undefined]],
    ["a date", new Date(0)],
    ["a map", new Map()],
  ])("rejects a whole batch with %s", async (_, value) => {
    const [store] = await place();
    const failed = store.append(key, [entry("a"), entry("b", { x: { value } })]);
    expect(typedError(await rejection(failed)).code).toBe("ERR_UNSERIALIZABLE");
    expect(await store.load(key)).toBeNull();
  });

  it.each([
    { ...key, sessionId: ".." },
    { ...key, sessionId: "a/b" },
    { ...key, sessionId: "" },
    { ...key, projectKey: "../up" },
    { ...key, projectKey: "a\\b" },
    { ...key, subpath: "../../up" },
    { ...key, subpath: "/etc/x" },
    { ...key, subpath: "a//b" },
    { ...key, subpath: "a\0" },
    { ...key, sessionId: "x".repeat(300) },
  ])("rejects the key %j", async (bad) => {
    const [store] = await place();
    const failed = await Promise.all([
      rejection(store.append(bad, [entry("a")])),
      rejection(store.load(bad)),
      rejection(store.delete(bad)),
    ]);
    for (const error of failed) expect(typedError(error).code).toBe("ERR_INVALID_ARGUMENT");
  });
}

describe("a session store of the Claude Agent SDK in a directory", () => {
  contract(inDirectory);
});

describe("a session store of the Claude Agent SDK in a store", () => {
  contract(inMemory);
});

describe.skipIf(!hasPostgres())("a session store of the Claude Agent SDK in PostgreSQL", () => {
  let server: DatabaseServer;
  beforeAll(async () => {
    server = await DatabaseServer.start();
  });
  afterAll(() => server.remove());

  contract(async () => {
    const store = await server.store();
    return [claudeSessionStore({ store }), claudeSessionStore({ store })];
  });

  it("has sessions that commands show by their address", async () => {
    const store = await server.store();
    const sessions = claudeSessionStore({ store });
    await sessions.append(key, turn("Why is it red?", "A test fails.", null));
    const [name = ""] = await collected(store.names());
    const { address } = await store.open(name);
    const { out } = await branchlog([
      "turns",
      `${server.url()}${address.slice(address.search(/[?#]/))}`,
    ]);
    expect(out).toContain("Why is it red?");
  });
});

describe("a session store whose answers are lost", () => {
  /** Stores what it is given, and reports it only to the next call. */
  class ForgetfulStore extends ListedMemoryStore {
    fails = false;

    override async open(name: string): Promise<StoredLog> {
      const log = await super.open(name);
      return {
        ...log,
        append: async (expected, bytes) => {
          const answer = await log.append(expected, bytes);
          if (this.fails) throw new BranchlogError("ERR_APPEND_UNCERTAIN", "No answer");
          return answer;
        },
      };
    }
  }

  it("has each entry once after the batch was repeated, also those without a uuid", async () => {
    const store = new ForgetfulStore();
    const sessions = claudeSessionStore({ store });
    const batch = [{ type: "mode" }, entry("a"), { type: "mode" }];
    await sessions.append(key, batch);
    store.fails = true;
    const next = [{ type: "mode" }, entry("b"), { type: "mode" }];
    const error = typedError(await rejection(sessions.append(key, next)));
    expect(error.code).toBe("ERR_APPEND_UNCERTAIN");
    store.fails = false;
    await sessions.append(key, next);
    await sessions.append(key, [{ type: "mode" }]);
    expect(await sessions.load(key)).toEqual([...batch, ...next, { type: "mode" }]);
  });
});

describe("a session store whose database is down", () => {
  it("fails with a code, once for each call", async () => {
    const { postgresStore } = await import("@branchlog/postgres");
    const store = postgresStore("postgres://nobody@127.0.0.1:1/none");
    const sessions = claudeSessionStore({ store });
    for (const call of [
      sessions.append(key, [entry("a")]),
      sessions.load(key),
      sessions.listSessions(key.projectKey),
      sessions.delete(key),
    ]) {
      expect(typedError(await rejection(call)).code).toBe("ERR_STORE_UNAVAILABLE");
    }
    await store.close();
  });
});
