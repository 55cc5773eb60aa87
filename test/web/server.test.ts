/** What the server answers, to whom, and what it holds for them. */
import { createHmac } from "node:crypto";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { openSession } from "@branchlog/core";
import type {
  BranchComparison,
  ContextView,
  CostTable,
  EntryView,
  RowPage,
  SearchHitItem,
  SessionFacts,
  SessionItem,
  SessionList,
} from "@branchlog/web";
import { serve } from "@branchlog/web";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { events, testServer } from "./served.ts";

/** For what takes a moment on a machine that has little else to do. */
const loadedMs = 50_000;
import type { Answer, TestServer } from "./served.ts";

function fixture(name: string): string {
  return fileURLToPath(new URL(`../../fixtures/${name}`, import.meta.url));
}

/** A directory with copies of fixtures. */
function sessions(...names: readonly string[]): string {
  const directory = temporaryDirectory();
  for (const name of names) cpSync(fixture(name), join(directory, name.replace(/.*\//, "")));
  return directory;
}

async function itemOf(server: TestServer, name: string): Promise<SessionItem> {
  await vi.waitFor(async () => {
    const { isComplete } = await server.get<SessionList>("/api/sessions");
    expect(isComplete).toBe(true);
  }, loadedMs);
  const list = await server.get<SessionList>("/api/sessions");
  const item = list.sessions.find(({ path }) => path.endsWith(name));
  if (item === undefined) throw new Error(`${name} is not listed`);
  return item;
}

describe("the page's data", () => {
  it("is the list of sessions, and for each the facts, rows with lanes, entries and contexts", async () => {
    const server = await testServer([sessions("pi-branches.jsonl", "claude/branches.jsonl")]);
    const { key, messageCount, agent } = await itemOf(server, "pi-branches.jsonl");
    expect([messageCount, agent]).toEqual([8, "pi"]);
    const facts = await server.get<SessionFacts>(`/api/session/${key}`);
    expect(facts).toMatchObject({ rowCount: 10, leafRow: 9, tree: null });
    const { tree } = await server.get<SessionFacts>(`/api/session/${key}?tree=1`);
    expect(tree).toMatchObject({ tipCount: 3, branchRows: [1] });
    const page = await server.get<RowPage>(`/api/session/${key}/rows?from=1&count=6`);
    expect(page.rows.map(({ row, lanes }) => [row, lanes.lane])).toEqual([
      [1, 0],
      [2, 0],
      [3, 0],
      [4, 0],
      [5, 0],
      [6, 1],
    ]);
    const entry = await server.get<EntryView>(`/api/session/${key}/entry/2`);
    expect(entry).toMatchObject({ parentRow: 1, childRows: [3], row: { text: "Try LRU." } });
    const session = await openSession(fixture("pi-branches.jsonl"), { access: "read" });
    const { messages } = await session.context({ at: "5b2e9d08" });
    const context = await server.get<ContextView>(`/api/session/${key}/context?row=7`);
    expect(context.messages.map(({ role }) => role)).toEqual(messages.map(({ role }) => role));
    const compared = await server.get<BranchComparison>(`/api/session/${key}/compare?from=3&to=8`);
    expect(compared).toMatchObject({
      common: { turnCount: 1, entryCount: 2, turns: [{ row: 0, prompt: "Plan the cache." }] },
      branches: [{ turns: [{ prompt: "Try LRU." }, {}] }, { turnCount: 1 }],
    });
    const place = await server.get(`/api/session/${key}/place?id=5b2e9d03`);
    expect(place).toEqual({ row: 2, id: "5b2e9d03" });
  });

  it("has every entry and context of all fixtures, damaged ones too", async () => {
    const server = await testServer([fixture("")]);
    await itemOf(server, "pi-branches.jsonl");
    const { sessions: all } = await server.get<SessionList>("/api/sessions");
    expect(all.length).toBeGreaterThan(60);
    let entries = 0;
    for (const { key, agent } of all) {
      if (agent === "connectonion") continue;
      const base = `/api/session/${key}`;
      const { rowCount } = await server.get<SessionFacts>(base);
      const { rows } = await server.get<RowPage>(`${base}/rows?from=0&count=500`);
      expect(rows).toHaveLength(Math.min(500, rowCount));
      for (const { row } of rows.slice(0, 40)) {
        const view = await server.get<EntryView>(`${base}/entry/${row}`);
        expect(view.row.isDamaged || view.raw !== "").toBe(true);
        entries += 1;
      }
      expect((await server.get<ContextView>(`${base}/context`)).messages).toBeInstanceOf(Array);
    }
    expect(entries).toBeGreaterThan(600);
    expect(server.counts().openSessions).toBeLessThanOrEqual(13);
  });

  it("reports an entry with a repeated id as hidden by a later one, not as damaged", async () => {
    const directory = sessions("pi-linear.jsonl");
    const path = join(directory, "pi-linear.jsonl");
    const lines = readFileSync(path, "utf8").trimEnd().split("\n");
    appendFileSync(path, `${lines[1] ?? ""}\n`);
    const server = await testServer([directory]);
    const { key } = await itemOf(server, "pi-linear.jsonl");
    const { rows } = await server.get<RowPage>(`/api/session/${key}/rows`);
    const [first] = rows;
    expect(rows).toHaveLength(lines.length);
    expect(first).toMatchObject({ isDamaged: false, text: "(a later entry has the same id)" });
    expect(rows.at(-1)).toMatchObject({ id: first?.id, isDamaged: false });
  });

  it("follows a file that was replaced by one with other branches", async () => {
    const directory = temporaryDirectory();
    const path = join(directory, "replaced.jsonl");
    const text = (parents: readonly (string | null)[]): string => {
      const lines = parents.map((parentId, at) => ({
        type: "message",
        id: `entry-${at}`,
        parentId,
        timestamp: "2026-01-01T00:00:00.000Z",
        message: { role: "user", content: `text ${at}`, timestamp: 1 },
      }));
      const header = { type: "session", version: 3, id: "one", timestamp: "t", cwd: "/" };
      return [header, ...lines].map((line) => `${JSON.stringify(line)}\n`).join("");
    };
    writeFileSync(path, text([null, "entry-0", "entry-1", "entry-2"]));
    const server = await testServer([directory]);
    const { key } = await itemOf(server, "replaced.jsonl");
    const shown = async (): Promise<readonly string[]> => {
      const { rows } = await server.get<RowPage>(`/api/session/${key}/rows`);
      return rows.filter((row) => row.isOnPath).map((row) => row.text);
    };
    expect(await shown()).toEqual(["text 0", "text 1", "text 2", "text 3"]);
    const page = await events(server, `?key=${key}`);
    writeFileSync(`${path}.next`, text([null, "entry-0", "entry-1", "entry-0"]));
    renameSync(`${path}.next`, path);
    await vi.waitFor(async () => expect(await shown()).toEqual(["text 0", "text 3"]), 10_000);
    page.end();
  });

  it("opens with the requested session", async () => {
    const directory = sessions("pi-linear.jsonl");
    const session = join(directory, "pi-linear.jsonl");
    const server = await testServer([directory], { session });
    const { key } = await itemOf(server, "pi-linear.jsonl");
    const { search } = new URL(server.url);
    const { headers } = await server.ask(`/${search}`, { headers: { cookie: server.cookie } });
    expect(headers.location).toBe(`/s/${key}`);
  });

  it("joins calls with their results, in transcripts of other agents as well", async () => {
    const server = await testServer([sessions("claude/conversation.jsonl")]);
    const { key } = await itemOf(server, "conversation.jsonl");
    const { rows } = await server.get<RowPage>(`/api/session/${key}/rows`);
    const call = rows.find(({ role, tools }) => role === "assistant" && tools.length > 0);
    const { blocks } = await server.get<EntryView>(`/api/session/${key}/entry/${call?.row ?? 0}`);
    const [made] = blocks.filter((block) => block.kind === "call");
    const result = await server.get<EntryView>(
      `/api/session/${key}/entry/${made?.result?.row ?? 0}`,
    );
    expect(result.blocks[0]).toMatchObject({ kind: "note", text: made?.result?.text });
  });

  it("has documents of ConnectOnion as sessions", async () => {
    const directory = temporaryDirectory();
    mkdirSync(join(directory, ".co/sessions"), { recursive: true });
    cpSync(fixture("connectonion-ideal.yaml"), join(directory, ".co/sessions/agent.yaml"));
    const server = await testServer([directory]);
    await vi.waitFor(async () => {
      const { sessions: all } = await server.get<SessionList>("/api/sessions");
      expect(all.map(({ agent }) => agent)).toEqual(["connectonion"]);
    }, loadedMs);
    const { key, messageCount } = await itemOf(server, "agent.yaml");
    expect(messageCount).toBeGreaterThan(0);
    const { rows } = await server.get<RowPage>(`/api/session/${key}/rows`);
    expect(rows.filter(({ role }) => role === "user").length).toBeGreaterThan(0);
  });

  it("filters a search by agent, project, kind, role, tool and time", async () => {
    const server = await testServer([sessions("pi-linear.jsonl", "claude/conversation.jsonl")]);
    await itemOf(server, "pi-linear.jsonl");
    const search = async (query: string): Promise<readonly SearchHitItem[]> => {
      const headers = { cookie: server.cookie };
      const { text } = await server.ask(`/api/search?q=e${query}`, { headers });
      const lines = text.trim().split("\n");
      return lines.slice(0, -1).map((line) => JSON.parse(line) as SearchHitItem);
    };
    const all = await search("");
    for (const name of ["agent", "project", "kind", "role", "tool"] as const) {
      const values = new Set(all.flatMap((hit) => hit[name] ?? []));
      expect([name, values.size > 1]).toEqual([name, true]);
      for (const value of values) {
        const found = await search(`&${name}=${encodeURIComponent(value)}`);
        expect(found.length).toBeGreaterThan(0);
        expect(new Set(found.map((hit) => hit[name]?.toLowerCase()))).toEqual(
          new Set([value.toLowerCase()]),
        );
      }
    }
    const times = all.flatMap(({ timeMs }) => timeMs ?? []).toSorted((one, other) => one - other);
    const since = times[Math.floor(times.length / 2)] ?? 0;
    const later = await search(`&since=${since}`);
    expect(later.every(({ timeMs }) => timeMs === null || timeMs >= since)).toBe(true);
    expect(await search("&kind=moon")).toEqual([]);
  });

  it("finds texts, and adds up costs", async () => {
    const server = await testServer([sessions("pi-branches.jsonl", "claude/branches.jsonl")]);
    const { key } = await itemOf(server, "pi-branches.jsonl");
    const asked = await server.ask("/api/search?q=lru", { headers: { cookie: server.cookie } });
    const lines = asked.text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as object);
    expect(lines.at(-1)).toMatchObject({ hits: lines.length - 1 });
    expect(lines).toContainEqual(expect.objectContaining({ key, match: "LRU" }));
    const table = await server.get<CostTable>("/api/costs?by=agent");
    expect(table.rows.map(({ name }) => name).toSorted()).toEqual(["claude", "pi"]);
    expect(table.total.requests).toBeGreaterThan(3);
  });

  it("reports at once appends of another process, and a removed session", async () => {
    const directory = sessions("pi-linear.jsonl");
    const server = await testServer([directory]);
    const { key, path } = await itemOf(server, "pi-linear.jsonl");
    const page = await events(server, `?key=${key}`);
    await page.until((text) => text.includes('"kind":"session"'));
    const { rowCount } = await server.get<SessionFacts>(`/api/session/${key}`);
    const line = '{"type":"custom","id":"new","parentId":null,"timestamp":"t","customType":"x:y"}';
    appendFileSync(path, `${line}\n`);
    await page.until((text) => text.includes(`"rowCount":${rowCount + 1}`));
    await page.until((text) => text.includes('"kind":"sessions"'));
    page.end();
    await vi.waitFor(() => expect(server.counts().listeners).toBe(0), loadedMs);
  });
});

describe("a request is rejected", () => {
  it("without the cookie, with another one, and with a used token", async () => {
    const server = await testServer([sessions("pi-linear.jsonl")]);
    for (const path of ["/", "/api/sessions", "/assets/page.js", "/s/x", "/api/events"]) {
      expect((await server.ask(path)).status).toBe(401);
      const headers = { cookie: `${server.cookie}x` };
      expect((await server.ask(path, { headers })).status).toBe(401);
    }
    const { search } = new URL(server.url);
    const again = await server.ask(`/${search}`);
    expect([again.status, again.headers["set-cookie"]]).toEqual([401, undefined]);
    expect((await server.ask("/?token=guess")).status).toBe(401);
    // The page itself may be loaded again with its old address.
    const own = await server.ask(`/${search}`, { headers: { cookie: server.cookie } });
    expect([own.status, own.headers.location]).toEqual([303, "/"]);
  });

  it("with only the cookie, which browsers also send to other ports of the host", async () => {
    const server = await testServer([sessions("pi-linear.jsonl")]);
    const { host, cookie, pageKey } = server;
    for (const key of ["", "wrong", pageKey.slice(1)]) {
      const headers = { cookie, "x-branchlog-key": key };
      for (const path of ["/api/sessions", "/api/events", "/api/costs", `/api/search?q=a`]) {
        expect([path, (await server.ask(path, { headers })).status]).toEqual([path, 401]);
      }
    }
    // Nor does the cookie open a page that gets the key.
    const again = await server.ask("/?token=any", { headers: { cookie, host } });
    expect([again.status, again.headers.location]).toEqual([303, "/"]);
    const used = new URL(server.url).search;
    expect((await server.ask(`/${used}`, { headers: { cookie } })).headers.location).toBe("/");
    const streamed = await events({ ...server, pageKey: "" }, `?page=${pageKey}`);
    await streamed.until((text) => text.includes("retry:"));
    streamed.end();
  });

  it("with anything derived from the address, or from another user's token", async () => {
    const token = "a token of the user";
    const server = await testServer([sessions("pi-linear.jsonl")], { token });
    const { searchParams } = new URL(server.url);
    expect(searchParams.get("token")).not.toContain(token);
    const given = searchParams.get("token") ?? "";
    const made = createHmac("sha256", given).update("cookie").digest("base64url");
    const name = server.cookie.split("=")[0] ?? "";
    const answer = await server.ask("/api/sessions", { headers: { cookie: `${name}=${made}` } });
    expect(answer.status).toBe(401);
  });

  it("as HEAD, which would leave a stream open", async () => {
    const server = await testServer([sessions("pi-linear.jsonl")]);
    for (const path of ["/", "/api/events", "/api/search?q=w", "/api/sessions"]) {
      const headers = { cookie: server.cookie };
      expect((await server.ask(path, { method: "HEAD", headers })).status).toBe(405);
    }
    expect(server.counts().listeners).toBe(0);
  });

  it("for another host, from another origin, and from another site", async () => {
    const server = await testServer([sessions("pi-linear.jsonl")]);
    const { cookie, port } = server;
    const wrong: readonly Readonly<Record<string, string>>[] = [
      { host: "evil.example" },
      { host: `evil.example:${port}` },
      { host: "127.0.0.1" },
      { host: `127.0.0.1:${port + 1}` },
      { origin: "http://evil.example" },
      { origin: "null" },
      { origin: `http://127.0.0.1:${port + 1}` },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
    ];
    for (const headers of wrong) {
      for (const path of ["/api/sessions", "/api/events", "/"]) {
        const answer = await server.ask(path, { headers: { cookie, ...headers } });
        expect([answer.status, headers]).toEqual([403, headers]);
      }
    }
    const { search } = new URL(server.url);
    const rebound = await server.ask(`/${search}`, { headers: { host: "evil.example", cookie } });
    expect(rebound.status).toBe(403);
    const named = await server.ask("/api/sessions", {
      headers: { cookie, host: `localhost:${port}`, origin: `http://localhost:${port}` },
    });
    expect(named.status).toBe(200);
    expect(named.headers["access-control-allow-origin"]).toBeUndefined();
  });

  it("for anything but sessions of the list", async () => {
    const server = await testServer([sessions("pi-linear.jsonl")]);
    const headers = { cookie: server.cookie };
    const secret = join(temporaryDirectory(), "secret.js");
    writeFileSync(secret, "a secret");
    for (const path of [
      "/api/session/..%2f..%2fetc%2fpasswd",
      `/api/session/${encodeURIComponent(secret)}`,
      "/api/session/x/rows",
      "/api/session/x/entry/0",
      "/api/nothing",
    ]) {
      const answer = await server.ask(path, { headers });
      expect([path, answer.status]).toEqual([path, 404]);
    }
    for (const path of [
      "/../../../../etc/passwd",
      "/%2e%2e/%2e%2e/package.json",
      "/..%5c..%5cpackage.json",
      "/assets/../../package.json",
      `/${secret}`,
    ]) {
      const { status, text } = await server.ask(path, { headers });
      expect(status).toBe(200);
      expect(text).toBe(readFileSync(join(assets, "index.html"), "utf8"));
    }
    const { key } = await itemOf(server, "pi-linear.jsonl");
    for (const path of ["entry/x", "entry/-1", "entry/1e9", "rows?from=x", "compare?from=1"]) {
      const { status } = await server.ask(`/api/session/${key}/${path}`, { headers });
      expect([path, status]).toEqual([path, 400]);
    }
    expect((await server.ask(`/api/session/${key}/entry/99`, { headers })).status).toBe(404);
    expect((await server.ask("/api/search?q=(&regex=1", { headers })).text).toContain("ERR_");
  });

  it("if it archives without permission, and restores only sessions archived there", async () => {
    const directory = sessions("pi-linear.jsonl", "pi-branches.jsonl");
    vi.stubEnv("BRANCHLOG_DATA_DIR", temporaryDirectory());
    onTestFinished(() => void vi.unstubAllEnvs());
    const hourAgo = new Date(Date.now() - 3_600_000);
    utimesSync(join(directory, "pi-linear.jsonl"), hourAgo, hourAgo);
    const server = await testServer([directory], { write: true });
    const { key } = await itemOf(server, "pi-linear.jsonl");
    const post = async (body: object, to = server, more: object = {}): Promise<Answer> => {
      const headers = { cookie: to.cookie, origin: `http://${to.host}`, ...more };
      const text = JSON.stringify(body);
      return to.ask("/api/archive", { method: "POST", headers, body: text });
    };
    const page = { "x-branchlog": "1" };
    const wanted = { kind: "archive", keys: [key] };
    expect((await post(wanted)).status).toBe(403);
    const reading = await testServer([directory]);
    expect((await post(wanted, reading, page)).status).toBe(403);
    for (const wrong of [{}, { kind: "rm", keys: [key] }, { kind: "archive", keys: [] }]) {
      expect((await post(wrong, server, page)).status).toBe(400);
    }
    expect((await post({ kind: "archive", keys: ["none"] }, server, page)).status).toBe(404);
    expect(JSON.parse((await post(wanted, server, page)).text)).toMatchObject({ done: 1 });
    expect(existsSync(join(directory, "pi-linear.jsonl"))).toBe(false);
    const elsewhere = await testServer([temporaryDirectory()], { write: true });
    const restore = { kind: "restore", keys: [key] };
    expect(await elsewhere.get("/api/archived")).toEqual({ sessions: [] });
    expect(JSON.parse((await post(restore, elsewhere, page)).text)).toMatchObject({ done: 0 });
    expect(await server.get("/api/archived")).toMatchObject({
      sessions: [{ key, isArchived: true, cwd: expect.any(String) as unknown }],
    });
    expect(JSON.parse((await post(restore, server, page)).text)).toMatchObject({ done: 1 });
    expect(existsSync(join(directory, "pi-linear.jsonl"))).toBe(true);
  });

  it("if it changes a session of a read-only server, or does not come from the page", async () => {
    const directory = sessions("pi-linear.jsonl");
    const reading = await testServer([directory]);
    const { key } = await itemOf(reading, "pi-linear.jsonl");
    const body = JSON.stringify({ kind: "name", name: "New" });
    const path = `/api/session/${key}/change`;
    const own = { "x-branchlog": "1", "content-type": "application/json" };
    const from = ({ host, cookie }: TestServer): Readonly<Record<string, string>> => ({
      ...own,
      cookie,
      origin: `http://${host}`,
    });
    const refused = await reading.ask(path, { method: "POST", headers: from(reading), body });
    expect(refused.status).toBe(403);
    const writing = await testServer([directory], { write: true });
    await itemOf(writing, "pi-linear.jsonl");
    const { origin: _origin, ...withoutOrigin } = from(writing);
    const { "x-branchlog": _header, ...withoutHeader } = from(writing);
    for (const headers of [withoutOrigin, withoutHeader]) {
      expect((await writing.ask(path, { method: "POST", headers, body })).status).toBe(403);
    }
    for (const wrong of ["", "{}", "[]", '{"kind":"label"}', '{"kind":"rm"}']) {
      const answer = await writing.ask(path, {
        method: "POST",
        headers: from(writing),
        body: wrong,
      });
      expect([wrong, answer.status]).toEqual([wrong, 400]);
    }
    const done = await writing.ask(path, { method: "POST", headers: from(writing), body });
    expect(done.status).toBe(200);
    const session = await openSession(join(directory, "pi-linear.jsonl"), { access: "read" });
    expect(session.name).toBe("New");
  });
});

const assets = fileURLToPath(new URL("../../packages/web/assets/", import.meta.url));

describe("every answer", () => {
  it("runs only the page's own files, and is not cached", async () => {
    const server = await testServer([sessions("pi-linear.jsonl")]);
    for (const path of [
      "/",
      "/api/sessions",
      "/api/nothing",
      "/assets/page.js",
      "/api/session/x",
    ]) {
      for (const headers of [{ cookie: server.cookie }, { cookie: "" }]) {
        const answer = await server.ask(path, { headers });
        const policy = answer.headers["content-security-policy"] ?? "";
        expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
        expect(policy).toContain("require-trusted-types-for 'script'");
        expect(policy).not.toContain("unsafe");
        expect(answer.headers["x-content-type-options"]).toBe("nosniff");
        expect(answer.headers["referrer-policy"]).toBe("no-referrer");
        expect(answer.headers["cache-control"]).toBe("no-store");
      }
    }
    const html = await server.ask("/s/anything", { headers: { cookie: server.cookie } });
    expect(html.text).not.toMatch(/<script(?![^>]*src=)|<style|style=|\son\w+=|https?:/i);
  });

  it("has hostile text only as JSON", async () => {
    const evil = "</script><img src=x onerror=alert(1)>\u2028\u0000<!--";
    const directory = temporaryDirectory();
    const header = { type: "session", version: 3, id: "evil", timestamp: "t", cwd: evil };
    const content = [{ type: "text", text: evil }];
    const message = { role: "user", content, timestamp: 1 };
    const entry = { type: "message", id: evil, parentId: null, timestamp: evil, message };
    const name = { type: "session_info", id: "n", parentId: evil, timestamp: "t", name: evil };
    const label = {
      type: "label",
      id: "l",
      parentId: "n",
      timestamp: "t",
      targetId: evil,
      label: evil,
    };
    const lines = [header, entry, name, label].map((one) => `${JSON.stringify(one)}\n`);
    writeFileSync(join(directory, "evil.jsonl"), lines.join(""));
    const server = await testServer([directory]);
    const { key } = await itemOf(server, "evil.jsonl");
    for (const path of ["", "/rows", "/entry/0", "/context"]) {
      const headers = { cookie: server.cookie };
      const answer = await server.ask(`/api/session/${key}${path}`, { headers });
      expect([path, answer.status]).toEqual([path, 200]);
      expect(answer.headers["content-type"]).toMatch(/^application\/json/);
      expect(() => JSON.parse(answer.text) as unknown).not.toThrow();
    }
  });
});

describe("the server", () => {
  it("listens on no network address without a user's token", async () => {
    for (const host of ["0.0.0.0", "::", "192.0.2.1"]) {
      await expect(serve({ place: [], host })).rejects.toMatchObject({
        code: "ERR_INVALID_ARGUMENT",
        message: expect.stringContaining("BRANCHLOG_TOKEN") as unknown,
      });
    }
    const short = serve({ place: [], token: "short" });
    await expect(short).rejects.toMatchObject({ code: "ERR_INVALID_ARGUMENT" });
  });

  it.skipIf(!existsSync("/proc/self/fd"))(
    "closes replaced or removed files, also without viewers",
    async () => {
      const directory = temporaryDirectory();
      const names = Array.from({ length: 6 }, (_, at) => `${at}.jsonl`);
      const put = (name: string, text: string): void => {
        const header = { type: "session", version: 3, id: name, timestamp: "t", cwd: "/" };
        const message = { role: "user", content: text, timestamp: 1 };
        const entry = { type: "message", id: "e", parentId: null, timestamp: "t", message };
        const lines = `${JSON.stringify(header)}\n${JSON.stringify(entry)}\n`;
        writeFileSync(join(directory, `${name}.next`), lines);
        renameSync(join(directory, `${name}.next`), join(directory, name));
      };
      for (const name of names) put(name, "before");
      const server = await testServer([directory]);
      const keys: string[] = [];
      for (const name of names) keys.push((await itemOf(server, name)).key);
      const textOf = async (key: string): Promise<string | undefined> =>
        (await server.get<RowPage>(`/api/session/${key}/rows`)).rows[0]?.text;
      for (const key of keys) expect(await textOf(key)).toBe("before");
      const [watched = ""] = keys;
      const page = await events(server, `?key=${watched}`);
      for (const name of names.slice(0, 4)) put(name, "after");
      for (const name of names.slice(4)) unlinkSync(join(directory, name));
      const deleted = (): readonly string[] =>
        readdirSync("/proc/self/fd").flatMap((name) => {
          try {
            const target = readlinkSync(`/proc/self/fd/${name}`);
            return target.startsWith(directory) && target.endsWith("(deleted)") ? [target] : [];
          } catch {
            return [];
          }
        });
      await vi.waitFor(async () => expect(await textOf(watched)).toBe("after"), 20_000);
      await vi.waitFor(() => expect(deleted()).toEqual([]), 20_000);
      page.end();
    },
    loadedMs,
  );

  it.skipIf(!existsSync("/proc/self/fd"))("closes files of aborted searches", async () => {
    const directory = temporaryDirectory();
    for (let at = 0; at < 5; at += 1) {
      cpSync(fixture("pi-linear.jsonl"), join(directory, `${at}.jsonl`));
      const entry = (id: number): string =>
        `{"type":"message","id":"m${id}","parentId":null,"timestamp":"t",` +
        `"message":{"role":"user","content":"needle ${"x".repeat(2000)}","timestamp":1}}\n`;
      const lines = Array.from({ length: 400 }, (_, id) => entry(id));
      appendFileSync(join(directory, `${at}.jsonl`), lines.join(""));
    }
    const server = await testServer([directory]);
    await itemOf(server, "4.jsonl");
    const openFiles = (): number => readdirSync("/proc/self/fd").length;
    const before = openFiles();
    for (let at = 0; at < 20; at += 1) {
      const ending = new AbortController();
      const { host, cookie, pageKey } = server;
      const headers = { cookie, "x-branchlog-key": pageKey };
      const url = `http://${host}/api/search?q=needle`;
      const { body } = await fetch(url, { headers, signal: ending.signal });
      await body?.getReader().read();
      ending.abort();
    }
    await vi.waitFor(() => expect(openFiles()).toBeLessThan(before + 10), 50_000);
  });

  it("reports that its port is in use", async () => {
    const { port } = await testServer([sessions("pi-linear.jsonl")]);
    await expect(serve({ place: [], port })).rejects.toMatchObject({ code: "ERR_SERVE_FAILED" });
  });

  it("serves 50 pages at once, and keeps nothing after they close", async () => {
    const directory = sessions("pi-linear.jsonl");
    const server = await testServer([directory]);
    const { key, path } = await itemOf(server, "pi-linear.jsonl");
    const pages = await Promise.all(
      Array.from({ length: 50 }, () => events(server, `?key=${key}`)),
    );
    for (const page of pages) await page.until((text) => text.includes('"kind":"session"'));
    const session = await openSession(path);
    const { revision } = await session.append({ type: "custom", customType: "x:y" });
    await session.close();
    for (const page of pages) {
      await page.until((text) => text.includes(`"rowCount":${revision}`));
      page.end();
    }
    await vi.waitFor(() => expect(server.counts()).toMatchObject({ listeners: 0 }), loadedMs);
  });

  it("merges events that a slow page does not read", async () => {
    const directory = sessions("pi-linear.jsonl");
    const server = await testServer([directory]);
    const { key, path } = await itemOf(server, "pi-linear.jsonl");
    const slow = await events(server, `?key=${key}`, true);
    const fast = await events(server, `?key=${key}`);
    const before = process.memoryUsage().arrayBuffers;
    const session = await openSession(path);
    const text = "x".repeat(10_000);
    for (let n = 0; n < 300; n += 1)
      await session.append({ type: "custom", customType: "x:y", data: text });
    const { revision } = session;
    await session.close();
    await fast.until((all) => all.includes(`"rowCount":${revision}`));
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(50_000_000);
    expect(fast.text().length).toBeLessThan(1_000_000);
    slow.end();
    fast.end();
    await vi.waitFor(() => expect(server.counts()).toMatchObject({ listeners: 0 }), loadedMs);
  });
});
