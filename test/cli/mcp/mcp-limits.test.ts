/** What the tools of `branchlog mcp` never show: secrets, and sessions of other projects. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SessionReader } from "../../../packages/cli/src/mcp/session-reader.ts";
import { SessionScope } from "../../../packages/cli/src/mcp/session-scope.ts";
import { plantedSecrets } from "../../support/planted-secrets.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { answered, asked, callTool, everyPage, listIn, mcpClient } from "./mcp-client.ts";
import { texts, writeSession } from "./mcp-client.ts";

const token = `ghp_${"0123456789abcdefABCDEF".repeat(2).slice(0, 36)}`;

describe("secrets", () => {
  it("are replaced in titles, directories, hits, turns, contexts and failures", async () => {
    const directory = temporaryDirectory();
    const drafts = [
      asked(`Use ${token} to deploy`),
      answered(`I use ${token}.`),
      { type: "session_info", name: `Deploy with ${token}` },
    ];
    writeSession(directory, { id: "s1", cwd: `/work/${token}`, drafts });
    const client = await mcpClient([directory]);
    const calls = [
      ["list_sessions", {}],
      ["search_sessions", { query: "deploy" }],
      ["search_sessions", { query: "I use" }],
      ["read_session", { session: "s1", full: true }],
      ["session_context", { session: "s1" }],
      ["read_session", { session: "deploy with" }],
      ["read_session", { session: token }],
    ] as const;
    for (const [name, given] of calls) {
      const { text, data } = await callTool(client, name, given);
      expect(`${text}${JSON.stringify(data)}`).not.toContain(token.slice(4, 12));
      expect(text).toContain("[redacted: github-token");
    }
  });

  it("are replaced in the whole session when their name is in one place", async () => {
    const directory = temporaryDirectory();
    const drafts = [asked("It is q7w8e9r0tyui."), answered("API_TOKEN=q7w8e9r0tyui")];
    writeSession(directory, { id: "s1", drafts });
    const client = await mcpClient([directory]);
    const read = await callTool(client, "read_session", { session: "s1", turns: 1 });
    expect(read.text).toContain("user: It is [redacted: secret-value 1].");
    const found = await callTool(client, "search_sessions", { query: "It is" });
    expect(found.text).toContain("[redacted: secret-value 1]");
    expect(found.text).not.toContain("q7w8");
  });

  it("are found by no search, completely or in part, and by no title", async () => {
    const directory = temporaryDirectory();
    const planted = plantedSecrets().filter(({ secrets }) =>
      secrets.every((one) => one.length > 8),
    );
    for (const [place, { text }] of planted.entries()) {
      writeSession(directory, { id: `s${place}`, drafts: [asked(text)] });
    }
    const client = await mcpClient([directory]);
    for (const { secrets } of planted) {
      const [secret = ""] = secrets;
      for (const query of [secret, secret.slice(0, -1), secret.slice(4)]) {
        for (const name of ["search_sessions", "list_sessions"]) {
          const { data } = await callTool(client, name, { query });
          const found = listIn(data, "sessions");
          expect(JSON.stringify(found)).not.toContain(query);
        }
      }
    }
  });

  it("are not in a cursor, however often they occur", async () => {
    const directory = temporaryDirectory();
    const drafts = Array.from({ length: 60 }, () => asked(`Use ${token}`));
    writeSession(directory, { id: "s1", drafts });
    const client = await mcpClient([directory]);
    for (const query of [token.slice(0, 9), token, "ghp_zzz"]) {
      for (const given of [{ query }, { query, session: "s1" }]) {
        const { data } = await callTool(client, "search_sessions", given);
        expect(data).toEqual({ sessions: [] });
      }
    }
  });

  it("are not partly shown at the end of a page", async () => {
    const directory = temporaryDirectory();
    const text = `${"x ".repeat(90)}${token} ${"y ".repeat(80)}`;
    writeSession(directory, { id: "s1", drafts: [asked(text), answered(text)] });
    for (const max of [200, 205, 210, 215, 220, 230, 240]) {
      const given = { session: "s1", max_characters: max };
      const pages = await everyPage([directory], "read_session", given);
      const shown = pages.flatMap(({ data }) => texts(listIn(data, "turns"), "text")).join("");
      expect(shown).not.toContain("ghp_");
      expect(shown.match(/\[redacted: github-token 1\]/gu)).toHaveLength(2);
    }
  });

  it("are shown when requested on the command line", async () => {
    const directory = temporaryDirectory();
    writeSession(directory, { id: "s1", drafts: [asked(`Use ${token}`)] });
    const client = await mcpClient([directory], { redacts: false });
    const read = await callTool(client, "read_session", { session: "s1" });
    expect(read.text).toContain(token);
  });
});

describe("a limit to a project", () => {
  let home: string;
  let sessions: string;
  let client: Client;
  const others = ["other", "beside", "above", "linked", "climbing", "without"];

  beforeEach(async () => {
    home = temporaryDirectory();
    sessions = join(home, "sessions");
    for (const name of ["app", "app/sub", "app2", "secret", "sessions"])
      mkdirSync(join(home, name));
    symlinkSync(join(home, "secret"), join(home, "app", "link"));
    symlinkSync(join(home, "app"), join(home, "alias"));
    const write = (id: string, cwd: string): string =>
      writeSession(sessions, { id, cwd, drafts: [asked(`The plan of ${id}`)] });
    write("inside", join(home, "app"));
    write("below", join(home, "app/sub"));
    write("gone", join(home, "app/was/removed"));
    write("aliased", join(home, "alias"));
    write("other", join(home, "secret"));
    write("beside", join(home, "app2"));
    write("above", home);
    write("linked", join(home, "app/link"));
    write("climbing", `${home}/app/../secret`);
    write("without", "");
    client = await mcpClient([sessions], { project: join(home, "app") });
  });

  const inside = ["aliased", "below", "gone", "inside"];

  it("lists, counts and searches only the sessions of that directory", async () => {
    const listed = await callTool(client, "list_sessions", {});
    expect(texts(listIn(listed.data, "sessions"), "session").toSorted()).toEqual(inside);
    expect(listed.data).toMatchObject({ total: inside.length });
    const totals: (number | undefined)[] = [];
    const seen: unknown[] = [];
    const onListed = (progress: unknown): void => {
      seen.push(progress);
    };
    await callTool(client, "list_sessions", {}, { onprogress: onListed });
    expect(seen).toEqual([]);
    const onprogress = ({ total }: { readonly total?: number | undefined }): void => {
      totals.push(total);
    };
    const found = await callTool(client, "search_sessions", { query: "plan" }, { onprogress });
    expect(texts(listIn(found.data, "sessions"), "session").toSorted()).toEqual(inside);
    expect(new Set(totals)).toEqual(new Set([inside.length]));
    for (const project of [home, join(home, "secret"), "secret", "..", "/", "../secret"]) {
      const narrowed = await callTool(client, "list_sessions", { project });
      const shown = texts(listIn(narrowed.data, "sessions"), "session");
      expect(shown.filter((id) => !inside.includes(id))).toEqual([]);
    }
  });

  it("opens no other session by its id, its path, a link or an indirect path", async () => {
    symlinkSync(join(sessions, "other.jsonl"), join(home, "app", "inside.jsonl"));
    writeFileSync(join(home, "notes.jsonl"), "not a session of this place");
    const ways = others.flatMap((id) => [id, id.slice(0, 4), join(sessions, `${id}.jsonl`)]);
    const paths = [
      join(home, "app", "inside.jsonl"),
      join(home, "notes.jsonl"),
      `${sessions}/../sessions/other.jsonl`,
      `${sessions}/inside.jsonl/../other.jsonl`,
      "/etc/passwd",
      "The plan of other",
    ];
    for (const session of [...ways, ...paths]) {
      for (const name of ["read_session", "session_context", "search_sessions"]) {
        const given = { session, query: "plan" };
        const { isError, text, data } = await callTool(client, name, given);
        expect([session, name, isError, data]).toEqual([session, name, true, undefined]);
        // It is not said whether there is one.
        expect(text.replace(session, "…")).toMatch(/^No session has the id, name or path …\./u);
      }
    }
    const read = await callTool(client, "read_session", { session: join(sessions, "below.jsonl") });
    expect(read.data).toMatchObject({ about: { session: "below" } });
  });

  it("names no other session in a failure", async () => {
    const failures = await Promise.all(
      ["", "o", "the", "besid", "inside2", "e"].map((session) =>
        callTool(client, "read_session", { session }),
      ),
    );
    for (const { text } of failures) {
      for (const id of others) expect(text).not.toContain(`${id} `);
    }
  });

  it("is checked again when a session is opened", async () => {
    const scope = new SessionScope({ places: [sessions], project: join(home, "app") });
    const reader = new SessionReader(scope, true);
    const { signal } = new AbortController();
    const path = join(sessions, "other.jsonl");
    const reading = reader.read({ path }, signal, ({ session }) => Promise.resolve(session.name));
    await expect(reading).rejects.toThrow("no longer exists");
  });
});
