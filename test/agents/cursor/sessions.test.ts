/** Transcripts of Cursor, rewritten from what others report about them. */
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { agentNamed } from "@branchlog/core/rows";
import { archiveSessions, findSessions, knownPlaces } from "@branchlog/library";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { fixturePath, messagesOf, promptsOf, readSession } from "../read-session.ts";

const id = "5a1b2c3d-0000-4000-8000-000000000001";
const childId = "5a1b2c3d-0000-4000-8000-000000000002";

afterEach(() => {
  vi.unstubAllEnvs();
});

describe("a transcript of Cursor", () => {
  it("has prompts, and answers without the markers of removed thoughts", async () => {
    const { path } = await readSession("cursor/transcript-2026-07.jsonl");
    expect(promptsOf(path)).toEqual([
      "What is in the shop?",
      "Change the first rate to 7, and have another agent check it.",
      "Go on.",
    ]);
    const answers = messagesOf(path, "assistant").map(({ message }): unknown =>
      Reflect.get(message, "content"),
    );
    expect(answers.slice(0, 2)).toMatchObject([
      [
        { type: "text", text: "I look at the files." },
        { type: "toolCall", id: "line:2:1", name: "Shell" },
        { type: "toolCall", id: "line:2:2", name: "Read" },
      ],
      [{ type: "toolCall", id: "line:3:1", name: "Grep" }],
    ]);
    expect(JSON.stringify(answers)).not.toContain("REDACTED");
  });

  it.each([
    ["Tuesday, Jul 21, 2026, 1:11 PM (UTC+3)", "2026-07-21T10:11:00.000Z"],
    ["Sunday, Aug 2, 2026, 12:05 AM (UTC-7)", "2026-08-02T07:05:00.000Z"],
    ["Friday, January 2, 2026, 12:30 PM (UTC)", "2026-01-02T12:30:00.000Z"],
    ["Friday, Jan 2, 2026, 9:30 AM (UTC+5:30)", "2026-01-02T04:00:00.000Z"],
    ["soon", ""],
  ])("has its start time from %j", async (said, timestamp) => {
    const text = `<timestamp>${said}</timestamp>\n<user_query>\nHow are you?\n</user_query>`;
    const record = { role: "user", message: { content: [{ type: "text", text }] } };
    const path = join(temporaryDirectory(), `${id}.jsonl`);
    writeFileSync(path, `${JSON.stringify(record)}\n`);
    const { sessions } = await findSessions([dirname(path)], { catalog: "off" });
    expect(sessions.map(({ header, summary }) => [header.timestamp, summary.firstMessage])).toEqual(
      [[timestamp, "How are you?"]],
    );
  });

  it("is listed in its trusted directory, with its subagents below it, and archived with them", async () => {
    const home = temporaryDirectory();
    vi.stubEnv("HOME", home);
    vi.stubEnv("USERPROFILE", home);
    const projects = join(home, ".cursor", "projects");
    const project = join(projects, "home-dev-shop");
    const path = join(project, "agent-transcripts", id, `${id}.jsonl`);
    const child = join(dirname(path), "subagents", `${childId}.jsonl`);
    mkdirSync(dirname(child), { recursive: true });
    copyFileSync(fixturePath("cursor/transcript-2026-07.jsonl"), path);
    copyFileSync(fixturePath("cursor/transcript-2026-07-agent.jsonl"), child);
    expect(knownPlaces()).toContain(projects);
    const cwds = async (): Promise<readonly string[]> => {
      const { sessions } = await findSessions([projects], { artifacts: true });
      expect(sessions.map(({ header, transcript }) => [header.id, transcript])).toEqual([
        [id, { of: "cursor", isSubagent: false }],
        [childId, { of: "cursor", isSubagent: true }],
      ]);
      expect(sessions[1]?.header.parentSession).toBe(id);
      return sessions.map(({ header }) => header.cwd);
    };
    expect(await cwds()).toEqual(["", ""]);
    const trusted = JSON.stringify({ workspacePath: "/home/dev/shop" });
    writeFileSync(join(project, ".workspace-trusted"), trusted);
    expect(await cwds()).toEqual(["/home/dev/shop", "/home/dev/shop"]);
    expect(agentNamed("cursor")?.resume({ id, path })).toEqual(["cursor-agent", `--resume=${id}`]);
    const options = { dataDir: temporaryDirectory(), force: true };
    expect((await archiveSessions([path], options)).failures).toEqual([]);
    expect([path, child].filter((file) => existsSync(file))).toEqual([]);
  });
});
