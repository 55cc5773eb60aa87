/** The real Claude Agent SDK mirrors its sessions into a store of ours, and resumes from there. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import type * as ClaudeAgentSdk from "@anthropic-ai/claude-agent-sdk";
import type { Options } from "@anthropic-ai/claude-agent-sdk";
import { openSession } from "branchlog";
import { claudeSessionStore } from "branchlog/claude";
import { claudeAgentSdk } from "../support/install.ts";
import { messagesServer } from "../support/messages-server.ts";
import { sandbox } from "../support/sandbox.ts";

type Sdk = typeof ClaudeAgentSdk;

/** What it answers, and to which session that belongs. */
async function ask(sdk: Sdk, prompt: string, options: Options) {
  let [sessionId, answer, mirrorErrors] = ["", "", 0];
  for await (const message of sdk.query({ prompt, options })) {
    if (message.type === "system" && message.subtype === "mirror_error") mirrorErrors += 1;
    if (message.type !== "result") continue;
    sessionId = message.session_id;
    if (message.subtype === "success") answer = message.result;
  }
  expect(mirrorErrors).toBe(0);
  return { sessionId, answer };
}

it.each(["batched", "eager"] as const)(
  "a session of the Claude Agent SDK is mirrored %s, and resumed on a machine without its files",
  async (sessionStoreFlush) => {
    const url = pathToFileURL(join(claudeAgentSdk(), "sdk.mjs")).href;
    const sdk = (await import(url)) as Sdk;
    const place = sandbox();
    const sessionStore = claudeSessionStore(place.sessions);
    const baseUrl = await messagesServer();
    const optionsOn = (machine: string): Options => ({
      cwd: place.cwd,
      model: "claude-sonnet-4-5",
      settingSources: [],
      allowedTools: ["Bash"],
      sessionStore,
      sessionStoreFlush,
      env: {
        PATH: process.env["PATH"],
        HOME: place.root,
        CLAUDE_CONFIG_DIR: join(place.root, machine),
        ANTHROPIC_BASE_URL: baseUrl,
        ANTHROPIC_API_KEY: "none",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      },
    });
    const asked = await ask(sdk, "please-run: echo from-the-tool", optionsOn("one"));
    expect(asked.answer).toBe("The tool said from-the-tool.");
    const resume = { ...optionsOn("other"), resume: asked.sessionId };
    const resumed = await ask(sdk, "Say hello", resume);
    expect(resumed).toEqual({ sessionId: asked.sessionId, answer: "Hello." });

    const listed = await sdk.listSessions({ dir: place.cwd, sessionStore });
    expect(listed).toMatchObject([
      { sessionId: asked.sessionId, firstPrompt: "please-run: echo from-the-tool" },
    ]);
    const project = place.cwd.replaceAll(/[^A-Za-z0-9]/g, "-");
    const session = await openSession(join(place.sessions, project, `${asked.sessionId}.jsonl`), {
      access: "read",
    });
    onTestFinished(() => session.close());
    const { messages } = await session.context();
    const roles = messages.map(({ role }) => role);
    expect(roles).toEqual(["user", "assistant", "toolResult", "assistant", "user", "assistant"]);
    const key = { projectKey: project, sessionId: asked.sessionId };
    const uuids = ((await sessionStore.load(key)) ?? []).flatMap(({ uuid }) => uuid ?? []);
    expect(new Set(uuids).size).toBe(uuids.length);
  },
);
