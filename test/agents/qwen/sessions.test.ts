/** Sessions of Qwen Code as three of its versions wrote them, with a model that answers by a script. */
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { agentNamed } from "@branchlog/core/rows";
import { archiveSessions, findSessions, knownPlaces } from "@branchlog/library";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { fixturePath, promptsOf, readSession, toolsOf } from "../read-session.ts";
import type { StoredTokens } from "../read-session.ts";

interface StoredRecord {
  readonly systemPayload?: {
    readonly uiEvent?: {
      readonly "event.name": string;
      readonly input_token_count: number;
      readonly output_token_count: number;
    };
  };
}

/** By other means than ours: of each request of the session and of its subagents. */
function storedTokens(fixture: string): StoredTokens {
  const lines = readFileSync(fixturePath(fixture), "utf8").trimEnd().split("\n");
  const events = lines.map((line) => (JSON.parse(line) as StoredRecord).systemPayload?.uiEvent);
  const responses = events.filter((event) => event?.["event.name"] === "qwen-code.api_response");
  return {
    input: responses.reduce((sum, event) => sum + (event?.input_token_count ?? 0), 0),
    output: responses.reduce((sum, event) => sum + (event?.output_token_count ?? 0), 0),
  };
}

afterEach(() => {
  vi.unstubAllEnvs();
});

describe("a session of Qwen Code", () => {
  it.each(["qwen/qwen-0.15.10.jsonl", "qwen/qwen-0.24.4.jsonl"])(
    "counts each token once, by the requests recorded by %s",
    async (fixture) => {
      const { tokens } = await readSession(fixture);
      expect(tokens).toEqual(storedTokens(fixture));
      expect(tokens.input).toBeGreaterThan(0);
    },
  );

  it("has prompts without reminders, results, a compaction, and the name", async () => {
    const { path, name } = await readSession("qwen/qwen-0.24.4.jsonl");
    const prompts = promptsOf(path);
    expect(prompts.map((prompt) => prompt.slice(0, 20))).toEqual([
      "list: which files ar",
      "change: raise the ra",
      "both: say it",
      "delegate: where are ",
      "view: the rate  ake ",
      "list: files again",
      "and now what",
    ]);
    const tools = ["run_shell_command", "edit", "run_shell_command", "run_shell_command", "agent"];
    expect(toolsOf(path)).toEqual([...tools, "read_file", "run_shell_command"]);
    const [compaction] = path.filter(({ type }) => type === "compaction");
    expect(compaction).toMatchObject({ tokensBefore: 24_591 });
    expect(name).toBe("Rates of the shop");
  });

  it("is listed with its subagents below it, and not by Claude Code", async () => {
    const home = temporaryDirectory();
    vi.stubEnv("QWEN_HOME", home);
    const id = "1137f3dd-1132-482f-b210-7f3e511d0b2d";
    const project = join(home, "projects", "-home-dev-shop");
    const below = join(project, "subagents", id);
    mkdirSync(join(project, "chats"), { recursive: true });
    mkdirSync(below, { recursive: true });
    copyFileSync(fixturePath("qwen/qwen-0.24.4.jsonl"), join(project, "chats", `${id}.jsonl`));
    const agentName = "agent-general-purpose-call_7_0.jsonl";
    copyFileSync(fixturePath("qwen/qwen-0.24.4-agent.jsonl"), join(below, agentName));
    const places = [join(home, "projects")];
    expect(knownPlaces()).toContain(places[0]);
    const { sessions } = await findSessions(places, { artifacts: true, catalog: "off" });
    const facts = sessions.map(({ header, transcript, usage }) => ({
      id: header.id,
      parent: header.parentSession,
      of: transcript?.of,
      isSubagent: transcript?.isSubagent,
      tokens: usage?.total.totalTokens,
    }));
    expect(facts).toContainEqual({
      id: `${id}.general-purpose-call_7_0`,
      parent: id,
      of: "qwen",
      isSubagent: true,
      tokens: 0,
    });
    expect(agentNamed("qwen")?.resume({ id: `${id}.x`, path: "" })).toEqual([
      "qwen",
      "--resume",
      id,
    ]);
  });
});

it("a session of Qwen Code is archived with all files of its subagents", async () => {
  const id = "1137f3dd-1132-482f-b210-7f3e511d0b2d";
  const project = temporaryDirectory();
  const deep = join(project, "subagents", id, "deep");
  mkdirSync(join(project, "chats"), { recursive: true });
  mkdirSync(deep, { recursive: true });
  const path = join(project, "chats", `${id}.jsonl`);
  copyFileSync(fixturePath("qwen/qwen-0.24.4.jsonl"), path);
  writeFileSync(join(deep, "note.txt"), "kept");
  const { failures, removed } = await archiveSessions([path], {
    dataDir: temporaryDirectory(),
    force: true,
  });
  expect([failures, removed.length]).toEqual([[], 1]);
  expect(existsSync(join(deep, "note.txt"))).toBe(false);
});

describe("a chat of Qwen Code in one JSON file", () => {
  const document = "qwen/session-0.1.4.json";

  it("has prompts, answers and tokens, and is distinguished from one of Gemini CLI", async () => {
    const { header, path, tokens } = await readSession(document);
    expect(header.id).toBe("ac71bf68-9fa9-4ae3-82a5-1847e94c614d");
    expect(promptsOf(path)).toEqual(["what is in the shop?"]);
    expect(tokens).toEqual({ input: 1030, output: 23 });
    const places = [fixturePath(document), fixturePath("gemini/session-0.30.0.json")];
    const { sessions } = await findSessions(places, { catalog: "off" });
    const agents = sessions.map(({ transcript, usage }) => [transcript?.of, usage?.models]);
    expect(agents).toContainEqual(["qwen", ["fake-1"]]);
    expect(agents.map(([of]) => of)).toContain("gemini");
    const [own] = sessions.filter(({ transcript }) => transcript?.of === "qwen");
    expect(agentNamed("qwen")?.resume({ id: header.id, path: own?.path ?? "" })).toBeNull();
  });
});
