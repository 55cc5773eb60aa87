/** The real Claude Agent SDK mirrors its sessions into a store of ours, and resumes from there. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type * as ClaudeAgentSdk from "@anthropic-ai/claude-agent-sdk";
import type { Options, SessionStore, SessionStoreFlush } from "@anthropic-ai/claude-agent-sdk";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { openSession } from "branchlog";
import type { Session } from "branchlog";
import { claudeSessionStore } from "branchlog/claude";
import { DatabaseServer, hasPostgres } from "../../postgres/database-server.ts";
import { claudeAgentSdk } from "../support/install.ts";
import { messagesServer } from "../support/messages-server.ts";
import { sandbox } from "../support/sandbox.ts";
import type { Sandbox } from "../support/sandbox.ts";

type Sdk = typeof ClaudeAgentSdk;

/** A place for sessions, and how one is opened there without the SDK. */
interface Kept {
  readonly sessionStore: Required<SessionStore>;
  readonly open: (project: string, id: string) => Promise<Session>;
}

function inFiles(directory: string): Kept {
  return {
    sessionStore: claudeSessionStore(directory),
    open: (project, id) => openSession(join(directory, project, `${id}.jsonl`), { access: "read" }),
  };
}

async function inDatabase(database: DatabaseServer): Promise<Kept> {
  const store = await database.store();
  return {
    sessionStore: claudeSessionStore({ store }),
    open: (project, id) => openSession({ store, id: `claude.${project}.${id}`, access: "read" }),
  };
}

/** What it answers, and to which session that belongs. */
async function ask(sdk: Sdk, prompt: string, options: Options) {
  let [sessionId, answer, mirrorErrors] = ["", "", 0];
  for await (const message of sdk.query({ prompt, options })) {
    if (message.type === "system" && message.subtype === "mirror_error") mirrorErrors += 1;
    if (message.type !== "result") continue;
    sessionId = message.session_id;
    // A subagent that ends later is a separate turn.
    if (message.subtype === "success" && answer === "") answer = message.result;
  }
  expect(mirrorErrors).toBe(0);
  return { sessionId, answer };
}

async function mirrorsAndResumes(
  { sessionStore, open }: Kept,
  sessionStoreFlush: SessionStoreFlush,
  place: Sandbox,
): Promise<void> {
  const url = pathToFileURL(join(claudeAgentSdk(), "sdk.mjs")).href;
  const sdk = (await import(url)) as Sdk;
  const { root, cwd } = place;
  const baseUrl = await messagesServer();
  const optionsOn = (machine: string): Options => ({
    cwd,
    model: "claude-sonnet-4-5",
    settingSources: [],
    allowedTools: ["Bash", "Agent"],
    sessionStore,
    sessionStoreFlush,
    env: {
      PATH: process.env["PATH"],
      HOME: root,
      // What the other machine does not have.
      CLAUDE_CONFIG_DIR: join(root, machine),
      ANTHROPIC_BASE_URL: baseUrl,
      ANTHROPIC_API_KEY: "none",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    },
  });
  const asked = await ask(sdk, "please-run: echo from-the-tool", optionsOn("one"));
  expect(asked.answer).toBe("The tool said from-the-tool.");
  const { sessionId } = asked;
  const resumed = await ask(sdk, "Say hello", { ...optionsOn("other"), resume: sessionId });
  expect(resumed).toEqual({ sessionId, answer: "Hello." });

  const listed = await sdk.listSessions({ dir: cwd, sessionStore });
  const firstPrompt = "please-run: echo from-the-tool";
  expect(listed).toMatchObject([{ sessionId, firstPrompt }]);
  const projectKey = cwd.replaceAll(/[^A-Za-z0-9]/g, "-");
  const session = await open(projectKey, sessionId);
  onTestFinished(() => session.close());
  const roles = (await session.context()).messages.map(({ role }) => role);
  expect(roles).toEqual(["user", "assistant", "toolResult", "assistant", "user", "assistant"]);
  const entries = (await sessionStore.load({ projectKey, sessionId })) ?? [];
  const uuids = entries.flatMap(({ uuid }) => uuid ?? []);
  expect(new Set(uuids).size).toBe(uuids.length);

  const { sessionId: other } = await ask(sdk, "please-ask: Count", optionsOn("one"));
  const [subpath = ""] = await sessionStore.listSubkeys({ projectKey, sessionId: other });
  expect(subpath).toMatch(/^subagents\/agent-/);
  const agent = await sessionStore.load({ projectKey, sessionId: other, subpath });
  expect(JSON.stringify(agent)).toContain("Count");
  await sdk.deleteSession(other, { dir: cwd, sessionStore });
  expect(await sessionStore.listSubkeys({ projectKey, sessionId: other })).toEqual([]);
}

it.each(["batched", "eager"] as const)(
  "a session of the Claude Agent SDK in files, %s, is resumed on another machine",
  async (flush) => {
    const place = sandbox();
    await mirrorsAndResumes(inFiles(place.sessions), flush, place);
  },
);

describe.skipIf(!hasPostgres())("in PostgreSQL", () => {
  let server: DatabaseServer;
  beforeAll(async () => {
    server = await DatabaseServer.start();
  });
  afterAll(() => server.remove());

  it("a session of the Claude Agent SDK is resumed on another machine", async () => {
    await mirrorsAndResumes(await inDatabase(server), "batched", sandbox());
  });
});
